package daemons

import (
	"context"
	"log/slog"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	programs "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/need"
)

var (
	vip   = netip.MustParseAddr("198.51.100.5")
	wants = frr.Config{ASN: 64512, Router: netip.MustParseAddr("192.0.2.10"), Timing: bgp.Profiles()[0], VIPs: []netip.Addr{vip},
		Peers: []frr.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}}}
)

// started are real daemons with a configuration that announces the VIP.
func started(t *testing.T) *Daemons {
	t.Helper()
	l, err := launch.New(launch.Options{Programs: programs.Apart(t), Sockets: filepath.Join(programs.Open(t), "sockets"), User: "frr"})
	if err != nil {
		need.Missing(t, err.Error())
	}
	if err := l.Prepare(); err != nil {
		need.Missing(t, err.Error())
	}
	d := New(Options{Launcher: l, Wake: loop.NewWake(), Log: slog.New(slog.DiscardHandler)})
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	configured(t, d)
	if err := d.Announce(t.Context(), wants, map[netip.Addr]bgp.Grade{vip: 4}); err != nil {
		t.Fatal(err)
	}
	if text := running(t, d); !strings.Contains(text, "network "+vip.String()) {
		t.Fatalf("bgpd does not announce: %s", text)
	}
	return d
}

// configured makes rounds until all have their configuration.
func configured(t *testing.T, d *Daemons) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		starting, err := d.Ensure(t.Context(), wants)
		if err == nil && !starting && d.Configured(frr.BGP) {
			return
		}
		if time.Since(begun) > 10*time.Second {
			t.Fatalf("bgpd has no configuration: %v", err)
		}
	}
}

func running(t *testing.T, d *Daemons) string {
	t.Helper()
	conn, err := host.Dial(t.Context(), d.Launcher.Sockets, frr.BGP)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	text, err := conn.Show(t.Context(), "show running-config")
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// ended waits for the end of a bgpd that was killed.
func ended(d *Daemons) {
	for d.PID(frr.BGP) != 0 {
		time.Sleep(time.Millisecond)
	}
}

func signal(t *testing.T, pid int, sig syscall.Signal) {
	t.Helper()
	if err := syscall.Kill(pid, sig); err != nil {
		t.Fatal(err)
	}
}

// TestAnnounce_Stalled holds that a bgpd which stalls while it is given something comes back with all that it is to
// have, and nothing of before: what it took then is not known, and it refuses all of it once more.
func TestAnnounce_Stalled(t *testing.T) {
	t.Parallel()
	d := started(t)
	pid := d.PID(frr.BGP)
	signal(t, pid, syscall.SIGSTOP)
	time.AfterFunc(1300*time.Millisecond, func() { _ = syscall.Kill(pid, syscall.SIGCONT) }) // it may have ended
	if err := d.Announce(t.Context(), wants, nil); !host.Unanswered(err) || !strings.Contains(err.Error(), "it is killed") {
		t.Errorf("%v", err)
	}
	configured(t, d)
	if text := running(t, d); d.PID(frr.BGP) == pid || strings.Contains(text, "network "+vip.String()) {
		t.Errorf("after the stall: process %d, before %d: %s", d.PID(frr.BGP), pid, text)
	}
	if err := d.Announce(t.Context(), wants, map[netip.Addr]bgp.Grade{vip: 5}); err != nil || !strings.Contains(running(t, d), "network "+vip.String()) {
		t.Errorf("it does not announce again: %v", err)
	}
}

// TestAsk_Hung holds that a bgpd which does not answer costs one wait in each round, that it is given nothing then, and
// that it is killed in the third round, however many questions each has. A question that it refuses is answered.
func TestAsk_Hung(t *testing.T) {
	t.Parallel()
	d := started(t)
	pid := d.PID(frr.BGP)
	for range unanswered {
		if _, err := d.Ask(t.Context(), "show nonsense"); !host.Refused(err) || strings.Contains(err.Error(), "it is killed") {
			t.Errorf("a question that it does not know: %v", err)
		}
	}
	if _, err := d.Ask(t.Context(), "show version"); err != nil { // there is a connection when it hangs
		t.Error(err)
	}
	signal(t, pid, syscall.SIGSTOP)
	for round := range unanswered {
		begun := time.Now()
		if starting, err := d.Ensure(t.Context(), wants); err != nil || starting {
			t.Errorf("round %d: %v", round, err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		_, err := d.Ask(ctx, "show version")
		cancel()
		if err == nil || strings.Contains(err.Error(), "it is killed") != (round == unanswered-1) {
			t.Errorf("round %d: %v", round, err)
		}
		if err := d.Announce(t.Context(), wants, nil); err != nil {
			t.Errorf("round %d: %v", round, err)
		}
		if round == 0 {
			if _, err := d.Ask(t.Context(), "show version"); err == nil {
				t.Error("it answers")
			}
		}
		if lasts := time.Since(begun); lasts > 900*time.Millisecond { // another wait would last a second
			t.Errorf("round %d takes %v", round, lasts)
		}
	}
	ended(d)
	configured(t, d)
	if d.PID(frr.BGP) == pid {
		t.Error("it is the same process")
	}
}

// TestEnsure_Hung holds that a daemon which hangs before it has a configuration is killed in the third round, but not
// while it may still be starting.
func TestEnsure_Hung(t *testing.T) {
	t.Parallel()
	d := started(t)
	for _, name := range []frr.Daemon{frr.Zebra, frr.BGP} {
		pid, one := d.PID(name), d.all[name]
		signal(t, pid, syscall.SIGSTOP)
		one.forget() // as after its start: the kernel takes connections for it
		for round := range 2 * unanswered {
			one.begun = time.Now()
			if round >= unanswered {
				one.begun = one.begun.Add(-startup)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			_, err := d.Ensure(ctx, wants)
			cancel()
			if !host.Unanswered(err) || strings.Contains(err.Error(), "it is killed") != (round == 2*unanswered-1) {
				t.Errorf("%s, round %d: %v", name, round, err)
			}
		}
		for d.PID(name) == pid && !t.Failed() {
			time.Sleep(time.Millisecond)
		}
		configured(t, d)
	}
}

// TestUnknown holds of which daemon it is not known what it has: one that has something beyond its configuration, until
// it is started anew. It is given all anew after a pause, and not in each round.
func TestUnknown(t *testing.T) {
	t.Parallel()
	d := started(t)
	if d.Unknown(frr.BGP) {
		t.Error("it is not known although it has taken all")
	}
	other(t, d, "configure terminal", "router bgp 64512", "address-family ipv4 unicast", "network 203.0.113.0/24", "exit", "exit", "end")
	bad := wants
	bad.Communities = []string{"64512:99999999"}
	one := d.all[frr.BGP]
	var next time.Time
	for i := range 5 {
		if _, err := d.Ensure(t.Context(), bad); err == nil || host.Unanswered(err) || !d.Unknown(frr.BGP) || d.Configured(frr.BGP) {
			t.Errorf("it has something beyond: %v", err)
		}
		if err := d.Announce(t.Context(), bad, map[netip.Addr]bgp.Grade{vip: 4}); err == nil {
			t.Error("it announces all the same")
		}
		if i == 0 {
			next = one.lack.next
		} else if !one.lack.next.Equal(next) {
			t.Errorf("round %d: all is given anew in its pause", i)
		}
	}
	d.Kill(frr.BGP)
	ended(d)
	if d.Unknown(frr.BGP) {
		t.Error("it has ended")
	}
	configured(t, d)
	if d.Unknown(frr.BGP) {
		t.Error("it has been started anew")
	}
}
