package routed

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestSetting holds, in a network of its own, that the kernel's setting of one link or of all is read: one
// of the two is enough.
func TestSetting(t *testing.T) {
	const inside = "ONPREM_INFRA_TEST_SETTING"
	if os.Getenv(inside) == "" {
		need.Root(t)
		cmd := exec.CommandContext(t.Context(), "unshare", "--net", "--mount", "sh", "-c", `mount -t sysfs sysfs /sys 2>/dev/null; exec "$0" -test.run '^TestSetting$'`, os.Args[0])
		cmd.Env = append(os.Environ(), inside+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || strings.Contains(string(out), "no tests to run") {
			t.Errorf("%v: %s", err, out)
		}
		return
	}
	for _, tt := range []struct{ all, lo string }{{"0", "0"}, {"1", "0"}, {"0", "1"}} {
		for name, value := range map[string]string{"all": tt.all, "lo": tt.lo} {
			if err := os.WriteFile("/proc/sys/net/ipv4/conf/"+name+"/ignore_routes_with_linkdown", []byte(value), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := usedDown("lo"); err != nil || got != (tt.all == "0" && tt.lo == "0") {
			t.Errorf("%+v: %t, %v", tt, got, err)
		}
	}
	if got, err := usedDown("none"); err == nil || got {
		t.Errorf("no link: %t, %v", got, err)
	}
}
