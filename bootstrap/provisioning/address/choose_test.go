package address

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

func TestChoose(t *testing.T) {
	second := mac.MAC{0x52, 0x54, 0, 0, 0, 0x11}
	for _, tt := range []struct {
		name   string
		plan   func(*plan.Plan)
		host   func(*fakeHost)
		want   string // link and prefix
		reason string // of an error
	}{
		{name: "by MAC, whatever its case", want: "ens4 172.22.0.2/24"},
		{name: "no such card", host: func(h *fakeHost) { h.card("ens4").MAC = mac.MAC{2} },
			reason: "no link has the MAC 52:54:00:00:00:10; there are: ens3 (52:54:00:00:00:03), ens4"},
		{name: "one of two that are listed", plan: func(p *plan.Plan) {
			p.Provisioning.MACs = append([]mac.MAC{second}, p.Provisioning.MACs...)
		}, want: "ens4 172.22.0.2/24"},
		{name: "both are listed, one has carrier", plan: func(p *plan.Plan) {
			p.Provisioning.MACs = append(p.Provisioning.MACs, second)
		}, host: func(h *fakeHost) {
			h.card("ens4").Carrier = false
			h.cards = append(h.cards, addr.Ethernet{Name: "br0", MAC: second, Carrier: true})
		}, want: "br0 172.22.0.2/24"},
		{name: "both are listed, one has the address", plan: func(p *plan.Plan) {
			p.Provisioning.MACs = append(p.Provisioning.MACs, second)
		}, host: func(h *fakeHost) {
			h.card("ens4").Addresses = []netip.Prefix{four}
			h.card("ens4").Carrier = false
			h.cards = append(h.cards, addr.Ethernet{Name: "br0", MAC: second, Carrier: true})
		}, want: "ens4 172.22.0.2/24"},
		{name: "both are listed and have carrier", plan: func(p *plan.Plan) {
			p.Provisioning.MACs = append(p.Provisioning.MACs, second)
		}, host: func(h *fakeHost) {
			h.cards = append(h.cards, addr.Ethernet{Name: "br0", MAC: second, Carrier: true})
		}, reason: "ens4, br0 have MACs of the plan"},
		{name: "a VLAN has the same MAC", host: func(h *fakeHost) {
			h.cards = append(h.cards, addr.Ethernet{Name: "br0", MAC: theCard(), Carrier: true})
		}, reason: "several links have the MAC"},
		{name: "by name without a MAC", plan: func(p *plan.Plan) {
			p.Provisioning.MACs, p.Provisioning.Interface = nil, "ens4"
		}, want: "ens4 172.22.0.2/24"},
		{name: "neither", plan: func(p *plan.Plan) { p.Provisioning.MACs = nil },
			reason: "set the MAC of this machine's card"},
		{name: "the machine network", plan: onMachines("192.0.2.77", "192.0.2.0/24"),
			want: "ens3 192.0.2.77/24"},
		{name: "the smallest machine network that has it",
			plan: onMachines("192.0.2.77", "192.0.0.0/16", "192.0.2.64/26"), want: "ens3 192.0.2.77/26"},
		{name: "no machine network is known", plan: onMachines("192.0.2.77"), want: "ens3 192.0.2.77/24"},
		{name: "not on the machine network", plan: onMachines("198.51.100.7", "198.51.100.0/24"),
			host: func(h *fakeHost) {
				h.routes = []addr.Route{{LinkIndex: 2, Destination: netip.MustParsePrefix("0.0.0.0/0")}}
			},
			reason: "no link of this machine is in the network of 198.51.100.7"},
		{name: "no usable address at all", plan: onMachines("2001:db8::7"), reason: "choose an interface"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h, p := machine(), planOf(four)
			if tt.plan != nil {
				tt.plan(&p)
			}
			if tt.host != nil {
				tt.host(h)
			}
			r := New(Options{Plan: p})
			links, _ := h.Links()
			got, err := r.choose(Snapshot{Cards: h.cards, Links: links})
			if tt.reason != "" {
				if err == nil || !strings.Contains(err.Error(), tt.reason) {
					t.Errorf("%v, want %q", err, tt.reason)
				}
				return
			}
			if text := got.Name + " " + got.prefix.String(); err != nil || text != tt.want ||
				got.link.Index != h.index[got.Name] {
				t.Errorf("%s as link %d, %v; want %s", text, got.link.Index, err, tt.want)
			}
		})
	}
}

// onMachines is a plan without a provisioning network, with an address on a machine network.
func onMachines(own string, networks ...string) func(*plan.Plan) {
	return func(p *plan.Plan) {
		p.Provisioning.Network, p.Provisioning.MACs = provisioning.Disabled, nil
		p.Provisioning.CIDR = netip.Prefix{}
		p.Provisioning.BootstrapIP = netip.MustParseAddr(own)
		for _, n := range networks {
			p.MachineNetworks = append(p.MachineNetworks, netip.MustParsePrefix(n))
		}
	}
}

// A card that goes between the two readings of links is gone, and no panic.
func TestChoose_Gone(t *testing.T) {
	h := machine()
	r := New(Options{Plan: planOf(four)})
	if _, err := r.choose(Snapshot{Cards: h.cards}); err == nil || !strings.Contains(err.Error(), "has gone") {
		t.Errorf("%v", err)
	}
}

func FuzzDecodeClaim(f *testing.F) {
	f.Add(EncodeClaim(Claim{3, four}))
	f.Add(EncodeClaim(Claim{3, six}))
	f.Add([]byte(`{"index":0,"prefix":"172.22.0.2/24"}`))
	f.Add([]byte(`{"index":1,"prefix":""}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := DecodeClaim(text)
		if err != nil || len(text) == 0 {
			if c != (Claim{}) {
				t.Errorf("%q gives %+v beside %v", text, c, err)
			}
			return
		}
		if again, err := DecodeClaim(EncodeClaim(c)); err != nil || again != c {
			t.Errorf("%q is %+v, then %+v, %v", text, c, again, err)
		}
	})
}
