package daemons

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestHangingCheck holds K-44 on a real keepalived: a check that never returns counts as failed
// after its time limit, and the next one does not start beside it. keepalived of old never ended a
// script; the limit is a program's of its own.
func TestHangingCheck(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	dir, vip := t.TempDir(), netip.MustParseAddr("192.0.2.5")
	// The first two looks are good and fast, all others hang and ask not to be ended.
	script := fmt.Sprintf(`#!/bin/sh
echo "$(date +%%s.%%N) $$" >>%[1]s/looks
[ "$(wc -l <%[1]s/looks)" -le 2 ] && exit 0
trap '' HUP INT
sleep 1000 &
wait
`, dir)
	if err := os.WriteFile(filepath.Join(dir, "check"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	host := add(t, lab.New(t), "node", "192.0.2.10/24")
	observer, err := lab.Observe(vip, 5*time.Millisecond, host)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Stop()
	config := fast(vip.String(), "192.0.2.10", 40, keepalived.Group(vip))
	config.Checks = []keepalived.Check{{Name: "lb", Command: keepalived.Path(filepath.Join(dir, "check")), Interval: time.Second, Timeout: 900 * time.Millisecond, Rise: 1, Fall: 2}}
	config.Instances[0].Checks = append(config.Instances[0].Checks, "lb")
	start(t, host, config)
	if _, err := observer.Wait(ctx, "node"); err != nil {
		t.Fatal(err)
	}
	held := time.Now()
	if _, err := observer.Wait(ctx); err != nil { // the check decides: without a weight its failure is a fault
		t.Fatalf("a check that hangs costs nothing: %v", err)
	}
	t.Logf("the VIP left %s after it was taken", time.Since(held).Round(100*time.Millisecond))
	time.Sleep(2 * time.Second) // checks that nobody ends would pile up
	probes, err := os.ReadFile(filepath.Join(dir, "looks"))
	if err != nil {
		t.Fatal(err)
	}
	alive := 0
	for line := range strings.Lines(string(probes)) {
		if _, err := os.Stat("/proc/" + strings.Fields(line)[1]); err == nil {
			alive++
		}
	}
	if n := strings.Count(string(probes), "\n"); n < 5 || alive > 1 {
		t.Errorf("%d looks, of which %d are alive: want one after the other", n, alive)
	}
}
