package daemons

import (
	"log/slog"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/speak/launch"
	"github.com/onprem-infra/onprem-infra/shared/loop"
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
