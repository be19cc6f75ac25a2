package daemons

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// keepalive is keepalived on a host, ended with the test.
type keepalive struct {
	t    *testing.T
	conf string
	hup  func()
	end  func() // asks it to end in order
}

func start(t *testing.T, host *lab.Host, config keepalived.Config) keepalive {
	t.Helper()
	return startText(t, host, keepalived.Render(config))
}

func startText(t *testing.T, host *lab.Host, config []byte) keepalive {
	t.Helper()
	dir := t.TempDir()
	k := keepalive{t: t, conf: filepath.Join(dir, "keepalived.conf")}
	if err := os.WriteFile(k.conf, config, 0o644); err != nil {
		t.Fatal(err)
	}
	log, err := os.Create(filepath.Join(dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	cmd := host.Contained(context.WithoutCancel(t.Context()), need.Command(t, "keepalived"), "--dont-fork", "--log-console", "--log-detail", "--vrrp",
		"--use-file", k.conf, "--pid", filepath.Join(dir, "pid"), "--vrrp_pid", filepath.Join(dir, "vrrp.pid"))
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		t.Fatalf("start keepalived: %v", err)
	}
	k.hup = func() {
		if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatalf("reload keepalived: %v", err)
		}
	}
	k.end = func() { _ = cmd.Process.Signal(syscall.SIGTERM) } // it may be gone
	t.Cleanup(func() {
		k.end()
		_ = cmd.Wait()
		_ = log.Close()
		if text, err := os.ReadFile(log.Name()); t.Failed() && err == nil {
			t.Logf("keepalived on %s:\n%s", host.Name, text)
		}
	})
	return k
}

func (k keepalive) write(config keepalived.Config) {
	k.t.Helper()
	if err := os.WriteFile(k.conf, keepalived.Render(config), 0o644); err != nil {
		k.t.Fatal(err)
	}
}

// fast is one instance with ten adverts a second, so that a test need not wait for seconds.
func fast(vip, source string, priority vrrp.Priority, peers ...netip.Addr) keepalived.Config {
	i := keepalived.Instance{
		Name: "ostest_API_0", Interface: "eth0", ID: 14, Version: vrrp.V3, Priority: priority, Advert: 100 * time.Millisecond,
		Peers: peers, VIP: netip.MustParseAddr(vip),
	}
	if source != "" {
		i.Source = netip.MustParseAddr(source)
	}
	return keepalived.Config{Instances: []keepalived.Instance{i}}
}

// TestReload is what the bootstrap machine does when it hears of the first node: it spoke to the
// multicast group as if that were a peer, now it speaks to the node. It stays the holder all the
// time, and a node that listens in multicast mode until then is held down too.
func TestReload(t *testing.T) {
	for _, tt := range []struct{ name, vip, prefix, bootstrap, node string }{
		{name: "IPv4", vip: "192.0.2.5", prefix: "/24", bootstrap: "192.0.2.10", node: "192.0.2.11"},
		{name: "IPv6", vip: "2001:db8::5", prefix: "/64", bootstrap: "2001:db8::10", node: "2001:db8::11"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			vip, l := netip.MustParseAddr(tt.vip), lab.New(t)
			a, b := add(t, l, "bootstrap", tt.bootstrap+tt.prefix), add(t, l, "node", tt.node+tt.prefix)
			waitLinkLocal(ctx, t, a, b)
			observer, err := lab.Observe(vip, 5*time.Millisecond, a, b)
			if err != nil {
				t.Fatal(err)
			}
			defer observer.Stop()

			bootstrap := start(t, a, fast(tt.vip, tt.bootstrap, 70, keepalived.Group(vip)))
			if _, err := observer.Wait(ctx, "bootstrap"); err != nil {
				t.Fatal(err)
			}
			node := start(t, b, fast(tt.vip, "", 68))
			time.Sleep(time.Second) // more than two master down times

			// The node must be in unicast mode before the bootstrap machine is no longer heard in
			// multicast.
			node.write(fast(tt.vip, tt.node, 68, netip.MustParseAddr(tt.bootstrap)))
			bootstrap.write(fast(tt.vip, tt.bootstrap, 70, keepalived.Group(vip), netip.MustParseAddr(tt.node)))
			bootstrap.hup()
			node.hup()
			time.Sleep(time.Second) // nothing tells that a reload is over: adverts go out in the new mode
			bootstrap.write(fast(tt.vip, tt.bootstrap, 70, netip.MustParseAddr(tt.node)))
			bootstrap.hup()
			time.Sleep(time.Second) // as above
			report := observer.Stop()
			if report.Err != nil {
				t.Fatal(report.Err)
			}
			for _, span := range slices.Concat(report.Gaps(), report.Doubles()) {
				t.Errorf("held by %v for %s", span.Holders, span.Length())
			}
			if last := report.Spans[len(report.Spans)-1].Holders; !slices.Equal(last, []string{"bootstrap"}) {
				t.Errorf("held by %v in the end", last)
			}
		})
	}
}

// waitLinkLocal waits until IPv6 multicast has an address to come from.
func waitLinkLocal(ctx context.Context, t *testing.T, hosts ...*lab.Host) {
	t.Helper()
	for _, host := range hosts {
		for {
			out, err := host.Command(ctx, "ip", "-o", "-6", "address", "show", "dev", "eth0", "scope", "link", "-tentative").Output()
			if err != nil {
				t.Fatal(err)
			}
			if len(out) > 0 {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
}

// TestAddress holds how a VIP stands on its interface: with its label whatever the interface is
// called (K-06), and without an effect on routes or on the source address of anything the host
// sends (K-07).
func TestAddress(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := lab.New(t)
	host := add(t, l, "node", "192.0.2.10/24", "2001:db8::10/64")
	ip := func(args string) string {
		t.Helper()
		out, err := host.Command(ctx, "ip", strings.Fields(args)...).CombinedOutput()
		if err != nil {
			t.Fatalf("ip %s: %v\n%s", args, err, out)
		}
		return string(out)
	}
	waitLinkLocal(ctx, t, host)
	ip("link set eth0 down")
	ip("link set eth0 name a-name-of-15-ch")
	ip("link set a-name-of-15-ch up")
	ip("address replace 2001:db8::10/64 dev a-name-of-15-ch nodad") // IPv6 addresses went with the link
	ip("route add default via 192.0.2.1")
	ip("route add default via 2001:db8::1")
	seen := func() string {
		return ip("route show table main") + ip("-6 route show table main") + ip("route get 198.51.100.1") + ip("route get 192.0.2.99") +
			ip("route get 2001:db8:1::1") + ip("route get 2001:db8::99")
	}
	before := seen()
	config := keepalived.Config{Instances: slices.Concat(
		fast("192.0.2.5", "192.0.2.10", 70, netip.MustParseAddr("192.0.2.11")).Instances,
		fast("2001:db8::5", "2001:db8::10", 70, netip.MustParseAddr("2001:db8::11")).Instances)}
	for i := range config.Instances {
		config.Instances[i].Interface = "a-name-of-15-ch"
	}
	config.Instances[1].Name = "ostest_API_1"
	start(t, host, config)
	for _, vip := range []string{"192.0.2.5", "2001:db8::5"} {
		observer, err := lab.Observe(netip.MustParseAddr(vip), 5*time.Millisecond, host)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := observer.Wait(ctx, "node"); err != nil {
			t.Fatal(err)
		}
		observer.Stop()
	}
	if after := seen(); after != before {
		t.Errorf("the VIPs change what the host does; before\n%safter\n%s", before, after)
	}
	if got := ip("-4 -o address show label vip"); !strings.Contains(got, " 192.0.2.5/32 ") {
		t.Errorf("no address has the label vip: %s", got)
	}
	if got := ip("-6 -o address show deprecated"); !strings.Contains(got, " 2001:db8::5/128 ") {
		t.Errorf("the IPv6 VIP may be a source address: %s", got)
	}
}
