package daemons

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	frrjudge "github.com/onprem-infra/onprem-infra/shared/host/speak/judge"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/test/announcers"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// launcher starts daemons below a directory of this test.
func launcher(t *testing.T, programs string) *launch.Launcher {
	t.Helper()
	l, err := launch.New(launch.Options{Programs: programs, Sockets: filepath.Join(daemons.Directory(t), "s"), User: "frr"})
	if err == nil {
		err = l.Prepare()
	}
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// TestJudge has scratch daemons take every configuration that the running ones take, within half of
// their patience, and leave nothing behind.
func TestJudge(t *testing.T) {
	t.Parallel()
	need.Root(t)
	need.File(t, daemons.Programs+"bgpd")
	l := launcher(t, daemons.Programs)
	j := frrjudge.New(l)
	var fastest time.Duration
	for name, c := range announcers.Configs() {
		begun := time.Now()
		refused, err := j.Test(t.Context(), c)
		if refused != nil || err != nil {
			t.Errorf("%s: refused %v, %v", name, refused, err)
		}
		if took := time.Since(begun); fastest == 0 || took < fastest {
			fastest = took
		}
	}
	t.Logf("%v at least", fastest)
	if fastest > 10*time.Second {
		t.Errorf("a test takes %v at least", fastest)
	}
	if left := running(t, l.Scratch()); len(left) > 0 {
		t.Errorf("processes are left: %v", left)
	}
}

// running are the processes with a word in their command lines.
func running(t *testing.T, word string) (all []string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if text, err := os.ReadFile(l); err == nil && strings.Contains(string(text), word) {
			all = append(all, l+" "+strings.ReplaceAll(string(text), "\x00", " "))
		}
	}
	return all
}

// TestJudge_Refused holds that what FRR cannot do is refused with the command, and without a secret; and
// what a daemon takes without doing it.
func TestJudge_Refused(t *testing.T) {
	t.Parallel()
	need.Root(t)
	need.File(t, daemons.Programs+"bgpd")
	j := frrjudge.New(launcher(t, daemons.Programs))
	good := announcers.Configs()["one-leaf"]
	long := strings.Repeat("x", 81)
	for name, tt := range map[string]struct {
		change func(*frr.Config, *frr.Peer)
		want   string
	}{
		"a password of 81 characters":          {func(_ *frr.Config, p *frr.Peer) { p.Password = secret.New(long) }, "password [hidden]"},
		"a number that is none":                {func(c *frr.Config, _ *frr.Peer) { c.ASN = 0 }, "router bgp 0"},
		"a hold time of a second":              {func(c *frr.Config, _ *frr.Peer) { c.Timing.Hold, c.Timing.Keepalive = 1e9, 1e9 }, "timers 1 1"},
		"BFD every 5 ms":                       {func(c *frr.Config, _ *frr.Peer) { c.Timing.BFD.Interval = 5e6 }, "transmit-interval 5"},
		"keepalives slower than the hold time": {func(c *frr.Config, _ *frr.Peer) { c.Timing.Hold, c.Timing.Keepalive = 6e9, 9e9 }, "lacks"},
		"a community that is none":             {func(c *frr.Config, _ *frr.Peer) { c.Communities = []string{"64512:99999999"} }, "set community"},
		"communities out of order":             {func(c *frr.Config, _ *frr.Peer) { c.Communities = []string{"64512:200", "64512:100"} }, "lacks"},
		"a community that has a name":          {func(c *frr.Config, _ *frr.Peer) { c.Communities = []string{"65535:65281"} }, "lacks"},
		"the community 0:0":                    {func(c *frr.Config, _ *frr.Peer) { c.Communities = []string{"0:0"} }, "lacks"},
		"a source of a session over a link": {func(c *frr.Config, p *frr.Peer) {
			*p = frr.Peer{Interface: "lo", Source: netip.MustParseAddr("192.0.2.10")}
		}, "update-source"},
		"security of a session over a link": {func(c *frr.Config, p *frr.Peer) { *p = frr.Peer{Interface: "lo", TTLSecurity: true} }, "ebgp-multihop"},
		"a hold time of more than 16 bits":  {func(c *frr.Config, _ *frr.Peer) { c.Timing.Hold = 65536e9 }, "timers"},
		"BFD of 256 packets":                {func(c *frr.Config, _ *frr.Peer) { c.Timing.BFD.Multiplier = 256 }, "detect-multiplier 256"},
		"BFD every 61 s":                    {func(c *frr.Config, _ *frr.Peer) { c.Timing.Hold, c.Timing.BFD.Interval = 900e9, 61e9 }, "transmit-interval 61000"},
		"one router twice":                  {func(c *frr.Config, p *frr.Peer) { c.Peers = append(c.Peers, *p) }, "lacks"},
	} {
		c := good
		c.Peers = slices.Clone(good.Peers)
		tt.change(&c, &c.Peers[0])
		refused, err := j.Test(t.Context(), c)
		t.Logf("%s: %v", name, refused)
		if text := fmt.Sprint(refused); err != nil || !strings.Contains(text, tt.want) || strings.Contains(text, long) {
			t.Errorf("%s: refused %v, which does not name %q, or has the secret; %v", name, refused, tt.want, err)
		}
	}
	if refused, err := j.Test(t.Context(), good); refused != nil || err != nil {
		t.Errorf("a good one after bad ones: %v, %v", refused, err)
	}
}

// TestJudge_Impossible holds that a judge which cannot test says so, and refuses nothing.
func TestJudge_Impossible(t *testing.T) {
	t.Parallel()
	need.Root(t)
	c := announcers.Configs()["one-leaf"]
	if refused, err := frrjudge.New(launcher(t, "/none")).Test(t.Context(), c); refused != nil || !errors.Is(err, os.ErrNotExist) {
		t.Errorf("without programs: refused %v, %v", refused, err)
	}
	programs := filepath.Dir(daemons.Directory(t)) // others may read it
	dir, err := os.MkdirTemp(programs, "programs-")
	if err == nil {
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		err = os.Chmod(dir, 0o755)
	}
	for _, name := range frr.Daemons() {
		if err == nil { // FAKE: a daemon that cannot start
			err = os.WriteFile(filepath.Join(dir, string(name)), []byte("#!/bin/sh\necho no room >&2\nexit 3\n"), 0o755)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	if refused, err := frrjudge.New(launcher(t, dir)).Test(t.Context(), c); refused != nil || err == nil || !strings.Contains(err.Error(), "no room") {
		t.Errorf("with a daemon that ends at its start: refused %v, %v", refused, err)
	}
}
