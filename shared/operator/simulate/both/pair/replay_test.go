package pair_test

import (
	"reflect"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/pair"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/both/schedule"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/racks"
)

// TestRun_Again holds that a random schedule which is printed runs again as it did, though clients are
// there then.
func TestRun_Again(t *testing.T) {
	for fabric := range racks.Elected() {
		for seed := range uint64(30) {
			c, s := schedule.Trial(seed, cluster(t, fabric))
			if c.Elections.Kind != vrrp.API {
				continue
			}
			first := pair.Run(c, s)
			again, err := both.ForSchedule(cluster(t, fabric), s)
			if err != nil {
				t.Fatal(err)
			}
			if r := pair.Run(again, s); !reflect.DeepEqual(r.Routed.Notes, first.Routed.Notes) || !reflect.DeepEqual(r.Elections.Holders, first.Elections.Holders) {
				t.Errorf("%s:\n%s\nand then\n%s", fabric, text(first), text(r))
			}
		}
	}
}
