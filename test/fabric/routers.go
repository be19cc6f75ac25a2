package fabric

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
)

// commands are lines of a configuration; sections begin with the words that FRR gives them.
func commands(lines []string) (all []frr.Command) {
	all = append(all, frr.Command{Text: "configure terminal", Section: true})
	for _, l := range lines {
		all = append(all, frr.Command{Text: l, Section: strings.HasPrefix(l, "router bgp") || strings.HasPrefix(l, "address-family")})
	}
	return append(all, frr.Command{Text: "end"})
}

func (f *Fabric) profile() []frr.Command {
	if f.timing.BFD == (bgp.BFD{}) {
		return nil
	}
	ms := f.timing.BFD.Interval.Milliseconds()
	return commands([]string{"bfd", "profile fabric", fmt.Sprintf("detect-multiplier %d", f.timing.BFD.Multiplier),
		fmt.Sprintf("receive-interval %d", ms), fmt.Sprintf("transmit-interval %d", ms), "exit", "exit"})
}

// session are the lines of a neighbour of a router, or of a group of them.
func (f *Fabric) session(name string) (lines []string) {
	if f.timing.BFD != (bgp.BFD{}) {
		lines = append(lines, "neighbor "+name+" bfd", "neighbor "+name+" bfd profile fabric")
	}
	return append(lines, fmt.Sprintf("neighbor %s timers %d %d", name, int(f.timing.Keepalive.Seconds()), int(f.timing.Hold.Seconds())))
}

// host are the lines of a leaf's sessions with hosts.
func (f *Fabric) host(name string) []string {
	lines := f.session(name)
	if f.password != "" {
		lines = append(lines, "neighbor "+name+" password "+f.password)
	}
	if f.security {
		lines = append(lines, "neighbor "+name+" ttl-security hops 1")
	}
	return lines
}

func start(asn bgp.ASN, id string) []string {
	return []string{fmt.Sprintf("router bgp %d", asn), "bgp router-id " + id, "no bgp default ipv4-unicast", "no bgp ebgp-requires-policy",
		"bgp bestpath as-path multipath-relax"}
}

func (f *Fabric) spine() []string {
	lines := start(SpineASN, "10.0.0.1")
	var peers [2][]string
	for i := range f.Leaves {
		for family, name := range []string{fmt.Sprintf("10.0.%d.2", i+1), fmt.Sprintf("2001:db8:0:%d::2", i+1)} {
			lines = append(lines, fmt.Sprintf("neighbor %s remote-as %d", name, asn(i)), "neighbor "+name+" timers connect 1")
			lines = append(lines, f.session(name)...)
			peers[family] = append(peers[family], "neighbor "+name+" activate")
		}
	}
	for family, network := range []string{"10.0.0.0/24", "2001:db8::/64"} {
		lines = append(lines, "address-family "+[]string{"ipv4", "ipv6"}[family]+" unicast", "network "+network, fmt.Sprintf("maximum-paths %d", f.paths))
		lines = append(lines, peers[family]...)
		lines = append(lines, "exit-address-family")
	}
	return append(lines, "exit")
}

// leaf takes sessions from all of its rack, if it names none, and a VIP from each of them.
func (f *Fabric) leaf(i int) []string {
	lines := append(start(asn(i), fmt.Sprintf("10.0.%d.2", i+1)), f.process...)
	for family, spine := range []string{fmt.Sprintf("10.0.%d.1", i+1), fmt.Sprintf("2001:db8:0:%d::1", i+1)} {
		word := []string{"ipv4", "ipv6"}[family]
		four, six := RackAddress(i+1, 1)
		rack := []netip.Prefix{four.Masked(), six.Masked()}[family]
		group := "hosts-" + word
		lines = append(lines, fmt.Sprintf("neighbor %s remote-as %d", spine, SpineASN), "neighbor "+spine+" timers connect 1")
		lines = append(lines, f.session(spine)...)
		switch {
		case !f.unnumbered:
			lines = append(lines, "neighbor "+group+" peer-group", fmt.Sprintf("neighbor %s remote-as %d", group, Hosts))
			lines = append(lines, f.host(group)...)
			for _, number := range f.neighbours {
				four, six := RackAddress(i+1, number)
				lines = append(lines, fmt.Sprintf("neighbor %s peer-group %s", []netip.Prefix{four, six}[family].Addr(), group))
			}
			if len(f.neighbours) == 0 {
				lines = append(lines, fmt.Sprintf("bgp listen range %s peer-group %s", rack, group))
			}
		case family == 0: // one session has both
			lines = append(lines, "neighbor eth0 interface remote-as external", "neighbor eth0 timers connect 1")
			lines = append(lines, f.host("eth0")...)
		}
		if f.unnumbered {
			group = "eth0"
		}
		lines = append(lines, "address-family "+word+" unicast", "network "+rack.String(), fmt.Sprintf("maximum-paths %d", f.paths),
			"neighbor "+spine+" activate", "neighbor "+group+" activate", "exit-address-family")
	}
	return append(lines, "exit")
}
