package routed

import (
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// The ports (RFC 4271; RFC 5881, 4; RFC 5883, 5).
const (
	portBGP      = 179
	portBFD      = 3784
	portBFDAfar  = 4784
	programOfBGP = "give one of the two another source address (source in bgp.racks) or other " +
		"routers: a router has one session with an address, and the first one stays"
	programOfBFD = "let one of the two be without BFD: both may open the port, and the program " +
		"that did so last gets all packets"
)

// Ports finds other programs at the ports of BFD, and at that of BGP or with a session of the
// routers beside sessions that do not come up.
func Ports(f facts.Facts) (out facts.Faults) {
	r := f.Routed
	if r == nil {
		return nil
	}
	taken := bfdTaken(f)
	if taken != "" {
		out.Add("the port of BFD", "another program receives the packets of this host's sessions: "+
			taken+". They are without BFD, so that routers find out late that this host is gone",
			"have the other program be without BFD, or on other addresses, and then have the "+
				"speaker start anew (the pod speaker; on a bootstrap machine systemctl restart "+
				"onprem-speaker): it does not use BFD before")
	}
	for _, s := range r.Others {
		at, has, do := fmt.Sprintf("port %d (%s)", s.Port, strings.ToUpper(s.Network)),
			"another program has it: ", programOfBFD
		down := func(o announcing.Router) bool {
			return !o.Up && (!s.Router.IsValid() || o.Router == s.Router.String())
		}
		if s.Router.IsValid() {
			at = subject(s.Router.String())
			has = fmt.Sprintf("another program has a session with it from %s: ", s.From)
		}
		switch {
		case s.Port == portBGP && f.Live && !slices.ContainsFunc(current(f), down):
			continue // it has sessions of its own
		case s.Port == portBGP:
			do = programOfBGP
		case s.Port != portBFD && s.Port != portBFDAfar || r.NoBFD,
			taken != "":
			continue
		}
		out.Add(at, has+owners(s.Owners), do)
	}
	return out
}

// bfdTaken is what else receives BFD's packets by the report of a speaker that runs; empty for
// nothing.
func bfdTaken(f facts.Facts) string {
	if f.Routed == nil || f.Routed.Report == nil || !f.Routed.Report.Speaker.Current() {
		return ""
	}
	return f.Routed.Report.Speaker.BFDTaken
}

// products are programs that speak BGP, by their names.
var products = []struct{ program, product string }{
	{"bird", "BIRD, as Calico has it"}, {"calico", "Calico"}, {"cilium", "Cilium"},
	{"bgpd", "another FRR, as MetalLB, frr-k8s or OVN-Kubernetes have it"},
	{"bfdd", "another FRR, as MetalLB, frr-k8s or OVN-Kubernetes have it"},
	{"speaker", "MetalLB"}, {"kube-router", "kube-router"}, {"kube-vip", "kube-vip"},
	{"gobgpd", "GoBGP"}, {"exabgp", "ExaBGP"},
}

func owners(all []string) string {
	if len(all) == 0 {
		return "which one cannot be seen: run this as root"
	}
	var out []string
	for _, one := range all {
		for _, p := range products {
			if strings.HasPrefix(one, p.program) {
				one += ", " + p.product
				break
			}
		}
		out = append(out, one)
	}
	return strings.Join(out, "; ")
}

// TTL finds packets that the kernel drops because they come from too far away.
func TTL(f facts.Facts) (out facts.Faults) {
	if f.Routed != nil && f.Routed.Drops.TTL > 0 {
		out.Add("the TTL of packets of routers", fmt.Sprintf("the kernel drops packets from "+
			"further away than is allowed: %d in two seconds (TCPMinTTLDrop)",
			f.Routed.Drops.TTL), "ttlSecurity needs the same on the router (ttl-security), and "+
			"hops as many as there are")
	}
	return out
}

// MD5 finds packets whose signature is another one than the password's.
func MD5(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil {
		return nil
	}
	d := f.Routed.Drops
	add := func(n uint64, seen, do string) {
		if n > 0 {
			out.Add("the passwords of routers (TCP MD5)", fmt.Sprintf("%s: %d packets in two "+
				"seconds", seen, n), do)
		}
	}
	add(d.Unsigned, "a router does not sign its packets, and this host has a password for it "+
		"(TCPMD5NotFound)", "give the router the password, or take it out of the file")
	add(d.Signed, "a router signs its packets, and this host has no password for it "+
		"(TCPMD5Unexpected)", "add the router to the file of --bgp-passwords")
	add(d.Differing, "a router has another password than this host (TCPMD5Failure)",
		"compare the two")
	return out
}

// InSubnet finds a VIP in a network of this host: others there ask for it by ARP, which no host
// answers, or an answer hides that no router has it.
func InSubnet(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil || f.Plan.ByVRRP() {
		return nil
	}
	for _, v := range slices.Concat(f.Plan.VIPs.API, f.Plan.VIPs.Ingress, f.Plan.VIPs.DNS) {
		for _, l := range f.Host.Links.Links {
			for _, a := range l.Addresses {
				n := a.Prefix
				if n.Addr() != v && n.Bits() < n.Addr().BitLen() && n.Contains(v) {
					out.Add(fmt.Sprintf("the VIP %s", v), fmt.Sprintf("it is in the network %s of "+
						"%s: hosts there ask for it on the link, and not their router", n.Masked(),
						l.Name), "choose a VIP that is in no network of hosts, or write "+
						"vipManagement: both")
				}
			}
		}
	}
	return out
}

// strict is the value of rp_filter that drops packets whose answer would leave by another link.
const strict = 1

// ReversePath finds strict filters on several uplinks: packets to a VIP come by any of them.
func ReversePath(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil || len(f.Routed.Uplinks) < 2 {
		return nil
	}
	for _, u := range f.Routed.Uplinks {
		if u.Filter == strict {
			out.Add("the filter of sources on "+u.Link, "it is strict (rp_filter=1), and this "+
				"host has routers on several links: packets that come by another one than their "+
				"answers leave by are dropped", fmt.Sprintf("make it loose: sysctl -w "+
				"net.ipv4.conf.%s.rp_filter=2, and a file in /etc/sysctl.d", u.Link))
		}
	}
	return out
}

// LinkDown finds uplinks over which the kernel sends although they are down: where routes to both
// routers are of one metric, answers of some connections go to the one that is gone.
func LinkDown(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil || len(f.Routed.Uplinks) < 2 {
		return nil
	}
	for _, u := range f.Routed.Uplinks {
		if u.UsedDown {
			out.Add("routes over "+u.Link, "they are used also while the link is down "+
				"(ignore_routes_with_linkdown=0), and this host has routers on several links: it "+
				"goes on sending to the one that is gone", fmt.Sprintf("leave them out: sysctl -w "+
				"net.ipv4.conf.%s.ignore_routes_with_linkdown=1, and a file in /etc/sysctl.d; it "+
				"counts from when a link goes down", u.Link))
		}
	}
	return out
}

// Source finds a VIP that is the host's own source or identity: with it the node goes where the VIP
// goes.
func Source(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil {
		return nil
	}
	for _, s := range f.Routed.Sources {
		out.Add(fmt.Sprintf("the VIP %s", s.VIP), "it is the source of the route "+s.Route+", so "+
			"that answers come to whichever host the routers choose",
			"give the route another source, or none (ip route change … src ADDRESS)")
	}
	for _, v := range f.Plan.VIPs.All() {
		if f.Live && slices.Contains(f.Host.Agreed, v) {
			out.Add(fmt.Sprintf("the VIP %s", v), "the node is known by it",
				"run `onprem-infra node-ip show --explain`, correct its hint, and boot")
		}
	}
	return out
}

// Passwords finds a file of passwords that others can read, that is wrong, or names no router.
func Passwords(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil || f.Routed.Passwords == nil {
		return nil
	}
	p := f.Routed.Passwords
	subject := "the file " + p.Path
	if p.Mode.Perm()&0o077 != 0 {
		out.Add(subject, fmt.Sprintf("its mode is %04o, so that others than root read passwords "+
			"of routers", p.Mode.Perm()&fs.ModePerm), "chmod 0600 "+p.Path)
	}
	if p.Fault != "" {
		out.Add(subject, p.Fault, "correct it: routers may be without their passwords meanwhile")
	}
	for _, name := range p.Unknown {
		out.Add(subject, fmt.Sprintf("it has a password for %q, which is no router of bgp.racks",
			name), "write the router's address or interface as bgp.racks has it")
	}
	return out
}

// MTU finds routers that packets which fill the link do not reach.
func MTU(f facts.Facts) (out facts.Faults) {
	if f.Routed == nil {
		return nil
	}
	for _, p := range f.Routed.Paths {
		if p.Full > 0 && !p.Whole {
			out.Add("the way to "+subject(p.Router), fmt.Sprintf("packets of %d bytes, which %s "+
				"sends, are not answered, and small ones are", p.Full, p.Link),
				"give the link, the router and all between the same MTU")
		}
	}
	return out
}
