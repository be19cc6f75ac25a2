package daemons

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestTogether holds K-21 on real keepalived: both families of a VIP are on one node. Each node's
// IPv6 instance has a check of its own besides, which no product has, so that one family alone can
// fail: the other moves with it, and comes back with it. Health that the group tracks counts for
// both, and so does leaving.
func TestTogether(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := lab.New(t)
	a, b := add(t, l, "a", "192.0.2.11/24", "2001:db8::11/64"), add(t, l, "b", "192.0.2.12/24", "2001:db8::12/64")
	waitLinkLocal(ctx, t, a, b)
	var observers []*lab.Observer
	for _, vip := range []string{"192.0.2.5", "2001:db8::5"} {
		o, err := lab.Observe(netip.MustParseAddr(vip), 5*time.Millisecond, a, b)
		if err != nil {
			t.Fatal(err)
		}
		defer o.Stop()
		observers = append(observers, o)
	}
	both := func(what string, holders ...string) {
		t.Helper()
		for _, o := range observers {
			if _, err := o.Wait(ctx, holders...); err != nil {
				t.Fatalf("%s: %v", what, err)
			}
		}
	}
	dirs := map[string]string{"a": t.TempDir(), "b": t.TempDir()}
	track := func(host, file, text string) { put(t, filepath.Join(dirs[host], file), text+"\n") }
	node := func(host string, self, peer int) keepalived.Config {
		file := func(name string) keepalived.Path { return keepalived.Path(filepath.Join(dirs[host], name)) }
		four := fast("192.0.2.5", fmt.Sprintf("192.0.2.%d", self), 40, netip.MustParseAddr(fmt.Sprintf("192.0.2.%d", peer))).Instances[0]
		six := fast("2001:db8::5", fmt.Sprintf("2001:db8::%d", self), 40, netip.MustParseAddr(fmt.Sprintf("2001:db8::%d", peer))).Instances[0]
		six.Name, four.Grouped, six.Tracks = "ostest_API_1", true, []vrrp.CheckName{"six"}
		return keepalived.Config{
			Leave:     file("leave"),
			Tracks:    []keepalived.Track{{Name: "lb", File: file("lb"), Weight: 20}, {Name: "six", File: file("six")}},
			Groups:    []keepalived.SyncGroup{{Name: "VG_API", Members: []vrrp.InstanceName{four.Name, six.Name}, Tracks: []vrrp.CheckName{"lb"}}},
			Instances: []keepalived.Instance{four, six},
		}
	}
	for _, host := range []string{"a", "b"} {
		track(host, "six", "1")
		track(host, "leave", "0")
	}
	track("a", "lb", "1")
	track("b", "lb", "0")
	// The IPv6 instance tracks for itself beside its group, and so leave a second time, which would
	// count twice.
	config := func(host string, self, peer int) []byte { return keepalived.Render(node(host, self, peer)) }
	startText(t, a, withoutLeave(config("a", 11, 12)))
	startText(t, b, withoutLeave(config("b", 12, 11)))
	both("a balances", "a")
	track("a", "six", "0")
	both("one family of a fails", "b")
	track("a", "six", "1")
	both("and works again", "a")
	track("b", "lb", "1")
	track("a", "lb", "0")
	both("b balances, a does not", "b")
	track("b", "leave", "1")
	both("b leaves", "a")
}

// withoutLeave takes the last mention of leave out of a configuration.
func withoutLeave(config []byte) []byte {
	const line = "        leave\n"
	text := string(config)
	for i := len(text) - len(line); i >= 0; i-- {
		if text[i:i+len(line)] == line {
			return []byte(text[:i] + text[i+len(line):])
		}
	}
	return config
}

// TestRouters is the ingress VIP among nodes with and without routers (K-50, K-51, K-52): nobody
// has it where no router answers, it goes where the default router is whatever else runs, stays
// while all of them drain, and moves to the one that is ready.
func TestRouters(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := lab.New(t)
	hosts := map[string]*lab.Host{"a": add(t, l, "a", "192.0.2.11/24"), "b": add(t, l, "b", "192.0.2.12/24"), "c": add(t, l, "c", "192.0.2.13/24")}
	observer, err := lab.Observe(netip.MustParseAddr("192.0.2.6"), 5*time.Millisecond, hosts["a"], hosts["b"], hosts["c"])
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Stop()
	policy := vrrp.Compat().Ingress
	dirs, self := map[string]string{}, map[string]string{"a": "192.0.2.11", "b": "192.0.2.12", "c": "192.0.2.13"}
	set := func(host string, s vrrp.Signals) {
		t.Helper()
		for _, w := range policy.Weights {
			text := "0\n"
			if s.Passes(w.Check) {
				text = "1\n"
			}
			put(t, filepath.Join(dirs[host], string(w.Check)), text)
		}
	}
	for name, host := range hosts {
		dirs[name] = t.TempDir()
		set(name, vrrp.Signals{})
		config := fast("192.0.2.6", self[name], policy.Base)
		for other, address := range self {
			if other != name {
				config.Instances[0].Peers = append(config.Instances[0].Peers, netip.MustParseAddr(address))
			}
		}
		for _, w := range policy.Weights {
			config.Tracks = append(config.Tracks, keepalived.Track{Name: w.Check, File: keepalived.Path(filepath.Join(dirs[name], string(w.Check))), Weight: w.Adds})
			config.Instances[0].Tracks = append(config.Instances[0].Tracks, w.Check)
		}
		config.Instances[0].Known, config.Instances[0].Near = true, true
		start(t, host, config)
	}
	wait := func(what string, holders ...string) {
		t.Helper()
		if _, err := observer.Wait(ctx, holders...); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		time.Sleep(time.Second) // more than two master down times: it stays
		if now := observer.Holders(); fmt.Sprint(now) != fmt.Sprint(holders) {
			t.Fatalf("%s: held by %v", what, now)
		}
	}
	router := vrrp.Signals{Router: true, RouterReady: true}
	standard, draining := vrrp.Signals{Router: true, RouterReady: true, DefaultRouter: true}, vrrp.Signals{Router: true, DefaultRouter: true}
	wait("no router anywhere")
	set("c", router)
	wait("some router", "c")
	set("a", standard)
	wait("the default router", "a")
	set("b", draining)
	wait("another default router, which drains", "a")
	set("a", draining)
	set("c", vrrp.Signals{})
	time.Sleep(time.Second) // a second holder would be there within it
	if now := observer.Holders(); len(now) != 1 {
		t.Fatalf("all routers drain: held by %v", now)
	}
	holder := observer.Holders()[0]
	other := map[string]string{"a": "b", "b": "a"}[holder]
	set(other, standard)
	wait("one of them is ready", other)
	set("a", vrrp.Signals{})
	set("b", vrrp.Signals{})
	wait("all routers gone")
	if err := os.RemoveAll(dirs["c"]); err != nil {
		t.Fatal(err)
	}
}
