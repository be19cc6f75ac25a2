//go:build remote

package main

import (
	"errors"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/timingproof"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestProofText holds that a proof names what was late, and that only one which allows the timing
// has the line for cluster.yaml.
func TestProofText(t *testing.T) {
	fast, _ := vrrp.TimingOf(vrrp.ProfileFast)
	p := timingproof.Proof{Host: "master-0", Lasted: time.Minute, RealTime: true,
		Thread: timingproof.Lateness{Times: 6000, P999: 200 * time.Microsecond, Most: 900 * time.Microsecond},
		Senders: []timingproof.Sender{{Address: netip.MustParseAddr("192.0.2.11"), Router: 14, Interval: 100 * time.Millisecond,
			Late: timingproof.Lateness{Times: 600, P999: time.Millisecond, Most: 1300 * time.Microsecond}}}}
	text := proofText(p, fast, p.Faults(fast))
	for _, want := range []string{"master-0, measured for 1m0s", "a real-time thread was late: 900µs at worst", "adverts of 192.0.2.11 (router 14, every 100ms) were late: 1.3ms at worst",
		"timing fast bears 104ms", "timingProof:\n    master-0: 1300\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %q:\n%s", want, text)
		}
	}
	p.Senders[0].Late.Most = 90 * time.Millisecond
	if text := proofText(p, fast, p.Faults(fast)); strings.Contains(text, "timingProof") || !strings.Contains(text, "90ms at worst") {
		t.Errorf("of a host that was late:\n%s", text)
	}
	var exit exitError
	for _, format := range []string{"text", "json"} {
		if err := printProof(streams{out: fullDisk{}}, p, format); !errors.Is(err, syscall.ENOSPC) || errors.As(err, &exit) {
			t.Errorf("%s on a full disk: %v", format, err)
		}
	}
}

// TestTimingProof_Flag holds that the flag may stand alone, or with a time in either form, and that
// nothing beside it is ignored. There is no file of a cluster: what is accepted ends with that.
func TestTimingProof_Flag(t *testing.T) {
	for _, tt := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{"--timing-proof"}, exitHost, "name the description of its future cluster with -c"},
		{[]string{"--timing-proof", "2m"}, exitHost, "name the description of its future cluster with -c"},
		{[]string{"--timing-proof=2m", "--quiet"}, exitHost, "name the description of its future cluster with -c"},
		{[]string{"--timing-proof=-5s"}, exitUsage, "--timing-proof -5s is no time to measure in: write one such as 1m"},
		{[]string{"--timing-proof=0"}, exitUsage, "--timing-proof 0s is no time to measure in"},
		{[]string{"--timing-proof", "soon"}, exitUsage, `"soon"`},
		{[]string{"--timing-proof", "1m", "2m"}, exitUsage, `"1m"`},
		{[]string{"--timing-proof=2m", "3m"}, exitUsage, `"3m"`},
		{[]string{"1m"}, exitUsage, `"1m"`},
		{[]string{"--timing-proof", "--peer", "192.0.2.22"}, exitUsage, "--timing-proof only measures how late things are: leave --peer out"},
		{[]string{"--timing-proof", "--provisioning"}, exitUsage, "leave --provisioning out"},
	} {
		o := invoke(t, "", append([]string{"doctor"}, tt.args...)...)
		if o.code != tt.code || !strings.Contains(o.err, tt.want) {
			t.Errorf("%q: exit code %d, %q", tt.args, o.code, o.err)
		}
	}
}
