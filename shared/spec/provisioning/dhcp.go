package provisioning

import (
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
	"github.com/onprem-infra/onprem-infra/shared/subnet"
)

// checkRange checks what a DHCP server of ours answers, and reads the range.
func (d *Draft) checkRange(r *document.Report, around Around) {
	cidr := d.CIDR()
	if g := d.dhcp.gateway; g.OK && cidr.IsValid() {
		d.checkGateway(r, cidr)
	}
	if !d.dhcp.rng.Given {
		d.checkRoom(r, len(around.Hosts.Cards()))
		return
	}
	if !d.dhcp.rng.OK {
		return
	}
	at := d.dhcp.rng.At
	first, last, why := grammar.Range(d.dhcp.rng.Value)
	fits := ": write a larger network"
	if a, b := d.free(); a.IsValid() {
		fits = fmt.Sprintf(": write %s,%s", a, b)
	}
	switch {
	case why != "":
		r.Refuse(d.dhcp.rng, why)
		return
	case !cidr.IsValid():
		return
	case !cidr.Contains(first) || !cidr.Contains(last):
		r.Errorf(at, "%s to %s is not within the provisioning network %s%s", first, last, cidr,
			fits)
	case last.Less(first):
		r.Errorf(at, "begins behind its end: write %s,%s", last, first)
	case first == cidr.Addr() || last == subnet.Last(cidr) && last.Is4():
		r.Errorf(at, "contains an address that no host may have%s", fits)
	default:
		for _, taken := range d.reserved() {
			if first.Compare(taken.Addr) <= 0 && taken.Addr.Compare(last) <= 0 {
				r.Errorf(at, "contains %s, which is the address of %s%s", taken.Addr, taken.whose,
					fits)
				return
			}
		}
		d.dhcp.first, d.dhcp.last = first, last
		d.checkRoom(r, len(around.Hosts.Cards()))
	}
}

// taken is an address on the provisioning network that no host gets.
type taken struct {
	netip.Addr
	whose string
}

// reserved are the addresses that the range may not have.
func (d Draft) reserved() (all []taken) {
	bootstrap, cluster := subnet.Servers(d.CIDR())
	if d.bootstrapIP.OK {
		bootstrap = d.bootstrapIP.Value
	}
	if d.ip.OK {
		cluster = d.ip.Value
	}
	if d.two {
		all = append(all, taken{bootstrap, "the bootstrap machine"})
	}
	all = append(all, taken{cluster, "the cluster"})
	if d.dhcp.gateway.OK {
		all = append(all, taken{d.dhcp.gateway.Value, "the gateway"})
	}
	for _, s := range d.dhcp.dns {
		if s.OK {
			all = append(all, taken{s.Value, "a name server"})
		}
	}
	return all
}

// free is the range of the provisioning network that has none of the addresses that are taken.
func (d Draft) free() (first, last netip.Addr) {
	var without []netip.Addr
	for _, t := range d.reserved() {
		without = append(without, t.Addr)
	}
	return subnet.Free(d.CIDR(), without)
}

// checkRoom holds that a range has a place for each host, and more where others get addresses.
func (d Draft) checkRoom(r *document.Report, hosts int) {
	first, last, at := d.dhcp.first, d.dhcp.last, d.dhcp.rng.At
	if !d.CIDR().IsValid() {
		return
	}
	if !d.dhcp.rng.Given {
		first, last = d.free()
		at = d.cidr.At
		whole, end := subnet.Range(d.CIDR())
		if d.InstallConfig && (first != whole || last != end) {
			r.Errorf(d.dhcp.rng.At, "is missing, and an address is within the range that the "+
				"installer takes, %s,%s: write %s,%s", whole, end, first, last)
		}
	}
	want, what := hosts, "addresses"
	if d.dhcp.unknown.Value == Pool {
		want *= PoolFactor
	}
	if d.CIDR().Addr().Is6() {
		what = fmt.Sprintf("blocks of /%d", subnet.BlockBits)
	}
	if size := subnet.PlacesOf(first, last).Count; size < want {
		r.Errorf(at, "has %d %s for hosts, and %d are needed: write a larger range or network",
			size, what, want)
	}
}

// checkGateway holds a gateway to the network.
func (d Draft) checkGateway(r *document.Report, cidr netip.Prefix) {
	g := d.dhcp.gateway
	bootstrap, cluster := subnet.Servers(cidr)
	if d.ip.OK {
		cluster = d.ip.Value
	}
	if d.bootstrapIP.OK {
		bootstrap = d.bootstrapIP.Value
	}
	switch {
	case !cidr.Contains(g.Value) || g.Value == cidr.Addr() || g.Value == subnet.Last(cidr):
		r.Errorf(g.At, "%s is no host's address in the provisioning network %s: choose one in it",
			g.Value, cidr)
	case g.Value == cluster, g.Value == bootstrap && d.two:
		r.Errorf(g.At, "%s is the address of the bootstrap machine or the cluster: choose the "+
			"router's", g.Value)
	}
}

// static is the address of the bootstrap machine in the machine network.
type static struct{ ip, gateway, dns document.Scalar[netip.Addr] }

// check holds that all of it is there, or nothing.
func (s static) check(r *document.Report, around network.Addresses) {
	all := []document.Scalar[netip.Addr]{s.ip, s.gateway, s.dns}
	given := 0
	for _, a := range all {
		if a.Given {
			given++
		}
	}
	for _, a := range all {
		if !a.Given && given > 0 {
			r.Errorf(a.At, "is missing beside the other addresses of the bootstrap machine: write "+
				"address, gateway and DNS server, or none of them")
		}
	}
	for _, vip := range around.API.All {
		if s.ip.OK && s.ip.Value == vip.Addr {
			r.Errorf(s.ip.At, "%s is a virtual IP of the cluster, %s: choose another address",
				vip.Addr, vip.At.Where())
		}
	}
}
