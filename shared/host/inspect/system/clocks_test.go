package system

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
)

// TestClocks_SilentNameServer holds that names which nobody answers for cost one timeout together,
// and that an address beside them is asked.
func TestClocks_SilentNameServer(t *testing.T) {
	root := t.TempDir()
	conf := filepath.Join(root, timeFiles[0])
	if err := os.MkdirAll(filepath.Dir(conf), 0o755); err != nil {
		t.Fatal(err)
	}
	text := "server a.example.com\nserver b.example.com\nserver 192.0.2.9\nserver c.example.com\n"
	if err := os.WriteFile(conf, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		i := Inspector{Scope: inspect.Scope{Files: inspect.Files{Root: root}, Unseen: &inspect.Unseen{}}}
		i.Lookup = func(ctx context.Context, name string) ([]netip.Addr, error) {
			if name == "c.example.com" {
				return []netip.Addr{netip.MustParseAddr("::ffff:192.0.2.7")}, nil
			}
			<-ctx.Done()
			return nil, ctx.Err()
		}
		i.Time = func(context.Context, netip.Addr) (time.Duration, error) { return 0, nil }
		begun := time.Now()
		var asked []string
		for _, clock := range i.Clocks(t.Context(), nil) {
			asked = append(asked, clock.Host)
		}
		if !slices.Equal(asked, []string{"192.0.2.7", "192.0.2.9"}) {
			t.Errorf("clocks of %v", asked)
		}
		if took := time.Since(begun); took != inspect.ProbeTimeout {
			t.Errorf("two silent names took %s, one lookup %s", took, inspect.ProbeTimeout)
		}
	})
}
