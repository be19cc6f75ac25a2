package daemon

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

func TestMask(t *testing.T) {
	c := keepalived.Config{Instances: []keepalived.Instance{{AuthPass: "hunter2"}, {}}}
	if got := mask("auth_pass hunter2, hunter2", c); got != "auth_pass ********, ********" {
		t.Errorf("it is %q", got)
	}
}
