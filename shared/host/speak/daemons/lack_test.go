package daemons

import (
	"errors"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
)

// TestLack holds the pauses after which a daemon is given again what it has refused, and that a change does not wait.
func TestLack(t *testing.T) {
	now := time.Now()
	announced := func(c frr.Config, grade bgp.Grade) frr.Config {
		c.Announced = map[netip.Addr]bgp.Grade{vip: grade}
		return c
	}
	var l lack
	if l.holds(wants, now) {
		t.Error("nothing was refused")
	}
	for i, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second} {
		l = l.again(announced(wants, 4), errors.New("x: refused\ny: refused"), now)
		if l.pause != want || !l.next.Equal(now.Add(want)) || !strings.HasPrefix(l.err.Error(), "x: refused; y: refused: the daemon has") {
			t.Errorf("%d: %+v", i, l)
		}
		if !l.holds(wants, now) || !l.holds(announced(wants, 4), l.next.Add(-1)) || l.holds(announced(wants, 4), l.next) || l.holds(announced(wants, 5), now) {
			t.Errorf("%d: it is given again in its pause, or not after that, or a change waits", i)
		}
		now = l.next
	}
	for range 20 {
		l = l.again(wants, errors.New("x"), now)
	}
	if l.pause != latestPause {
		t.Errorf("the longest pause is %v", l.pause)
	}
	other := wants
	other.Communities = []string{"64512:1"}
	if l.holds(other, now) {
		t.Error("another configuration waits")
	}
	if l = l.again(other, errors.New("x"), now); l.pause != firstPause {
		t.Errorf("another configuration begins with %v", l.pause)
	}
}

// TestEnsure_Refused holds what real FRR has of a configuration in which it refuses a line: all the rest, and that line once in a
// growing while, which every round names; that VIPs are announced and withdrawn meanwhile; and that a change comes into
// use at once.
func TestEnsure_Refused(t *testing.T) {
	t.Parallel()
	d := started(t)
	bad := wants
	bad.Communities, bad.VIPs = []string{"64512:99999999"}, append(bad.VIPs, netip.MustParseAddr("198.51.100.6"))
	one := d.all[frr.BGP]
	round := func(pause time.Duration) {
		t.Helper()
		_, err := d.Ensure(t.Context(), bad)
		if err == nil || !strings.Contains(err.Error(), `"set community 64512:99999999 additive": refused`) || strings.Contains(err.Error(), "\n") || one.lack.pause != pause {
			t.Errorf("%v, with a pause of %v, want %v", err, one.lack.pause, pause)
		}
		if d.Unknown(frr.BGP) || !d.Configured(frr.BGP) {
			t.Error("it is not known what it has")
		}
	}
	round(firstPause)
	next := one.lack.next
	for range 5 {
		round(firstPause)
	}
	if !one.lack.next.Equal(next) {
		t.Error("it is given again in its pause")
	}
	if text := running(t, d); strings.Contains(text, "set community") || !strings.Contains(text, "onprem-vip-1") || !strings.Contains(text, "network "+vip.String()) {
		t.Errorf("it has the rest: %s", text)
	}
	if err := d.Announce(t.Context(), bad, nil); err != nil || strings.Contains(running(t, d), "network "+vip.String()) {
		t.Errorf("a withdrawal: %v", err)
	}
	one.lack.next = time.Now()
	round(2 * firstPause)
	if err := d.Announce(t.Context(), bad, map[netip.Addr]bgp.Grade{vip: 5}); err != nil || !strings.Contains(running(t, d), "network "+vip.String()) {
		t.Errorf("an announcement: %v", err)
	}
	good := bad
	good.Communities = []string{"64512:7"}
	if _, err := d.Ensure(t.Context(), good); err != nil || one.lack.err != nil || !strings.Contains(running(t, d), "set community 64512:7 additive") {
		t.Errorf("another line: %v, %+v", err, one.lack)
	}
}

// TestEnsure_RefusedByAnother holds that bgpd is started anew while bfdd has refused a line: the host would announce
// nothing for as long as that is so.
func TestEnsure_RefusedByAnother(t *testing.T) {
	t.Parallel()
	d := started(t)
	bad := wants
	bad.Timing.BFD.Multiplier = 300
	if _, err := d.Ensure(t.Context(), bad); err == nil || d.all[frr.BFD].lack.err == nil {
		t.Fatalf("bfdd refuses nothing: %v", err)
	}
	for d.Kill(frr.BGP); d.PID(frr.BGP) != 0; {
		time.Sleep(time.Millisecond)
	}
	for begun := time.Now(); d.PID(frr.BGP) == 0 || !d.Configured(frr.BGP) || d.Unknown(frr.BGP); time.Sleep(20 * time.Millisecond) {
		if _, err := d.Ensure(t.Context(), bad); time.Since(begun) > 20*time.Second {
			t.Fatalf("bgpd is not back: %v", err)
		}
	}
}

// TestEnsure_Lost holds that a line which a daemon has not is given to it again, and nothing else.
func TestEnsure_Lost(t *testing.T) {
	t.Parallel()
	d := started(t)
	one := d.all[frr.BGP]
	other(t, d, "configure terminal", "no router bgp 64512", "end")
	one.lack = one.lack.again(one.has, errors.New("x"), time.Now().Add(-time.Hour))
	if _, err := d.Ensure(t.Context(), wants); err != nil || one.lack.err != nil {
		t.Errorf("%v, %+v", err, one.lack)
	}
	if text := running(t, d); !strings.Contains(text, "neighbor 192.0.2.1 remote-as 65101") || strings.Contains(text, "shutdown") || !strings.Contains(text, "network "+vip.String()) {
		t.Errorf("%s", text)
	}
}

// TestEnsure_Changed holds that what a daemon has is read back after each change of its configuration, also while a VIP is
// announced.
func TestEnsure_Changed(t *testing.T) {
	t.Parallel()
	d := started(t)
	other(t, d, "configure terminal", "router bgp 64512", "no neighbor 192.0.2.1 timers connect", "end")
	changed := wants
	changed.Communities = []string{"64512:7"}
	if _, err := d.Ensure(t.Context(), changed); err == nil || !strings.Contains(err.Error(), `lacks ["router bgp 64512: neighbor 192.0.2.1 timers connect 1"]`) {
		t.Errorf("what it has lost is not found: %v", err)
	}
	d.all[frr.BGP].lack.next = time.Now()
	if _, err := d.Ensure(t.Context(), changed); err != nil || !strings.Contains(running(t, d), "timers connect 1") {
		t.Errorf("it is not given again: %v", err)
	}
}

// other gives bgpd commands that are not ours.
func other(t *testing.T, d *Daemons, commands ...string) {
	t.Helper()
	conn, err := host.Dial(t.Context(), d.Launcher.Sockets, frr.BGP)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var all []frr.Command
	for _, text := range commands {
		all = append(all, frr.Command{Text: text})
	}
	if err := conn.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}
