package speak

import (
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

var config = spoken.Config{ASN: 64512, Router: netip.MustParseAddr("192.0.2.10"), Timing: bgp.Profiles()[0],
	VIPs: []netip.Addr{netip.MustParseAddr("198.51.100.5")}, Peers: []spoken.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101}}}

func options(t *testing.T) Options {
	t.Helper()
	return Options{Dir: t.TempDir(), Sockets: t.TempDir(), Programs: t.TempDir(), Flags: []string{"--flag"}, Log: slog.New(slog.DiscardHandler)}
}

// TestCommand holds that no daemon reads a file or opens a port, and that bgpd takes no session: another BGP
// speaker of the host has that port.
func TestCommand(t *testing.T) {
	d := newDaemons(options(t), loop.NewWake())
	for _, name := range frr.Daemons() {
		text := strings.Join(d.command(name), " ")
		for _, want := range []string{" -f /dev/null ", " -P 0 ", " --vty_socket " + d.Sockets + " ", " --flag"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q lacks %q", name, text, want)
			}
		}
		if strings.Contains(text, " -p 0") != (name == frr.BGP) || strings.Contains(text, "--bfdctl") != (name == frr.BFD) {
			t.Errorf("%s: %q", name, text)
		}
	}
}

// TestRead holds that files which cannot be read leave what was read before, and that a password comes
// to its router.
func TestRead(t *testing.T) {
	o := options(t)
	o.Passwords = filepath.Join(o.Dir, "passwords")
	s := &speaker{Options: o}
	put := func(name string, text []byte) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(o.Dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.read(); err == nil || s.config.Router.IsValid() {
		t.Errorf("without files: %v, %+v", err, s.config)
	}
	beat := time.Now().Truncate(time.Second).UTC()
	put(spoken.ConfigFile, spoken.Encode(config))
	put(spoken.WishFile, spoken.Encode(spoken.Wish{Beat: beat}))
	if err := s.read(); err != nil || !s.config.Peers[0].Password.Empty() || !s.wish.Beat.Equal(beat) || !slices.Equal(s.vips, config.VIPs) {
		t.Errorf("%v, %+v, %+v", err, s.config, s.wish)
	}
	put("passwords", []byte("192.0.2.1 s3cret\n"))
	if err := s.read(); err != nil || s.config.Peers[0].Password.Reveal() != "s3cret" {
		t.Errorf("with a password: %v", err)
	}
	for _, name := range []string{spoken.ConfigFile, spoken.WishFile, "passwords"} {
		text, err := os.ReadFile(filepath.Join(o.Dir, name))
		if err != nil {
			t.Fatal(err)
		}
		put(name, []byte("half"))
		if err := s.read(); err == nil || s.config.Peers[0].Password.Reveal() != "s3cret" || !s.wish.Beat.Equal(beat) {
			t.Errorf("%s is half: %v, %+v", name, err, s.config)
		}
		put(name, text)
	}
}

// TestEnsure holds that no daemon is started before those that it needs, and that a program which is missing
// is named.
func TestEnsure(t *testing.T) {
	o := options(t)
	d := newDaemons(o, loop.NewWake())
	c := config.With(nil)
	for range 2 {
		err := d.ensure(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), "zebra") || strings.Contains(err.Error(), "bgpd") {
			t.Errorf("without programs: %v", err)
		}
	}
	if err := d.ensure(t.Context(), frr.Config{}); err == nil || !strings.Contains(err.Error(), "no configuration") {
		t.Errorf("without a configuration: %v", err)
	}
}
