package plan

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/mdns"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestMDNS holds that only who asks for multicast DNS gets it, and that a cluster without has no word of it.
func TestMDNS(t *testing.T) {
	for _, tt := range []struct {
		name string
		said spec.MDNS
		on   bool
	}{
		{"nothing said", "", false}, {"disabled", spec.MDNSDisabled, false}, {"enabled", spec.MDNSEnabled, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := smallest()
			c.MDNS = tt.said
			p := mustCompile(t, c)
			if _, there := p.Ports[port.MonitorMDNS]; there != tt.on || (p.MDNS != "") != tt.on {
				t.Errorf("a port for it is there: %v; it is %q, want it %v", there, p.MDNS, tt.on)
			}
			for _, r := range role.All() {
				want := tt.on && (r == role.Master || r == role.Worker)
				if got := p.NodeRuns(r).MDNS; got != want {
					t.Errorf("on a %s it runs: %v, want %v", r, got, want)
				}
			}
		})
	}
	if p, ok := port.Lookup(port.MDNS); !ok || p.Number != mdns.Port {
		t.Errorf("the port of multicast DNS is %d, which the sockets take to be %d", p.Number, mdns.Port)
	}
}
