package status

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/holder"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// maxStateAge is how old the state of this host's monitor may be, which writes it every two
// seconds.
const maxStateAge = 10 * time.Second

// routers are the other routers of the VIPs, as this host's monitor has written them, which needs
// no privilege. Without a monitor the adverts are received here.
func (i inspector) routers(ctx context.Context, vips []VIP, unseen *inspect.Unseen) clash.State {
	s, err := i.monitorState()
	unseen.Add("the adverts that this host's monitor has received", err)
	if s == nil {
		s = i.listen(ctx, vips, unseen)
	}
	for on, why := range s.Failed {
		unseen.Add("adverts of other hosts on "+on, errors.New(why))
	}
	return *s
}

// monitorState is what the monitor has written; nil if there is no monitor.
func (i inspector) monitorState() (*clash.State, error) {
	text, err := i.Files.Optional(supervised.RunDir, clash.StateFile)
	if err != nil || text == nil {
		return nil, err
	}
	s, err := clash.DecodeState(text)
	if err != nil {
		return nil, err
	}
	if age := i.Now().Sub(s.At); age.Abs() > maxStateAge {
		return nil, fmt.Errorf(
			"they were written %v ago: no monitor runs here", age.Round(time.Second))
	}
	return &s, nil
}

// listen receives adverts for the interval of one advert and half a second more.
func (i inspector) listen(ctx context.Context, vips []VIP, unseen *inspect.Unseen) *clash.State {
	var instances []clash.Instance
	for _, v := range vips {
		if v.Router.Near {
			instances = append(instances, v.Router)
		}
	}
	observer := clash.NewObserver()
	observer.Expect(instances)
	bound, cancel := context.WithTimeout(ctx, i.Plan.Timing.Model.Advert+500*time.Millisecond)
	defer cancel()
	inspect.Listen(bound, observer, instances, i.Adverts, unseen)
	s := observer.State(nil, nil, i.Now())
	return &s
}

// nodeNames are the nodes' names by their addresses, as this host's monitor knows them.
func (i inspector) nodeNames() map[netip.Addr]string {
	names := map[netip.Addr]string{}
	memory, _, _ := i.Files.Memory() // its error is reported with the gate
	for _, n := range memory.Nodes {
		for _, a := range n.InternalIPs {
			names[a] = n.Name
		}
	}
	return names
}

// addRouters adds the routers that announce a VIP, and those that may.
func (v *VIP) addRouters(s clash.State, names map[netip.Addr]string) {
	var members []netip.Addr
	for _, e := range s.Elections {
		if e.Instance == v.Instance {
			own := func(a netip.Addr) bool { return a == e.Own }
			members = slices.DeleteFunc(slices.Clone(e.Members), own)
		}
	}
	known := map[netip.Addr]Member{}
	for _, r := range s.Routers {
		if r.Instance != v.Instance {
			continue
		}
		age := int(s.At.Sub(r.Last) / time.Millisecond)
		known[r.Address] = Member{AgeMs: &age, Holds: r.Holds}
		if r.Holds {
			v.Adverts = append(v.Adverts, Advert{
				From: r.Address, MAC: r.MAC, Priority: r.Priority, Version: r.Version,
				IntervalMs: r.IntervalMs, AgeMs: age,
			})
		}
		if r.Holds && r.Priority != 0 {
			v.Holder.Announces(v.For, r.Address, r.MAC)
		}
		if !slices.Contains(members, r.Address) {
			members = append(members, r.Address)
		}
	}
	for _, a := range members {
		m := known[a]
		m.Address, m.Node = a, names[a]
		v.Peers = append(v.Peers, m)
	}
}

// holders asks the network for the holder of each VIP, of all at once. It returns them in the order
// of the VIPs, which it leaves as they are: the adverts' listener reads them meanwhile.
func (i inspector) holders(
	ctx context.Context, vips []VIP, unseen *inspect.Unseen,
) []holder.Holder {
	found, failed := make([]holder.Holder, len(vips)), make([]error, len(vips))
	inspect.Each(vips, func(n int, v VIP) {
		found[n], failed[n] = holder.Ask(ctx, i.Inspector, v.VIP)
	})
	for n, err := range failed {
		unseen.Add("the answer for "+vips[n].Address.String(), err)
	}
	return found
}
