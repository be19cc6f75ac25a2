package frr_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/test/announcers"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// TestRender holds the text of each configuration. The daemons judge the commands that it stands for.
func TestRender(t *testing.T) {
	for name, c := range announcers.Configs() {
		t.Run(name, func(t *testing.T) { golden.Check(t, frr.Render(c)) })
	}
}

// TestRender_Always holds what every configuration has of each session, or never: routers take and give
// routes by a policy alone (RFC 8212), a session is tried again at once, VIPs depend on no route of the
// kernel, no router compares what only the next one sees (MED), and the host's forwarding is not ours.
func TestRender_Always(t *testing.T) {
	for name, c := range announcers.Configs() {
		text := string(frr.Render(c))
		sessions, families := strings.Count(text, " remote-as "), strings.Count(text, " activate\n")
		for want, times := range map[string]int{
			" timers connect 1\n": sessions, " route-map onprem-in in\n": families, " route-map onprem-out out\n": families,
		} {
			if got := strings.Count(text, want); got != times || times == 0 {
				t.Errorf("%s: %d lines end in %q, want %d", name, got, want, times)
			}
		}
		for _, never := range []string{"redistribute", "metric", "forwarding", "delay-timer"} {
			if strings.Contains(text, never) {
				t.Errorf("%s has %q:\n%s", name, never, text)
			}
		}
	}
}

func texts(commands []frr.Command) (all []string) {
	for _, c := range commands {
		all = append(all, c.String())
	}
	return all
}

// TestDifference holds what a change costs: that VIPs are announced and withdrawn by one command, and
// that no session ends which both configurations have.
func TestDifference(t *testing.T) {
	all := announcers.Configs()
	for _, tt := range []struct {
		from, to string
		daemon   frr.Daemon
		want     []string
	}{
		{"one-leaf", "one-leaf", frr.BGP, nil},
		{"one-leaf", "announced", frr.BGP, []string{"configure terminal", "router bgp 64512", "address-family ipv4 unicast",
			"network 198.51.100.5/32", "exit", "exit", "end"}},
		{"announced", "one-leaf", frr.BGP, []string{"configure terminal", "router bgp 64512", "address-family ipv4 unicast",
			"no network 198.51.100.5/32", "exit", "exit", "end"}},
		{"announced", "behind", frr.BGP, []string{"configure terminal", "route-map onprem-out permit 10",
			"set as-path prepend 64512 64512 64512 64512", "exit", "end", "clear bgp ipv4 unicast * soft"}},
		{"behind", "announced", frr.BGP, []string{"configure terminal", "route-map onprem-out permit 10", "no set as-path prepend", "exit", "end",
			"clear bgp ipv4 unicast * soft"}},
		{"two-leaves", "another-leaf", frr.BGP, []string{"configure terminal", "router bgp 64512", "no neighbor 192.0.2.1", "exit", "end"}},
		{"another-leaf", "two-leaves", frr.BGP, []string{"configure terminal", "router bgp 64512", "neighbor 192.0.2.1 remote-as 65101",
			"neighbor 192.0.2.1 shutdown", "neighbor 192.0.2.1 bfd", "neighbor 192.0.2.1 bfd profile onprem", "neighbor 192.0.2.1 timers 3 9",
			"neighbor 192.0.2.1 timers connect 1", "exit", "router bgp 64512", "address-family ipv4 unicast", "neighbor 192.0.2.1 activate",
			"neighbor 192.0.2.1 allowas-in origin", "neighbor 192.0.2.1 route-map onprem-in in", "neighbor 192.0.2.1 route-map onprem-out out",
			"exit", "exit", "router bgp 64512", "no neighbor 192.0.2.1 shutdown", "exit", "end"}},
		{"one-leaf", "secret", frr.BGP, []string{"configure terminal", "router bgp 64512", "neighbor 192.0.2.1 password [hidden]",
			"neighbor 192.0.2.1 ttl-security hops 1", "no neighbor 192.0.2.1 ebgp-multihop", "exit", "end"}},
		{"secret", "another-secret", frr.BGP, []string{"configure terminal", "router bgp 64512", "neighbor 192.0.2.1 password [hidden]",
			"no neighbor 192.0.2.1 ttl-security hops 1", "neighbor 192.0.2.1 ebgp-multihop 2", "neighbor 192.0.2.1 update-source 192.0.2.10", "exit", "end"}},
		{"unnumbered", "another-unnumbered", frr.BGP, []string{"configure terminal", "router bgp 64512", "neighbor enp1s0 interface remote-as 65101", "exit", "end"}},
		{"one-leaf", "vm", frr.BFD, []string{"configure terminal", "bfd", "profile onprem", "receive-interval 300", "transmit-interval 300", "exit", "exit", "end"}},
		{"one-leaf", "hold", frr.BFD, []string{"configure terminal", "no bfd", "end"}},
		{"one-leaf", "both-families", frr.Zebra, nil},
	} {
		if got := texts(frr.Difference(tt.daemon, all[tt.from], all[tt.to])); !slices.Equal(got, tt.want) {
			t.Errorf("%s of %s, then %s:\n%q, want\n%q", tt.daemon, tt.from, tt.to, got, tt.want)
		}
	}
	for _, from := range all {
		for _, to := range all {
			for _, c := range frr.Difference(frr.BGP, from, to) {
				for _, p := range from.Peers {
					kept := slices.ContainsFunc(to.Peers, func(q frr.Peer) bool { return q.Name() == p.Name() })
					ends := c.Text == "no neighbor "+p.Name() || strings.HasPrefix(c.Text, "no neighbor "+p.Name()+" interface ")
					if kept && from.ASN == to.ASN && ends {
						t.Errorf("%q ends a session that is kept", c.Text)
					}
				}
			}
		}
	}
}

// TestRepair holds that a daemon is given what it has not, in its place, that no session ends by it, and that a session
// which is missing is made as at a start. The daemon's text is the rendered one.
func TestRepair(t *testing.T) {
	c := announcers.Configs()["announced"]
	own := section(string(frr.Render(c)), frr.BGP)
	without := func(line string) string {
		rest := strings.Replace(own, line, "", 1)
		if rest == own {
			t.Fatalf("there is no %q in %s", line, own)
		}
		return rest
	}
	for running, want := range map[string][]string{
		own:                                    nil,
		without("  network 198.51.100.5/32\n"): {"configure terminal", "router bgp 64512", "address-family ipv4 unicast", "network 198.51.100.5/32", "exit", "exit", "end"},
		without(" match as-path onprem-own\n"): {"configure terminal", "route-map onprem-out permit 10", "match as-path onprem-own", "exit", "end", "clear bgp ipv4 unicast * soft"},
	} {
		if got := texts(frr.Repair(frr.BGP, c, running)); !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got, want := texts(frr.Repair(frr.BGP, c, "")), texts(frr.Configure(frr.BGP, c)); !slices.Equal(got[:3], want[:3]) || !slices.Contains(got, "no neighbor 192.0.2.1 shutdown") {
		t.Errorf("%q, want %q", got, want)
	}
	secret := announcers.Configs()["secret"]
	if text := strings.Join(texts(frr.Repair(frr.BGP, secret, own)), " "); !strings.Contains(text, "password [hidden]") || strings.Contains(text, secret.Peers[0].Password.Reveal()) {
		t.Error(text)
	}
}

// TestDifference_Secret holds that commands print no password, and have it for the daemon.
func TestDifference_Secret(t *testing.T) {
	c := announcers.Configs()["secret"]
	secret := c.Peers[0].Password.Reveal()
	commands := frr.Configure(frr.BGP, c)
	if text := fmt.Sprintf("%v %+v %q %s", commands, commands, texts(commands), frr.Render(c)); strings.Contains(text, secret) {
		t.Errorf("the password is in %s", text)
	}
	if !slices.ContainsFunc(commands, func(c frr.Command) bool { return c.Reveal() == "neighbor 192.0.2.1 password "+secret }) {
		t.Error("no command has the password")
	}
}

// TestCompare holds that each line which a daemon lacks or has beyond is found, and no other. The
// daemon's text is the rendered one: FRR writes its own in the same form.
func TestCompare(t *testing.T) {
	for name, c := range announcers.Configs() {
		if name == "secret" || name == "another-secret" {
			continue // the text has no password
		}
		for _, d := range frr.Daemons() {
			own := section(string(frr.Render(c)), d)
			if missing, extra := frr.Compare(d, c, own); len(missing)+len(extra) > 0 {
				t.Errorf("%s of %s: missing %q, extra %q", d, name, missing, extra)
			}
			for i, line := range strings.Split(strings.TrimSpace(own), "\n") {
				if trimmed := strings.TrimSpace(line); trimmed == "" || trimmed == "exit" || strings.HasPrefix(trimmed, "router") || strings.HasPrefix(trimmed, "route-map") ||
					strings.HasPrefix(trimmed, "address-family") || strings.HasPrefix(trimmed, "bfd") && !strings.Contains(trimmed, "neighbor") || strings.HasPrefix(trimmed, "profile") {
					continue // of a section, whose lines are lost with it
				}
				lines := strings.Split(strings.TrimSpace(own), "\n")
				without := strings.Join(slices.Delete(slices.Clone(lines), i, i+1), "\n")
				if missing, extra := frr.Compare(d, c, without); len(missing) != 1 || len(extra) > 0 {
					t.Errorf("%s of %s without %q: missing %q, extra %q", d, name, line, missing, extra)
				}
			}
		}
	}
	c := announcers.Configs()["announced"]
	own := section(string(frr.Render(c)), frr.BGP) + `router bgp 64512
 neighbor 203.0.113.9 remote-as 65009
 neighbor 203.0.113.9 password s3cret
route-map onprem-out permit 99
bgp as-path access-list onprem-own seq 10 permit .*
`
	want := []string{"router bgp 64512: neighbor 203.0.113.9 remote-as 65009", "router bgp 64512: neighbor 203.0.113.9 password [hidden]", "route-map onprem-out permit 99",
		"bgp as-path access-list onprem-own seq 10 permit .*"}
	if missing, extra := frr.Compare(frr.BGP, c, own); len(missing) > 0 || !slices.Equal(extra, want) {
		t.Errorf("missing %q, extra %q, want %q", missing, extra, want)
	}
}

// section is the part of a text that is one daemon's.
func section(text string, d frr.Daemon) string {
	_, after, _ := strings.Cut(text, "! "+string(d)+"\n")
	own, _, _ := strings.Cut(after, "! ")
	return own
}

// TestConfigure holds that what is named is there before it is named.
func TestConfigure(t *testing.T) {
	for name, c := range announcers.Configs() {
		known := map[string]bool{}
		for _, command := range frr.Configure(frr.BGP, c) {
			words := strings.Fields(command.Text)
			switch {
			case words[0] == "route-map":
				known[words[1]] = true
			case len(words) > 1 && words[1] == "prefix-list":
				known[words[2]] = true
			case len(words) > 2 && words[2] == "access-list":
				known[words[3]] = true
			case words[0] == "match":
				if !known[words[len(words)-1]] {
					t.Errorf("%s: %q names a list that is not there yet", name, command.Text)
				}
			case words[0] == "neighbor" && words[2] == "route-map":
				if !known[words[3]] {
					t.Errorf("%s: %q names a map that is not there yet", name, command.Text)
				}
			}
		}
		if len(known) < 3 {
			t.Errorf("%s: %v", name, known)
		}
	}
	if got := frr.Configure(frr.BGP, frr.Config{}); got != nil {
		t.Errorf("nothing to configure: %q", got)
	}
}
