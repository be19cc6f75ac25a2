// Package provisioning inspects the link on which hosts are installed: the link itself, the servers
// that answer there, and the ports that the installation needs. It only asks and reads.
package provisioning

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/host/link/sockets"
	hostlldp "github.com/onprem-infra/onprem-infra/shared/host/lldp"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// Probes ask the kernel and the network. A test replaces them.
type Probes struct {
	Links     func() ([]addr.Ethernet, error)
	Servers   func(ctx context.Context, link string) (all []offer.Server, more bool, err error)
	WhoHas    func(link string, address netip.Addr) ([]string, error)
	Listeners func() ([]sockets.Listener, error)
	Programs  func(inode uint32) []string
	Index     func(link string) int
	Switch    func(ctx context.Context, link string) (*lldp.Neighbor, error)
	// Patience is how long to wait for the switch; 0 for as long as other facts take.
	Patience time.Duration
}

// HostProbes ask this host, and its network as a host that boots would.
func HostProbes() Probes {
	return Probes{
		Links: link.Ethernets, Servers: dhcp.Probe{}.Ask, WhoHas: reach.WhoHas,
		Listeners: sockets.Listeners, Programs: proc.OfSocket, Index: index,
		Switch: hostlldp.Wait,
	}
}

func index(link string) int {
	if on, err := net.InterfaceByName(link); err == nil {
		return on.Index
	}
	return 0
}

// Inspect completes facts that have what should be: the link by its name, and what is expected
// there. Questions to the network go out at the same time; it takes some seconds.
func (p Probes) Inspect(
	ctx context.Context, f facts.Provisioning, unseen *inspect.Unseen,
) facts.Provisioning {
	links, err := p.Links()
	if err != nil {
		unseen.Add("links", err)
		return f
	}
	chosen, err := addr.FindEthernet(links, f.Named, f.Own...)
	if err != nil {
		f.NoLink = err.Error()
		return f
	}
	f.Link = &chosen
	f.Others = slices.DeleteFunc(slices.Clone(links), func(e addr.Ethernet) bool {
		return e.Name == chosen.Name || e.Port
	})
	f.Ports = p.ports(chosen, unseen)
	if !chosen.Enabled || !chosen.Carrier {
		unseen.Add("the network of "+chosen.Name, errors.New("the link is down or has no carrier"))
		return f
	}
	port := p.port(ctx, chosen.Name)
	var all sync.WaitGroup
	all.Go(func() {
		var more bool
		var err error
		f.Servers, more, err = p.Servers(ctx, chosen.Name)
		f.Asked = err == nil
		unseen.Add("DHCP servers", err)
		if more {
			unseen.Add("all servers",
				errors.New("there are more than are listed: a host invents them"))
		}
	})
	f.Holders = make([]facts.AddressHolder, len(f.Own))
	for i, a := range f.Own {
		all.Go(func() {
			macs, err := p.WhoHas(chosen.Name, a)
			unseen.Add(fmt.Sprintf("which hosts have %s", a), err)
			f.Holders[i] = facts.AddressHolder{Address: a, MACs: slices.DeleteFunc(macs,
				func(mac string) bool { return mac == chosen.MAC.String() })}
		})
	}
	all.Wait()
	if f.Switch, err = port(); err == nil && f.Switch == nil && p.Patience > 0 {
		err = fmt.Errorf("no switch announced itself by LLDP to %s within %s: enable LLDP on its "+
			"port; if the link is a bridge or a bond, name one of its ports", chosen.Name,
			p.Patience)
	}
	unseen.Add("the switch port", err)
	return f
}

// port begins to wait for what the switch announces, and returns a function that ends it.
func (p Probes) port(ctx context.Context, link string) func() (*lldp.Neighbor, error) {
	var stop context.CancelFunc
	if p.Patience > 0 {
		ctx, stop = context.WithTimeout(ctx, p.Patience)
	} else {
		ctx, stop = context.WithCancel(ctx)
	}
	var announced *lldp.Neighbor
	var err error
	var waiting sync.WaitGroup
	waiting.Go(func() { announced, err = p.Switch(ctx, link) })
	return func() (*lldp.Neighbor, error) {
		if p.Patience == 0 {
			stop()
		}
		waiting.Wait()
		stop()
		return announced, err
	}
}

// needed are the ports of the installation's services.
var needed = []facts.HeldPort{
	{Number: 67, Network: "udp", Needs: "DHCP"},
	{Number: 69, Network: "udp", Needs: "TFTP"},
	{Number: 547, Network: "udp", Needs: "DHCPv6"},
	{Number: 6180, Network: "tcp", Needs: "images by HTTP"},
	{Number: 6183, Network: "tcp", Needs: "virtual media"},
	{Number: 6385, Network: "tcp", Needs: "Ironic"},
}

// ports are the needed ports at which a program receives on a link. A program that receives on
// another link alone blocks no service.
func (p Probes) ports(on addr.Ethernet, unseen *inspect.Unseen) (out []facts.HeldPort) {
	listeners, err := p.Listeners()
	if err != nil {
		unseen.Add("ports", err)
		return nil
	}
	index := p.Index(on.Name)
	receives := func(l sockets.Listener) bool {
		a := l.Local.Addr()
		here := slices.ContainsFunc(on.Addresses,
			func(p netip.Prefix) bool { return p.Addr() == a.WithZone("") })
		return (l.Device == 0 || l.Device == index) && (a.IsUnspecified() || here)
	}
	for _, port := range needed {
		for _, l := range listeners {
			if l.Local.Port() != port.Number || l.Network != port.Network || !receives(l) {
				continue
			}
			held := port
			held.Program = strings.Join(p.Programs(l.Inode), ", ")
			if l.Device != 0 {
				held.Link = on.Name
			}
			if !slices.Contains(out, held) {
				out = append(out, held)
			}
		}
	}
	return out
}
