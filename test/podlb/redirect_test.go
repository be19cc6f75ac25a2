package podlb

import (
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// answers are who answers a client's next requests.
func (w *world) answers(from *lab.Host, url string) map[string]int {
	client := w.http(from, 2*time.Second)
	var all []request
	for range 12 {
		all = append(all, ask(client, url))
	}
	return by(all)
}

// TestRedirect holds H-17, H-18 and H-24: whoever asks the VIP, wherever from, is balanced, and
// nobody reaches the closed port but by it.
func TestRedirect(t *testing.T) {
	w := three(t)
	m1, m2 := w.hosts["m1"], w.hosts["m2"]
	// A pod behind the holder, and one behind a node that has the rules and not the VIP.
	w.ip(m1, "address add 10.128.0.1/24 dev eth0")
	w.ip(m2, "address add 10.129.0.1/24 dev eth0")
	w.ip(m1, "route add 10.129.0.0/24 via 192.0.2.11")
	w.forward(m2)
	pod, far := w.add("pod", "10.128.0.2/24"), w.add("far", "10.129.0.2/24")
	for host, gateway := range map[*lab.Host]string{pod: "10.128.0.1", far: "10.129.0.1"} {
		if err := host.Route(netip.MustParseAddr(gateway)); err != nil {
			t.Fatal(err)
		}
	}
	rules := redirect.Of(w.plan.VIPs.API, w.plan.MachineNetworks, w.plan.Ports)
	if err := m2.Do(func() error { _, err := nft.Ensure(rules); return err }); err != nil {
		t.Fatal(err)
	}
	if err := m1.Do(func() error { return presence(rules, true) }); err != nil {
		t.Fatal(err)
	}
	const api, mcs = "https://%s:6443/who", "https://%s:22623/who"
	for _, tt := range []struct {
		name     string
		from     *lab.Host
		url, vip string
		balanced bool
	}{
		{"a client outside", w.client, api, vip, true},
		{"a client outside, IPv6", w.client, api, "[" + vip6 + "]", true},
		{"the holder itself", m1, api, vip, true},
		{"the holder itself, IPv6", m1, api, "[" + vip6 + "]", true},
		{"another node", m2, api, vip, true},
		{"another node, IPv6", m2, api, "[" + vip6 + "]", true},
		{"a pod on the holder", pod, api, vip, true},
		{"a pod on another node", far, api, vip, true},
		{"a client of the node's own address", w.client, api, "192.0.2.10", false},
		{"a machine that boots", w.client, mcs, vip, true},
		{"a machine that boots, IPv6", w.client, mcs, "[" + vip6 + "]", true},
		{"the holder, for an Ignition document", m1, mcs, vip, true},
		{"a pod on the holder, for an Ignition document", pod, mcs, vip, false},
		{"a pod on another node, for an Ignition document", far, mcs, vip, false},
	} {
		n := w.answers(tt.from, fmt.Sprintf(tt.url, tt.vip))
		if balanced := len(n) == 3 && n["failed"] == 0; balanced != tt.balanced || n["failed"] > 0 || !tt.balanced && n["m1"] != 12 {
			t.Errorf("%s: %v, balanced must be %t", tt.name, n, tt.balanced)
		}
	}
	for name, from := range map[string]*lab.Host{"pod": pod, "a pod on another node": far, "another host": w.client, "another node": m2, "the node itself": m1} {
		for _, address := range []string{"192.0.2.10", vip} {
			if err := dialled(t, from, address+":9446"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("%s dials %s:9446: %v, want it refused", name, address, err)
			}
		}
	}
	if err := dialled(t, w.client, "["+vip6+"]:9446"); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("IPv6: %v, want it refused", err)
	}
	w.withoutFilter(far)
}

// withoutFilter stops the monitor, takes the packet filter's rules away, and expects that HAProxy
// alone serves nobody at the closed port, and that a pod far on a node which has the rules reaches
// the holder's own API server: only where the VIP is may anything be redirected.
func (w *world) withoutFilter(far *lab.Host) {
	w.t.Helper()
	if err := w.node.Signal("haproxy/haproxy-monitor", syscall.SIGSTOP); err != nil {
		w.t.Fatal(err)
	}
	if err := w.hosts["m1"].Do(func() error { _, err := nft.Ensure(redirect.Rules{}); return err }); err != nil {
		w.t.Fatal(err)
	}
	if n := w.answers(w.client, "https://192.0.2.10:9446/who"); n["failed"] != 12 {
		w.t.Errorf("without the packet filter HAProxy serves: %v", n)
	}
	if n := w.answers(far, "https://"+vip+":6443/who"); n["m1"] != 12 {
		w.t.Errorf("a pod on another node is redirected there: %v", n)
	}
	if err := w.node.Signal("haproxy/haproxy-monitor", syscall.SIGCONT); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) forward(host *lab.Host) {
	w.t.Helper()
	if out, err := host.Command(w.t.Context(), "sh", "-c", "echo 1 >/proc/sys/net/ipv4/ip_forward").CombinedOutput(); err != nil {
		w.t.Fatalf("%v %s", err, out)
	}
}

func presence(rules redirect.Rules, want bool) error {
	got, err := nft.Present(rules)
	if err == nil && got != want {
		err = fmt.Errorf("the rules are there: %t, want %t", got, want)
	}
	return err
}

func dialled(t *testing.T, from *lab.Host, address string) error {
	conn, err := from.Dial(t.Context(), "tcp", address)
	if err == nil {
		conn.Close()
	}
	return err
}

// TestDegraded ends HAProxy, hangs it and ends its monitor: the VIP goes to the node's own API
// server at once, and back.
func TestDegraded(t *testing.T) {
	w := three(t)
	rules := redirect.Of(w.plan.VIPs.API, w.plan.MachineNetworks, w.plan.Ports)
	l := w.load(w.client, "https://"+vip+":6443/who", 5*time.Second)
	time.Sleep(300 * time.Millisecond)
	w.step("HAProxy killed", func() {
		at := time.Now()
		w.haproxySignal(syscall.SIGKILL)
		off := w.within("the redirect is off", 5*time.Second, func() bool { return w.hosts["m1"].Do(func() error { return presence(rules.Off(), true) }) == nil })
		w.within("the redirect is on", 20*time.Second, func() bool { return w.hosts["m1"].Do(func() error { return presence(rules, true) }) == nil })
		on := time.Since(at)
		time.Sleep(500 * time.Millisecond)
		dark, bad := outage(l.since(at.Add(-50 * time.Millisecond)))
		t.Logf("the redirect is off after %v, on again after %v; %d requests failed, at most %v without a good one", off, on.Round(time.Millisecond), bad, dark)
		if dark > 900*time.Millisecond { // until HAProxy serves again it would be more than a second
			t.Errorf("%v without an answer", dark)
		}
	})
	w.step("HAProxy hangs", func() {
		w.up(3)
		within, at := w.bounded("lb-hang"), time.Now()
		w.haproxySignal(syscall.SIGSTOP)
		off := w.within("the redirect is off", 10*time.Second, func() bool { return w.hosts["m1"].Do(func() error { return presence(rules.Off(), true) }) == nil })
		late, most := time.Now(), within()
		time.Sleep(time.Second) // requests that must all be served
		none(t, "the node's own server answers", late, l.since(late))
		w.haproxySignal(syscall.SIGCONT)
		w.within("the redirect is on", 10*time.Second, func() bool { return w.hosts["m1"].Do(func() error { return presence(rules, true) }) == nil })
		t.Logf("the redirect is off after %v, of %v", off.Round(time.Millisecond), most.Round(time.Millisecond))
		probe := w.plan.Timing.Model.Redirect
		if least := time.Duration(probe.Fall-1) * probe.Timeout; off > most || late.Sub(at) < least {
			t.Errorf("off after %v, want %v at most: one late probe must not do it, and %d must", off, most, probe.Fall)
		}
	})
	w.step("monitor ended", func() {
		w.up(3)
		watches := w.watches(10, "https://"+vip+":6443/watch")
		time.Sleep(300 * time.Millisecond)
		at := time.Now()
		if err := w.node.Signal("haproxy/haproxy-monitor", syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		off := w.within("the redirect is off", 5*time.Second, func() bool { return w.hosts["m1"].Do(func() error { return presence(rules, true) }) != nil })
		for _, address := range []string{vip, "[" + vip6 + "]"} {
			if err := dialled(t, w.client, address+":9446"); !errors.Is(err, syscall.ECONNREFUSED) {
				t.Errorf("without a monitor, %s:9446: %v, want it refused", address, err)
			}
		}
		w.within("the redirect is on", 30*time.Second, func() bool { return w.hosts["m1"].Do(func() error { return presence(rules, true) }) == nil })
		time.Sleep(200 * time.Millisecond)
		alive, _, _ := on(watches, "")
		t.Logf("the redirect is off %v after the monitor was told to end; %d of 10 watches live on", off, alive)
		if alive != len(watches) {
			t.Errorf("%d of %d watches live on", alive, len(watches))
		}
		none(t, "without a monitor", at, l.since(at))
	})
}

// haproxySignal sends a signal to every process of HAProxy: a stopped master alone stops nothing.
func (w *world) haproxySignal(s syscall.Signal) {
	w.t.Helper()
	master, err := w.node.PID("haproxy/haproxy")
	if err != nil {
		w.t.Fatal(err)
	}
	for _, pid := range append(children(w.t, master), master) {
		if err := syscall.Kill(pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
			w.t.Fatal(err)
		}
	}
}

// outage is the longest time between the starts of two requests that were served, and how many
// were not.
func outage(all []request) (longest time.Duration, bad int) {
	var last time.Time
	for _, r := range byStart(all) {
		if r.err != nil {
			bad++
			continue
		}
		if !last.IsZero() {
			longest = max(longest, r.start.Sub(last))
		}
		last = r.start
	}
	return longest, bad
}
