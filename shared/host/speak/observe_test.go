package speak

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/link/loopback"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	programs "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// apart is a speaker whose daemons are real, each in an empty network.
func apart(t *testing.T) *speaker {
	t.Helper()
	l, err := launch.New(launch.Options{Programs: programs.Apart(t), Sockets: filepath.Join(programs.Open(t), "sockets"), User: "frr"})
	if err != nil {
		need.Missing(t, err.Error())
	}
	if err := l.Prepare(); err != nil {
		need.Missing(t, err.Error())
	}
	s := newSpeaker(Options{Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler)}, l, loop.NewWake())
	t.Cleanup(func() { _ = s.daemons.Stop(context.Background()) }) // it may have ended
	return s
}

// TestObserve_Unknown holds that routers may have what they had of a bgpd which has something beyond its configuration,
// until it ends.
func TestObserve_Unknown(t *testing.T) {
	t.Parallel()
	s := apart(t)
	s.config = config.With(nil)
	until := func(done func() bool) {
		t.Helper()
		for begun := time.Now(); !done(); time.Sleep(20 * time.Millisecond) {
			if _, err := s.daemons.Ensure(t.Context(), s.config); time.Since(begun) > 10*time.Second {
				t.Fatalf("bgpd: %v", err)
			}
		}
	}
	until(func() bool { return s.daemons.Configured(frr.BGP) })
	conn, err := host.Dial(t.Context(), s.daemons.Launcher.Sockets, frr.BGP)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Apply(t.Context(), []frr.Command{{Text: "configure terminal"}, {Text: "router bgp 64512"}, {Text: "address-family ipv4 unicast"},
		{Text: "network 203.0.113.0/24"}, {Text: "end"}}); err != nil {
		t.Fatal(err)
	}
	s.config.Communities = []string{"64512:1"}
	until(func() bool { return s.daemons.Unknown(frr.BGP) })
	had := map[string]map[netip.Addr]bgp.Grade{"192.0.2.1": {vip: 4}}
	s.known.Advertised = had
	if o, err := s.observe(t.Context()); err != nil || !o.Advertised[vip] || !o.Unsure || s.known.Flaps("192.0.2.1") != 0 {
		t.Errorf("%v, %+v", err, o)
	}
	s.daemons.Kill(frr.BGP)
	for s.daemons.PID(frr.BGP) != 0 {
		time.Sleep(time.Millisecond)
	}
	if o, err := s.observe(t.Context()); err != nil || o.Advertised[vip] || o.Unsure {
		t.Errorf("bgpd has ended: %v, %+v", err, o)
	}
}

// TestRound_Withdraws holds that bgpd's time to withdraw begins once it has been told to: in an overloaded host the
// questions of the round alone take as long.
func TestRound_Withdraws(t *testing.T) {
	t.Parallel()
	host, err := lab.New(t).Add("host", netip.MustParsePrefix("192.0.2.10/24"))
	if err != nil {
		t.Fatal(err)
	}
	s := one(t, func(context.Context, frr.Config) (refused, err error) { return nil, nil })
	s.target, s.state = config.With(nil), speak.State{vip: {Phase: speak.Announced}}
	if err := host.Do(func() error { s.round(t.Context(), false); return nil }); err != nil {
		t.Fatal(err)
	}
	seen, is := s.status.Load().At, s.state[vip]
	if is.Phase != speak.Withdrawn || !is.Since.After(seen) {
		t.Errorf("what routers have was seen at %v: %+v", seen, is)
	}
}

// TestEnd holds that an address outlives a bgpd that does not end for long: routers may have its routes.
func TestEnd(t *testing.T) {
	t.Parallel()
	host, err := lab.New(t).Add("host", netip.MustParsePrefix("192.0.2.10/24"))
	if err != nil {
		t.Fatal(err)
	}
	held := func() (all []netip.Addr) {
		if err := host.Do(func() (err error) { all, err = loopback.Held([]netip.Addr{vip}); return err }); err != nil {
			t.Error(err)
		}
		return all
	}
	s := apart(t)
	s.config, s.vips = config.With(nil), []netip.Addr{vip}
	for begun := time.Now(); !s.daemons.Configured(frr.BGP); time.Sleep(20 * time.Millisecond) {
		if _, err := s.daemons.Ensure(t.Context(), s.config); time.Since(begun) > 10*time.Second {
			t.Fatalf("bgpd has no configuration: %v", err)
		}
	}
	if err := host.Do(func() error { return loopback.Add(vip) }); err != nil {
		t.Fatal(err)
	}
	pid := s.daemons.PID(frr.BGP)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), 3*time.Second)
		defer cancel()
		ended <- host.Do(func() error { return s.end(ctx) })
	}()
	for begun := time.Now(); time.Since(begun) < 700*time.Millisecond; time.Sleep(20 * time.Millisecond) {
		if len(held()) == 0 {
			t.Fatal("the address went while bgpd was there")
		}
	}
	if err := <-ended; err != nil || len(held()) > 0 || syscall.Kill(pid, 0) == nil {
		t.Errorf("at the end: %v, %v", err, held())
	}
}

// TestAdd holds that a VIP whose address the kernel refuses is not announced, and that the others are; also where it is not
// known which addresses the host has.
func TestAdd(t *testing.T) {
	t.Parallel()
	host, err := lab.New(t).Add("host", netip.MustParsePrefix("192.0.2.10/24"))
	if err != nil {
		t.Fatal(err)
	}
	refused := netip.MustParseAddr("ff02::99")
	d := speak.Decision{Addresses: []netip.Addr{vip, refused}, Announced: map[netip.Addr]bgp.Grade{vip: 4, refused: 4}}
	for range 2 {
		var announced map[netip.Addr]bgp.Grade
		err := host.Do(func() (err error) { announced, err = new(speaker).add(d, nil); return err })
		if want := map[netip.Addr]bgp.Grade{vip: 4}; !maps.Equal(announced, want) || !strings.Contains(fmt.Sprint(err), refused.String()) || strings.Contains(fmt.Sprint(err), vip.String()) {
			t.Errorf("%v, %v", announced, err)
		}
	}
	if len(d.Announced) != 2 {
		t.Errorf("the decision is another one: %v", d.Announced)
	}
}
