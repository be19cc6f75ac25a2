package provisioning

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/link/sockets"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

const (
	ownMAC   = "02:00:00:00:53:01"
	otherMAC = "02:00:00:00:53:02"
)

// healthy are FAKE probes of a host on whose link no other host is.
func healthy() Probes {
	return Probes{
		Links: func() ([]addr.Ethernet, error) {
			return []addr.Ethernet{{Name: "ens3", MAC: mac.MAC{2, 0, 0, 0, 0x53, 1}, MTU: 1500, Enabled: true, Carrier: true,
				Addresses: []netip.Prefix{netip.MustParsePrefix("172.22.0.1/24")}}}, nil
		},
		Servers:   func(context.Context, string) ([]offer.Server, bool, error) { return nil, false, nil },
		WhoHas:    func(string, netip.Addr) ([]string, error) { return nil, nil },
		Listeners: func() ([]sockets.Listener, error) { return nil, nil },
		Programs:  func(uint32) []string { return nil },
		Index:     func(string) int { return 3 },
		Switch:    func(context.Context, string) (*lldp.Neighbor, error) { return nil, nil },
	}
}

// TestInspect holds what is asked, and that what could not be asked is unseen.
func TestInspect(t *testing.T) {
	own := netip.MustParseAddr("172.22.0.1")
	refused := errors.New("refused")
	for _, tt := range []struct {
		name   string
		named  string
		change func(*Probes)
		good   func(facts.Provisioning) bool
		unseen string // what one begins with
	}{
		{"all is well", "ens3", func(*Probes) {}, func(f facts.Provisioning) bool {
			return f.Link != nil && f.Asked && len(f.Servers)+len(f.Ports) == 0 && len(f.Holders) == 1 && len(f.Holders[0].MACs) == 0
		}, ""},
		{"by MAC", strings.ToUpper(ownMAC), func(*Probes) {}, func(f facts.Provisioning) bool { return f.Link != nil && f.Link.Name == "ens3" }, ""},
		{"no link", "ens9", func(*Probes) {}, func(f facts.Provisioning) bool { return f.Link == nil && strings.Contains(f.NoLink, "ens3") }, ""},
		{"links are not read", "ens3", func(p *Probes) { p.Links = func() ([]addr.Ethernet, error) { return nil, refused } },
			func(f facts.Provisioning) bool { return f.Link == nil && f.NoLink == "" }, "links: refused"},
		{"no carrier: nothing is asked", "ens3", func(p *Probes) {
			p.Links = func() ([]addr.Ethernet, error) { return []addr.Ethernet{{Name: "ens3", Enabled: true}}, nil }
			p.Servers = nil
		}, func(f facts.Provisioning) bool { return f.Link != nil && !f.Asked }, "the network of ens3: "},
		{"no right to ask", "ens3", func(p *Probes) {
			p.Servers = func(context.Context, string) ([]offer.Server, bool, error) { return nil, false, refused }
		}, func(f facts.Provisioning) bool { return !f.Asked }, "DHCP servers: refused"},
		{"invented servers", "ens3", func(p *Probes) {
			p.Servers = func(context.Context, string) ([]offer.Server, bool, error) {
				return make([]offer.Server, 64), true, nil
			}
		}, func(f facts.Provisioning) bool { return len(f.Servers) == 64 }, "all servers: "},
		{"P-38: the address is taken", "ens3", func(p *Probes) {
			p.WhoHas = func(_ string, a netip.Addr) ([]string, error) { return []string{ownMAC, otherMAC}, nil }
		}, func(f facts.Provisioning) bool { return slices.Equal(f.Holders[0].MACs, []string{otherMAC}) }, ""},
		{"which hosts have the address is not seen", "ens3", func(p *Probes) {
			p.WhoHas = func(string, netip.Addr) ([]string, error) { return nil, refused }
		}, func(f facts.Provisioning) bool { return true }, "which hosts have 172.22.0.1: refused"},
		{"ports are not read", "ens3", func(p *Probes) { p.Listeners = func() ([]sockets.Listener, error) { return nil, refused } },
			func(f facts.Provisioning) bool { return f.Asked }, "ports: refused"},
	} {
		p := healthy()
		tt.change(&p)
		var unseen inspect.Unseen
		f := p.Inspect(t.Context(), facts.Provisioning{Named: tt.named, Own: []netip.Addr{own}}, &unseen)
		list := unseen.List()
		if !tt.good(f) || tt.unseen == "" && len(list) > 0 || tt.unseen != "" && (len(list) != 1 || !strings.HasPrefix(list[0], tt.unseen)) {
			t.Errorf("%s: %+v, not seen: %q", tt.name, f, list)
		}
	}
}

// TestInspect_Ports holds which sockets are in a service's way.
// TestInspect_Switch holds that a switch is waited for as long as the other facts take, and longer if a
// person asks for it.
func TestInspect_Switch(t *testing.T) {
	leaf := &lldp.Neighbor{Chassis: "leaf-1", Port: "p7"}
	for _, tt := range []struct {
		name     string
		after    time.Duration // that the switch announces itself
		patience time.Duration
		want     *lldp.Neighbor
		unseen   string
	}{
		{"meanwhile", 0, 0, leaf, ""},
		{"not meanwhile", time.Minute, 0, nil, ""},
		{"waited for", 300 * time.Millisecond, 10 * time.Second, leaf, ""},
		{"waited for in vain", time.Minute, 300 * time.Millisecond, nil, "the switch port: no switch announced itself by LLDP to ens3 within 300ms"},
	} {
		p := healthy()
		p.Servers = func(context.Context, string) ([]offer.Server, bool, error) {
			time.Sleep(100 * time.Millisecond)
			return nil, false, nil
		}
		p.Patience = tt.patience
		p.Switch = func(ctx context.Context, link string) (*lldp.Neighbor, error) {
			select {
			case <-ctx.Done():
				return nil, nil
			case <-time.After(tt.after):
				return leaf, nil
			}
		}
		var unseen inspect.Unseen
		begin := time.Now()
		f := p.Inspect(t.Context(), facts.Provisioning{Named: "ens3"}, &unseen)
		if f.Switch != tt.want || !strings.HasPrefix(strings.Join(unseen.List(), ""), tt.unseen) || (tt.unseen == "") != (len(unseen.List()) == 0) {
			t.Errorf("%s: %v, not seen: %q", tt.name, f.Switch, unseen.List())
		}
		if took := time.Since(begin); took > 5*time.Second {
			t.Errorf("%s: it took %v", tt.name, took)
		}
	}
}

func TestInspect_Ports(t *testing.T) {
	for _, tt := range []struct {
		network, local string
		device         int
		want           string
	}{
		{"udp", "0.0.0.0:67", 0, "DHCP"}, {"udp", "0.0.0.0:67", 3, "DHCP on ens3"},
		{"udp", "0.0.0.0:67", 4, ""}, {"udp", "172.22.0.1:69", 0, "TFTP"},
		{"udp", "127.0.0.1:69", 0, ""}, {"udp", "[::]:547", 0, "DHCPv6"},
		{"tcp", "[::]:6180", 0, "images by HTTP"}, {"tcp", "0.0.0.0:6385", 0, "Ironic"},
		{"tcp", "172.22.0.1:6183", 0, "virtual media"},
		{"tcp", "0.0.0.0:67", 0, ""}, {"udp", "0.0.0.0:68", 0, ""},
	} {
		p := healthy()
		l := sockets.Listener{Network: tt.network, Local: netip.MustParseAddrPort(tt.local), Device: tt.device, Inode: 7}
		p.Listeners = func() ([]sockets.Listener, error) { return []sockets.Listener{l, l}, nil }
		p.Programs = func(inode uint32) []string { return []string{"dnsmasq (process 12)"}[:inode/7] }
		var unseen inspect.Unseen
		var got string
		for _, held := range p.Inspect(t.Context(), facts.Provisioning{Named: "ens3"}, &unseen).Ports {
			got += held.Needs
			if held.Link != "" {
				got += " on " + held.Link
			}
			if held.Program != "dnsmasq (process 12)" {
				t.Errorf("%+v", held)
			}
		}
		if got != tt.want {
			t.Errorf("%s %s of link %d: %q, want %q", tt.network, tt.local, tt.device, got, tt.want)
		}
	}
}

// TestHostProbes holds on a real link that another host's address is found taken, and a program
// that has DHCP's port named.
func TestHostProbes(t *testing.T) {
	l := lab.New(t)
	taken := netip.MustParseAddr("172.22.0.5")
	self, err := l.Add("self", netip.MustParsePrefix("172.22.0.1/24"))
	if err == nil {
		_, err = l.Add("other", netip.PrefixFrom(taken, 24))
	}
	if err != nil {
		t.Fatal(err)
	}
	port, err := self.ListenPacket(":67")
	if err != nil {
		t.Fatal(err)
	}
	defer port.Close()
	p := HostProbes()
	p.Servers = healthy().Servers // they have tests of their own
	var unseen inspect.Unseen
	var links []addr.Ethernet
	f := facts.Provisioning{Own: []netip.Addr{taken}}
	// the network's questions are asked by goroutines, which have this process's network
	ask := p.WhoHas
	p.WhoHas = func(on string, a netip.Addr) (macs []string, err error) {
		err = self.Do(func() (err error) { macs, err = ask(on, a); return err })
		return macs, err
	}
	if err := self.Do(func() (err error) {
		if links, err = p.Links(); err == nil {
			f.Named = links[0].MAC.String()
			f = p.Inspect(context.Background(), f, &unseen)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if len(f.Holders) != 1 || len(f.Holders[0].MACs) != 1 || f.Holders[0].MACs[0] == f.Link.MAC.String() {
		t.Errorf("%s is held by %+v", taken, f.Holders)
	}
	if len(f.Ports) != 1 || f.Ports[0].Number != 67 || !strings.HasPrefix(f.Ports[0].Program, "provisioning.te") {
		t.Errorf("ports %+v", f.Ports)
	}
	if list := unseen.List(); len(list) > 0 {
		t.Errorf("not seen: %q", list)
	}
}
