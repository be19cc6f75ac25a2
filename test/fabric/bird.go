package fabric

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// bird runs BIRD 2 on a host until the end of the test.
func (f *Fabric) bird(on *lab.Host, config string) {
	t := f.t
	t.Helper()
	program := need.Command(t, "bird")
	dir := t.TempDir()
	path, log := filepath.Join(dir, "bird.conf"), filepath.Join(dir, "log")
	f.must(os.WriteFile(path, []byte(fmt.Sprintf("log %q all;\n%s", log, config)), 0o644))
	ctx, cancel := context.WithCancel(context.Background())
	cmd := on.Command(ctx, program, "-f", "-c", path, "-s", filepath.Join(dir, "ctl"), "-P", filepath.Join(dir, "pid"))
	var printed strings.Builder
	cmd.Stderr = &printed
	f.must(cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // it was killed
		if t.Failed() {
			text, err := os.ReadFile(log)
			t.Logf("BIRD on %s: %v\n%s\n%s", on.Name, err, text, printed.String())
		}
	})
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		if _, err := os.Stat(filepath.Join(dir, "ctl")); err == nil {
			break
		} else if time.Since(begun) > 20*time.Second {
			t.Fatalf("BIRD on %s: %v", on.Name, err)
		}
	}
	attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_RR, Priority: 10}
	if err := unix.SchedSetAttr(cmd.Process.Pid, &attr, 0); err != nil { // as a switch, which does this in hardware
		t.Logf("BIRD on %s is not real-time: %v", on.Name, err)
	}
}

// birdConfig is the configuration of a leaf that is BIRD: the same as that of one which is FRR. BIRD
// waits a minute after an error of a session, BFD's among them, unless it is told not to.
func (f *Fabric) birdConfig(i int) string {
	four, six := RackAddress(i+1, 1)
	bfd, used := "", "off"
	if f.timing.BFD != (bgp.BFD{}) {
		ms := f.timing.BFD.Interval.Milliseconds()
		used = "on"
		bfd = fmt.Sprintf("protocol bfd { interface \"*\" { min rx interval %d ms; min tx interval %d ms; multiplier %d; }; }\n",
			ms, ms, f.timing.BFD.Multiplier)
	}
	text := fmt.Sprintf(`router id 10.0.%d.2;
debug protocols { states, events };
%sprotocol device { scan time 1; }
protocol direct { ipv4; ipv6; interface "eth0"; }
template bgp session {
	local as %d;
	hold time %d; keepalive time %d;
	connect delay time 1; connect retry time 1; error wait time 1, 2;
	bfd %s;
}
`, i+1, bfd, asn(i), int(f.timing.Hold.Seconds()), int(f.timing.Keepalive.Seconds()), used)
	toHosts := ""
	if f.password != "" {
		toHosts += fmt.Sprintf("password %q; ", f.password)
	}
	if f.security {
		toHosts += "ttl security on; "
	}
	for family, rack := range []netip.Prefix{four.Masked(), six.Masked()} {
		word := []string{"ipv4", "ipv6"}[family]
		spine := []string{fmt.Sprintf("10.0.%d.1", i+1), fmt.Sprintf("2001:db8:0:%d::1", i+1)}[family]
		text += fmt.Sprintf(`protocol kernel { %[1]s { import none; export where source = RTS_BGP; }; merge paths on limit %[2]d; }
protocol bgp spine_%[1]s from session { neighbor %[3]s as %[4]d; %[1]s { import all; export all; }; }
protocol bgp hosts_%[1]s from session { neighbor range %[5]s as %[6]d; dynamic name "host_%[1]s_"; %[7]s%[1]s { import all; export all; }; }
`, word, f.paths, spine, SpineASN, rack, Hosts, toHosts)
	}
	return text
}
