package podlb

import (
	"bufio"
	"fmt"
	"io"
	"net/netip"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestEstablished holds that a connection which was redirected once stays so, whatever becomes of
// the rules.
func TestEstablished(t *testing.T) {
	l := lab.New(t)
	var hosts []*lab.Host
	for _, address := range []string{"192.0.2.10/24", "192.0.2.100/24"} {
		host, err := l.Add(fmt.Sprint("host", len(hosts)), netip.MustParsePrefix(address))
		if err != nil {
			t.Fatal(err)
		}
		hosts = append(hosts, host)
	}
	listener, err := hosts[0].Listen(":9445")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		if conn, err := listener.Accept(); err == nil {
			defer conn.Close()
			_, _ = io.Copy(conn, conn) // until the client goes
		}
	}()
	vip := netip.MustParseAddr("192.0.2.10")
	on := redirect.Rules{Redirects: []redirect.Redirect{{VIP: vip, From: 6443, To: 9445}}, Closed: []redirect.Closed{{Port: 9446, For: 22623, VIPs: []netip.Addr{vip}}}}
	ensure := func(r redirect.Rules) func() error { return func() error { _, err := nft.Ensure(r); return err } }
	if err := hosts[0].Do(ensure(on)); err != nil {
		t.Fatal(err)
	}
	conn, err := hosts[1].Dial(t.Context(), "tcp", "192.0.2.10:6443")
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	lines := bufio.NewReader(conn)
	for _, step := range []struct {
		name string
		do   func() error
	}{{"on", ensure(on)}, {"off", ensure(on.Off())}, {"on again", ensure(on)}, {"nothing at all", ensure(redirect.Rules{})}, {"on after that", ensure(on)}} {
		if err := hosts[0].Do(step.do); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetDeadline(time.Now().Add(2 * time.Second))
		fmt.Fprintln(conn, step.name)
		if text, err := lines.ReadString('\n'); err != nil || text != step.name+"\n" {
			t.Fatalf("%s: the connection says %q, %v", step.name, text, err)
		}
	}
}
