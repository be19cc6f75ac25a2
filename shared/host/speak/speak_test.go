package speak

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/need"
)

var (
	vip, other = netip.MustParseAddr("198.51.100.5"), netip.MustParseAddr("198.51.100.6")
	config     = spoken.Config{ASN: 64512, Router: netip.MustParseAddr("192.0.2.10"), Timing: bgp.Profiles()[0],
		VIPs: []netip.Addr{vip}, Peers: []spoken.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}}}
)

func put(t *testing.T, dir, name string, text []byte) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

// one is a speaker of which no daemon runs, and which has its configurations tested by a FAKE.
func one(t *testing.T, test tester) *speaker {
	t.Helper()
	l, err := launch.New(launch.Options{Sockets: t.TempDir(), Programs: t.TempDir(), User: "frr"})
	if err != nil {
		need.Missing(t, err.Error())
	}
	log, wake := slog.New(slog.DiscardHandler), loop.NewWake()
	s := newSpeaker(Options{Dir: t.TempDir(), Log: log}, l, wake)
	s.candidates.Tester = test
	t.Cleanup(s.candidates.End)
	return s
}

// tester is a FAKE of the test of a configuration.
type tester func(context.Context, frr.Config) (refused, err error)

func (f tester) Test(ctx context.Context, c frr.Config) (refused, err error) { return f(ctx, c) }

// TestRead holds that files which cannot be read leave what was read before, that a password comes to
// its router, and that a configuration which is none is no candidate.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	s := &speaker{Options: Options{Dir: dir, Passwords: filepath.Join(dir, "passwords")}}
	if got, err := s.read(); err == nil || got.Router.IsValid() {
		t.Errorf("without files: %v, %+v", err, got)
	}
	beat := time.Now().Truncate(time.Second).UTC()
	put(t, dir, spoken.ConfigFile, spoken.Encode(config))
	put(t, dir, spoken.WishFile, spoken.Encode(spoken.Wish{Beat: beat}))
	if got, err := s.read(); err != nil || len(got.Peers) != 1 || !got.Peers[0].Password.Empty() || !s.wish.Beat.Equal(beat) {
		t.Errorf("%v, %+v, %+v", err, got, s.wish)
	}
	put(t, dir, "passwords", []byte("192.0.2.1 s3cret\n"))
	if got, err := s.read(); err != nil || got.Peers[0].Password.Reveal() != "s3cret" {
		t.Errorf("with a password: %v", err)
	}
	for _, name := range []string{spoken.ConfigFile, spoken.WishFile, "passwords"} {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, dir, name, []byte("half"))
		got, err := s.read()
		if err == nil || got.Router.IsValid() != (name == spoken.WishFile) || !s.wish.Beat.Equal(beat) {
			t.Errorf("%s is half: %v, %+v", name, err, got)
		}
		put(t, dir, name, text)
	}
	six := config
	six.Router = netip.MustParseAddr("2001:db8::1")
	put(t, dir, spoken.ConfigFile, spoken.Encode(six))
	if got, err := s.read(); err == nil || got.Router.IsValid() || !strings.Contains(err.Error(), "Router: ") {
		t.Errorf("an identifier that is none: %v, %+v", err, got)
	}
}

// TestConsider holds that a round does not wait for a test, that a configuration comes into use which passes and
// no other, with one test for each, and that one which cannot be tested comes into use all the same.
func TestConsider(t *testing.T) {
	release := make(chan struct{})
	var mu sync.Mutex
	tests := map[string]int{}
	s := one(t, func(ctx context.Context, c frr.Config) (refused, err error) {
		name := fmt.Sprint(c.ASN)
		mu.Lock()
		tests[name]++
		mu.Unlock()
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		switch name {
		case "2":
			return errors.New("bgpd: router bgp 2"), nil
		case "3":
			return nil, errors.New("no namespaces")
		}
		return nil, nil
	})
	of := func(asn bgp.ASN) frr.Config {
		c := config.With(nil)
		c.ASN, c.Timing = asn, bgp.Profiles()[2]
		c.VIPs = []netip.Addr{netip.AddrFrom4([4]byte{198, 51, 100, byte(asn)})}
		return c
	}
	until := func(asn bgp.ASN, want string) {
		t.Helper()
		for begun := time.Now(); ; time.Sleep(time.Millisecond) {
			if err := s.consider(t.Context(), of(asn)); strings.Contains(fmt.Sprint(err), want) {
				return
			}
			if time.Since(begun) > 10*time.Second {
				t.Fatalf("%d: no %q", asn, want)
			}
		}
	}
	for range 3 {
		begun := time.Now()
		if err := s.consider(t.Context(), of(1)); err != nil || s.target.Router.IsValid() || time.Since(begun) > time.Second {
			t.Fatalf("while it is tested: %v, %+v", err, s.target)
		}
	}
	until(4, "<nil>") // another one has come, and the former test ends
	close(release)
	for s.target.ASN != 4 {
		until(4, "<nil>")
	}
	until(2, "bgpd: router bgp 2")
	for range 3 {
		if err := s.consider(t.Context(), of(2)); err == nil || s.target.ASN != 4 || slices.Contains(s.vips, of(2).VIPs[0]) {
			t.Errorf("a refused one: %v, %+v", err, s.target)
		}
	}
	until(3, "without a test")
	if s.target.ASN != 3 || !slices.Contains(s.vips, of(4).VIPs[0]) || !slices.Contains(s.vips, of(3).VIPs[0]) {
		t.Errorf("one without a test: %+v, %v", s.target, s.vips)
	}
	mu.Lock()
	defer mu.Unlock()
	if tests["1"] != 1 || tests["2"] != 1 || tests["3"] != 1 || tests["4"] > 1 {
		t.Errorf("tests: %v", tests)
	}
}

// TestConfigure holds that a VIP which is the cluster's no longer stays in the daemons' configuration at its place
// until it has left, and that others keep theirs.
func TestConfigure(t *testing.T) {
	third := netip.MustParseAddr("198.51.100.7")
	both, less := config.With(nil), config.With(nil)
	both.VIPs, less.VIPs = []netip.Addr{vip, other}, []netip.Addr{other, third}
	for phase, want := range map[speak.Phase][]netip.Addr{
		speak.Announced: {vip, other, third}, speak.Demoted: {vip, other, third}, speak.Withdrawn: {vip, other, third},
		speak.Idle: {other, third}, speak.Waiting: {other, third}, "": {other, third},
	} {
		s := &speaker{target: both}
		s.configure()
		s.target, s.state = less, speak.State{vip: {Phase: phase}, other: {Phase: speak.Announced}}
		for range 2 {
			if s.configure(); !slices.Equal(s.config.VIPs, want) || !slices.Equal(s.target.VIPs, less.VIPs) {
				t.Errorf("%s: %v, want %v", phase, s.config.VIPs, want)
			}
		}
		if s.state[vip] = (speak.VIP{Phase: speak.Idle}); true {
			s.configure()
		}
		if !reflect.DeepEqual(s.config, less) {
			t.Errorf("%s, and after that: %+v", phase, s.config)
		}
	}
}

// TestResume holds that VIPs of the run before are known, and that without its status none is.
func TestResume(t *testing.T) {
	s := &speaker{Options: Options{Dir: t.TempDir()}}
	if s.resume(); len(s.vips) != 0 {
		t.Errorf("%v", s.vips)
	}
	put(t, s.Dir, spoken.StatusFile, spoken.Encode(spoken.Status{VIPs: []spoken.VIP{{VIP: vip}, {VIP: other}}}))
	if s.resume(); !slices.Equal(s.vips, []netip.Addr{vip, other}) {
		t.Errorf("%v", s.vips)
	}
}

// TestCheckPort holds that a port of BFD which another process has is found before bfdd starts, that sessions then
// are without BFD, and that this lasts until the speaker ends.
func TestCheckPort(t *testing.T) {
	s := one(t, func(context.Context, frr.Config) (refused, err error) { return nil, nil })
	far := config.With(nil)
	far.Peers[0].Hops = 3 // its port is free on hosts that have BFD
	conn, err := net.ListenPacket("udp", ":4784")
	if err != nil {
		need.Missing(t, err.Error())
	}
	hold, _ := bgp.TimingOf(bgp.ProfileHold)
	slow := far
	slow.Timing = hold
	if err := s.checkPort(slow); err != nil || s.bfd.taken != "" {
		t.Errorf("BFD is not wanted: %v, %q", err, s.bfd.taken)
	}
	for range 2 {
		err := s.consider(t.Context(), far)
		if text := fmt.Sprint(err); !strings.Contains(text, fmt.Sprintf("speak.test (process %d) has UDP port 4784", os.Getpid())) || !strings.Contains(text, "start this one anew") {
			t.Errorf("%v", err)
		}
		if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Fatal(err)
		}
	}
	for begun := time.Now(); s.target.Timing != hold && time.Since(begun) < 10*time.Second; {
		_ = s.consider(t.Context(), far)
	}
	if text := s.bfd.taken; !strings.Contains(text, "4784") || s.target.Timing != hold {
		t.Errorf("%q, %+v", text, s.target.Timing)
	}
}

// TestHide holds that a link which has gone is no reason to withdraw: the host answers for nothing there.
func TestHide(t *testing.T) {
	s := &speaker{links: []string{"none0"}}
	if err := s.hide(); err != nil {
		t.Errorf("a link that has gone: %v", err)
	}
}
