package cluster

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// TestSpeakerPod holds the pod of a node whose VIPs its routers alone know, and of one that holds some
// by VRRP beside that.
func TestSpeakerPod(t *testing.T) {
	for name, change := range map[string]func(*spec.Cluster){"routed": routed, "both": both} {
		t.Run(name, func(t *testing.T) { golden.Check(t, pod.Render(speakerPod(compiled(t, change), role.Worker))) })
	}
}
