package lb

import (
	"maps"
	"reflect"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// TestDecide_Ports holds that port.Balances has exactly the ports on which HAProxy's configuration
// depends: diff announces by it that HAProxy reads its configuration again.
func TestDecide_Ports(t *testing.T) {
	config := func(ports map[string]uint16) haproxy.Config {
		w := newIronic(t)
		w.plan.Ports = ports
		w.restart()
		w.listed(pod("192.0.2.11", true, false))
		s, err := w.room.Observe(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		d, _ := w.room.Decide(s)
		return d.Config
	}
	ports := newIronic(t).plan.Ports
	before := config(ports)
	for name := range ports {
		other := maps.Clone(ports)
		other[name]++
		if differs := !reflect.DeepEqual(config(other), before); differs != port.Balances(name) {
			t.Errorf("HAProxy's configuration depends on the port %s: %v, and by port.Balances %v", name, differs, !differs)
		}
	}
}
