package frr

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// The names of our lists, maps and profile.
const (
	outMap  = "onprem-out"
	inMap   = "onprem-in"
	noneMap = "onprem-none"
	ownPath = "onprem-own"
	profile = "onprem"
)

// ownInPath accepts paths that begin at a host of the host's own number, however often they have
// it: grades repeat it more often than a number here allows, 10 at most. Without it BGP refuses
// what other hosts announce, by which a host learns that a router has another way to a VIP.
const ownInPath = "origin"

// Sections is the configuration of one daemon. A section that others name comes before them.
//
// The text relies on these facts about FRR 8.4:
//   - zebra would put routes to VIPs that other hosts announce into the kernel: the map of its
//     protocol refuses all. bgpd's own maps cannot do that without losing what is learned by them.
//   - Without "no bgp network import-check" a VIP is announced while the kernel has its address:
//     bgpd then depends on zebra for that, and goes on announcing if zebra has died.
//   - A session without a policy exchanges nothing (RFC 8212): each has a map in both directions.
//   - A route from one router would be announced to the others, and lead them through this host.
//     So only a route with an empty AS path is announced: the host's own.
//   - With graceful restart a router keeps routes of a host that has lost its power, for two
//     minutes by default.
//   - "ttl-security" alone has FRR take a router that is next to it for one further away, with
//     which BFD uses another port (RFC 5883) than the router does: "no ebgp-multihop" ends that,
//     and leaves the security as it is.
//   - "bfd profile" alone is read back as two lines, of which one is then missing here.
//   - FRR does not write what is its default, so no line has one: three missing packets, 300 ms
//     between two of them.
//
// A configuration without an identifier of the host is that of daemons which have just started.
func (c Config) Sections(d Daemon) []Section {
	if !c.Router.IsValid() {
		return nil
	}
	switch d {
	case Zebra:
		return c.zebra()
	case BFD:
		return c.bfd()
	}
	sections := c.lists()
	sections = append(sections, c.maps()...)
	return append(sections, c.router()...)
}

func (c Config) zebra() []Section {
	refuse := mapSection(noneMap, "deny", 10)
	top := Section{Name: "protocol", Lines: []Line{line("ip protocol bgp", "route-map", noneMap),
		line("ipv6 protocol bgp", "route-map", noneMap)}}
	for i, family := range []string{"ip", "ipv6"} {
		top.Lines[i].No = fmt.Sprintf("no %s protocol bgp", family)
	}
	return []Section{refuse, top}
}

func (c Config) bfd() []Section {
	if c.Timing.BFD == (bgp.BFD{}) {
		return nil
	}
	s := Section{Name: "profile", Enter: []string{"bfd", "profile " + profile},
		Gone: "no bfd"}
	unless := func(key string, value, standard int64) {
		if value != standard { // to remove the line is to write the default, which is not read back
			s.Lines = append(s.Lines, Line{Text: fmt.Sprintf("%s %d", key, value), Key: key,
				No: fmt.Sprintf("%s %d", key, standard)})
		}
	}
	interval := c.Timing.BFD.Interval.Milliseconds()
	unless("detect-multiplier", int64(c.Timing.BFD.Multiplier), 3)
	unless("transmit-interval", interval, 300)
	unless("receive-interval", interval, 300)
	return []Section{s}
}

// list is the name of the prefix list that has one VIP, and FRR's keyword of its family.
func list(i int, vip netip.Addr) (name, family string) {
	if vip.Is6() {
		return fmt.Sprintf("onprem-vip-%d", i), "ipv6"
	}
	return fmt.Sprintf("onprem-vip-%d", i), "ip"
}

// prefix is a VIP as a route.
func prefix(vip netip.Addr) netip.Prefix { return netip.PrefixFrom(vip, vip.BitLen()) }

func (c Config) lists() []Section {
	top := Section{Name: "lists"}
	for i, vip := range c.VIPs {
		name, family := list(i, vip)
		top.Lines = append(top.Lines, line(fmt.Sprintf("%s prefix-list %s seq 5", family, name),
			"permit", prefix(vip)))
	}
	top.Lines = append(top.Lines, line("bgp as-path access-list "+ownPath+" seq 5", "permit", "^$"))
	return []Section{top}
}

func mapSection(name, verb string, seq int) Section {
	enter := fmt.Sprintf("route-map %s %s %d", name, verb, seq)
	return Section{Name: enter, Enter: []string{enter}, Gone: "no " + enter}
}

// maps are the route maps of what is announced and what is accepted: the VIPs, nothing else.
func (c Config) maps() (all []Section) {
	for i, vip := range c.VIPs {
		name, family := list(i, vip)
		match := line(fmt.Sprintf("match %s address prefix-list", family), name)
		match.No = "no " + match.Text
		out, in := mapSection(outMap, "permit", 10*(i+1)), mapSection(inMap, "permit", 10*(i+1))
		out.Lines = append(out.Lines, match, line("match as-path", ownPath))
		if n := c.Announced[vip]; n > 0 {
			own := strings.TrimSpace(strings.Repeat(fmt.Sprintf("%d ", c.ASN), int(n)))
			prepend := line("set as-path prepend", own)
			prepend.No = "no set as-path prepend"
			out.Lines = append(out.Lines, prepend)
		}
		mark := line("set large-community", c.mark(), "additive")
		mark.No = "no set large-community"
		out.Lines = append(out.Lines, mark)
		if len(c.Communities) > 0 {
			set := line("set community", strings.Join(c.Communities, " "), "additive")
			set.No = "no set community"
			out.Lines = append(out.Lines, set)
		}
		in.Lines = append(in.Lines, match)
		all = append(all, out, in)
	}
	slices.SortStableFunc(all, func(a, b Section) int {
		return strings.Compare(strings.Fields(b.Enter[0])[1], strings.Fields(a.Enter[0])[1])
	})
	return all
}

// mark is by which a host knows its own routes when a router passes them back (RFC 8092).
func (c Config) mark() string {
	id := c.Router.As4()
	return fmt.Sprintf("%d:1:%d", c.ASN, binary.BigEndian.Uint32(id[:]))
}

// router is the process with its sessions, and one section for each family that has a VIP.
func (c Config) router() []Section {
	enter := fmt.Sprintf("router bgp %d", c.ASN)
	all := []Section{{Name: enter, Enter: []string{enter}, Gone: "no " + enter}}
	top := &all[0]
	top.Lines = []Line{line("bgp router-id", c.Router), line("bgp log-neighbor-changes"),
		{Text: "no bgp default ipv4-unicast", Key: "bgp default", No: "bgp default ipv4-unicast"},
		line("bgp graceful-restart-disable"),
		{Text: "no bgp network import-check", Key: "bgp network import-check",
			No: "bgp network import-check"}}
	for _, p := range c.Peers {
		top.Lines = append(top.Lines, c.session(p)...)
	}
	for _, six := range []bool{false, true} {
		vips := slices.DeleteFunc(slices.Clone(c.VIPs), func(v netip.Addr) bool {
			return v.Is6() != six
		})
		if len(vips) == 0 {
			continue
		}
		all = append(all, c.family(enter, six, vips))
	}
	return all
}

// session are the lines of a peer; the first one makes it, and undone takes all others with it.
func (c Config) session(p Peer) (lines []Line) {
	name := "neighbor " + p.Name()
	as := "external"
	if p.ASN != 0 {
		as = fmt.Sprint(p.ASN)
	}
	made := line(name+" remote-as", as)
	made.No = "no " + name
	if p.Interface != "" { // another number takes its place, while "no" ends the session
		made = line(name+" interface remote-as", as)
	}
	lines = append(lines, made)
	if c.Timing.BFD != (bgp.BFD{}) {
		lines = append(lines, line(name+" bfd"), line(name+" bfd profile", profile))
	}
	if !p.Password.Empty() {
		lines = append(lines, Line{Text: name + " password", Key: name + " password",
			Secret: p.Password, No: "no " + name + " password"})
	}
	lines = append(lines, p.distance()...)
	if p.Source.IsValid() {
		lines = append(lines, line(name+" update-source", p.Source))
	}
	return append(lines, line(name+" timers", int(c.Timing.Keepalive.Seconds()),
		int(c.Timing.Hold.Seconds())), line(name+" timers connect", int(bgp.Connect.Seconds())))
}

// distance is the line of a router's distance, of which a session has one at most. Without TTL
// security there is none for a router that is next to the host.
func (p Peer) distance() []Line {
	name, hops := "neighbor "+p.Name(), max(p.Hops, 1)
	l := Line{Key: name + " distance"}
	switch {
	case p.TTLSecurity:
		l.Text = fmt.Sprintf("%s ttl-security hops %d", name, hops)
		if hops == 1 {
			l.Then = []string{fmt.Sprintf("no %s ebgp-multihop", name)}
		}
	case hops > 1:
		l.Text = fmt.Sprintf("%s ebgp-multihop %d", name, hops)
	default:
		return nil
	}
	return []Line{l}
}

// family is the section of an address family: the announced VIPs, and the sessions that carry it.
func (c Config) family(router string, six bool, vips []netip.Addr) Section {
	word := "ipv4"
	if six {
		word = "ipv6"
	}
	s := Section{Name: router + " " + word,
		Enter: []string{router, fmt.Sprintf("address-family %s unicast", word)}}
	for _, vip := range vips {
		if _, announced := c.Announced[vip]; announced {
			s.Lines = append(s.Lines, line(fmt.Sprintf("network %s", prefix(vip))))
		}
	}
	for _, p := range c.Peers {
		if name := "neighbor " + p.Name(); p.Carries(six) {
			s.Lines = append(s.Lines, line(name+" activate"),
				line(name+" allowas-in", ownInPath),
				line(fmt.Sprintf("%s route-map %s in", name, inMap)),
				line(fmt.Sprintf("%s route-map %s out", name, outMap)))
		}
	}
	return s
}
