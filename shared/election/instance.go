package election

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TrackFile is where keepalived reads whether a check passes; fault: the check has no weight.
func TrackFile(check vrrp.CheckName, fault bool) string {
	dir := supervised.TrackDir
	if fault {
		dir = supervised.FaultDir
	}
	return supervised.RunDir + "/" + dir + "/" + string(check)
}

// Config is a configuration of keepalived without instances. header is its line of provenance.
func Config(header string) keepalived.Config {
	return keepalived.Config{
		Header:     header,
		NotifyFIFO: supervised.RunDir + "/" + supervised.NotifyFIFO,
		Leave:      supervised.RunDir + "/" + supervised.TrackDir + "/" + supervised.LeaveTrack,
	}
}

// Instance is the local host's VRRP instance of a VIP at a base priority, still without peers.
func (e Election) Instance(v VIP, on addr.Choice, base vrrp.Priority) (keepalived.Instance, error) {
	link, err := keepalived.ParseInterface(on.Link)
	if err != nil {
		return keepalived.Instance{}, err
	}
	inst := keepalived.Instance{
		Name: v.Instance, Interface: link, ID: e.ID, Version: v.Version, Priority: base,
		Advert: e.Timing.Advert, Refresh: e.Timing.Refresh, AuthPass: v.Password, VIP: v.Address,
	}
	if e.Unicast {
		inst.Source = on.Address
	}
	return inst, nil
}

// SetDevice puts a VIP of an instance on a device of its own.
func (v VIP) SetDevice(inst *keepalived.Instance, name string) (err error) {
	inst.Device, err = keepalived.ParseInterface(name)
	inst.Bits = v.Bits
	return err
}

// SetPeers gives a unicast instance its peers, without the local host, and closes it to other
// routers if the election is closed. Without a peer the instance advertises to the multicast
// group, and is open to any router.
func (e Election) SetPeers(inst *keepalived.Instance, peers []netip.Addr) {
	inst.Peers = slices.DeleteFunc(slices.SortedFunc(slices.Values(peers), netip.Addr.Compare),
		func(a netip.Addr) bool { return a == inst.Source })
	inst.Peers = slices.Compact(inst.Peers)
	if len(inst.Peers) == 0 {
		inst.Peers = []netip.Addr{keepalived.Group(inst.VIP)}
		return
	}
	inst.Known, inst.Near = e.Closed, e.Closed && vrrp.HopLimited(inst.VIP, inst.Advert)
}

// ClashInstance is the virtual router of a VIP for a host that listens on the chosen interface for
// others with its ID. members may hold the VIP; nil while they are not known.
func (e Election) ClashInstance(v VIP, on addr.Choice, members []netip.Addr) clash.Instance {
	return clash.Instance{
		Name: v.Instance, Kind: e.Kind, Link: on.Link, ID: e.ID, Version: v.Version,
		Interval: e.Timing.Advert, VIP: v.Address, Unicast: e.Unicast,
		Near: on.OnLink, Own: on.Address, Members: members,
	}
}
