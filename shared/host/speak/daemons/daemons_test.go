package daemons

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestEnsure holds that no daemon is started before those that it needs, and that a program which is missing
// is named.
func TestEnsure(t *testing.T) {
	l, err := launch.New(launch.Options{Sockets: t.TempDir(), Programs: t.TempDir(), User: "frr"})
	if err != nil {
		need.Missing(t, err.Error())
	}
	d := New(Options{Launcher: l, Wake: loop.NewWake(), Log: slog.New(slog.DiscardHandler)})
	c := frr.Config{ASN: 64512, Router: netip.MustParseAddr("192.0.2.10"), Timing: bgp.Profiles()[0]}
	for range 2 {
		_, err := d.Ensure(t.Context(), c)
		if err == nil || !strings.Contains(err.Error(), "zebra") || strings.Contains(err.Error(), "bgpd") {
			t.Errorf("without programs: %v", err)
		}
	}
	if _, err := d.Ensure(t.Context(), frr.Config{}); err == nil || !strings.Contains(err.Error(), "no configuration") {
		t.Errorf("without a configuration: %v", err)
	}
}

// TestAnnounce_Starting holds that a daemon which does not listen yet is no trouble until it should.
func TestAnnounce_Starting(t *testing.T) {
	need.Root(t)
	dir := daemons.Open(t)
	// FAKE of a bgpd that never listens.
	if err := os.WriteFile(filepath.Join(dir, "bgpd"), []byte("#!/bin/sh\nexec sleep 60\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	l, err := launch.New(launch.Options{Sockets: t.TempDir(), Programs: dir, User: "frr"})
	if err != nil {
		need.Missing(t, err.Error())
	}
	d := New(Options{Launcher: l, Wake: loop.NewWake(), Log: slog.New(slog.DiscardHandler)})
	one := d.all[frr.BGP]
	if err := one.keeper.Ensure(t.Context(), one.spec); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	c := frr.Config{ASN: 64512, Router: netip.MustParseAddr("192.0.2.10"), Timing: bgp.Profiles()[0]}
	for age, trouble := range map[time.Duration]bool{0: false, startup: true} {
		one.begun = time.Now().Add(-age)
		if err := d.Announce(t.Context(), c, nil); (err != nil) != trouble {
			t.Errorf("%v after its start: %v", age, err)
		}
	}
}
