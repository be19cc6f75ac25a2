package routed

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// TestReadDrops holds which counters are read, and that another text is an error.
func TestReadDrops(t *testing.T) {
	text := "TcpExt: SyncookiesSent TCPMD5NotFound TCPMD5Unexpected TCPMD5Failure TCPMinTTLDrop\nTcpExt: 9 1 2 3 4\nIpExt: InNoRoutes\nIpExt: 5\n"
	if d, err := readDrops([]byte(text)); err != nil || d != (facts.Drops{TTL: 4, Unsigned: 1, Signed: 2, Differing: 3}) {
		t.Errorf("%+v, %v", d, err)
	}
	for _, wrong := range []string{"", "IpExt: a\n", "TcpExt: TCPMinTTLDrop\n", "TcpExt: TCPMinTTLDrop\nTcpExt: x\n"} {
		if d, err := readDrops([]byte(wrong)); err == nil {
			t.Errorf("%q: %+v", wrong, d)
		}
	}
	own, err := os.ReadFile("/proc/self/net/netstat")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := readDrops(own); err != nil || !strings.Contains(string(own), "TCPMinTTLDrop") {
		t.Errorf("this kernel: %v", err)
	}
	if i := HostProbes(); i.Pause < time.Second {
		t.Errorf("a router's next try may be after %v", i.Pause)
	}
}
