package announced_test

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/announced"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestRack holds by what a host's rack is found: its file, the label of its Node, its own name, its
// addresses, the first one that it has. Of the bootstrap machine that is its file or its addresses.
func TestRack(t *testing.T) {
	c := fakehost.Routed()
	peers := []routing.Peer{{Address: netip.MustParseAddr("10.0.0.1")}}
	for _, name := range []string{"hall", "label", "m0"} {
		c.Routing.BGP.Racks = append(c.Routing.BGP.Racks, routing.Rack{Name: name, Peers: peers})
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	memory, bootstrap := nodestate.Path, "/etc/systemd/system/onprem-speaker.service"
	known := func(name string, controls bool) string {
		return string(nodestate.Encode(nodestate.Memory{Nodes: []member.Node{{ControlPlane: controls,
			Candidate: addr.Candidate{Name: name, InternalIPs: []netip.Addr{netip.MustParseAddr("192.0.2.11")}}}}}))
	}
	for _, tt := range []struct {
		name, host, address string
		files               map[string]string
		want                string // or the error
	}{
		{"its file", "m0", "192.0.2.11/24", map[string]string{spoken.RackFile: "hall\n", memory: `{"rack":"label"}`}, "hall"},
		{"the label of its Node", "m0", "192.0.2.11/24", map[string]string{memory: `{"rack":"label"}`}, "label"},
		{"the label alone", "m9", "203.0.113.1/24", map[string]string{memory: `{"rack":"label"}`}, "label"},
		{"its own name", "m0", "192.0.2.11/24", map[string]string{memory: `{}`}, "m0"},
		{"its own name, in other letters", "M0", "192.0.2.11/24", nil, "m0"},
		{"the name of its Node", "other", "192.0.2.11/24", map[string]string{memory: known("m0", true)}, "m0"},
		{"the name of its Node, a worker", "other", "192.0.2.11/24", map[string]string{memory: known("m0", false)}, "m0"},
		{"the name of its Node, and another one's of the host", "m0", "192.0.2.11/24", map[string]string{memory: known("n1", true)}, "192.0.2.0/24"},
		{"an address of its own", "m9", "192.0.2.11/24", nil, "192.0.2.0/24"},
		{"a label of no rack", "m0", "192.0.2.11/24", map[string]string{memory: `{"rack":"gone"}`}, `named "gone"`},
		{"none of them", "m9", "203.0.113.1/24", nil, "[203.0.113.1]"},
		{"the bootstrap machine, with the name of a host", "m0", "192.0.2.11/24", map[string]string{bootstrap: ""}, "192.0.2.0/24"},
		{"the bootstrap machine, by its file", "m0", "192.0.2.11/24", map[string]string{bootstrap: "", spoken.RackFile: "hall\n"}, "hall"},
		{"a memory that cannot be read", "m0", "192.0.2.11/24", map[string]string{memory: "{"}, "label"},
		{"no name", "", "192.0.2.11/24", nil, "no hostname"},
	} {
		host := fakehost.New(t, p, tt.files)
		host.Hostname = func() (string, error) {
			if tt.host == "" {
				return "", errors.New("no hostname")
			}
			return tt.host, nil
		}
		rack, err := announced.Rack(host, fakehost.Links(tt.address))
		if err == nil && rack.String() != tt.want || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %s, %v, want %s", tt.name, rack, err, tt.want)
		}
	}
}
