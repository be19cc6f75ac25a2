package daemons

import (
	"context"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// put replaces a file whole, as the monitor does.
func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

// damage are the ways in which a tracked file is lost.
var damage = map[string]func(t *testing.T, path string){
	"deleted": func(t *testing.T, path string) {
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
	},
	"replaced by an empty one": func(t *testing.T, path string) { put(t, path, "") },
	"emptied": func(t *testing.T, path string) {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	},
	"garbled": func(t *testing.T, path string) { put(t, path, "\x00\xffgarbage 1\n") },
	"0":       func(t *testing.T, path string) { put(t, path, "0\n") },
}

// tracked is a config of one instance that tracks one file.
func tracked(name, source string, base vrrp.Priority, file string, weight int, peers ...netip.Addr) keepalived.Config {
	config := fast("192.0.2.5", source, base, peers...)
	config.Tracks = []keepalived.Track{{Name: vrrp.CheckName(name), File: keepalived.Path(file), Weight: weight}}
	config.Instances[0].Tracks = []vrrp.CheckName{vrrp.CheckName(name)}
	return config
}

// TestTrackedBonus holds that a node's health is there while its tracked file says so, and gone
// when the file is lost in any way: the VIP then goes to a node that is between the base and the
// bonus.
func TestTrackedBonus(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := lab.New(t)
	a, b := add(t, l, "a", "192.0.2.11/24"), add(t, l, "b", "192.0.2.12/24")
	observer, err := lab.Observe(netip.MustParseAddr("192.0.2.5"), 5*time.Millisecond, a, b)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Stop()
	file := filepath.Join(t.TempDir(), "lb")
	start(t, b, fast("192.0.2.5", "192.0.2.12", 50, netip.MustParseAddr("192.0.2.11")))
	start(t, a, tracked("lb", "192.0.2.11", 40, file, 20, netip.MustParseAddr("192.0.2.12")))
	if _, err := observer.Wait(ctx, "b"); err != nil {
		t.Fatalf("no file, and the bonus is there: %v", err)
	}
	for how, harm := range damage {
		put(t, file, "1\n")
		if _, err := observer.Wait(ctx, "a"); err != nil {
			t.Fatalf("the file says 1: %v", err)
		}
		harm(t, file)
		if _, err := observer.Wait(ctx, "b"); err != nil {
			t.Fatalf("the file is %s, and the bonus stays: %v", how, err)
		}
	}
}

// TestTrackedFault holds that a tracked file without a weight puts the instance into FAULT when it
// says 0 and when it is lost in any way.
func TestTrackedFault(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	a := add(t, lab.New(t), "a", "192.0.2.11/24")
	observer, err := lab.Observe(netip.MustParseAddr("192.0.2.5"), 5*time.Millisecond, a)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Stop()
	file := filepath.Join(t.TempDir(), "ingress")
	start(t, a, tracked("ingress", "192.0.2.11", 20, file, 0, netip.MustParseAddr("192.0.2.12")))
	time.Sleep(time.Second) // more than two master down times
	if holders := observer.Holders(); len(holders) != 0 {
		t.Errorf("no file, and %v holds the VIP", holders)
	}
	for how, harm := range damage {
		put(t, file, "1\n")
		if _, err := observer.Wait(ctx, "a"); err != nil {
			t.Fatalf("the file says 1: %v", err)
		}
		harm(t, file)
		if _, err := observer.Wait(ctx); err != nil {
			t.Fatalf("the file is %s, and the VIP stays: %v", how, err)
		}
	}
}

// TestTrackedOverReload holds that a reload keeps what tracked files add: the priority on the wire
// never falls to the base in between, which would move the VIP.
func TestTrackedOverReload(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	l := lab.New(t)
	a, b := add(t, l, "a", "192.0.2.11/24"), add(t, l, "b", "192.0.2.12/24")
	observer, err := lab.Observe(netip.MustParseAddr("192.0.2.5"), 5*time.Millisecond, a, b)
	if err != nil {
		t.Fatal(err)
	}
	defer observer.Stop()
	file := filepath.Join(t.TempDir(), "lb")
	put(t, file, "1\n")
	peer := netip.MustParseAddr("192.0.2.12")
	holder := start(t, a, tracked("lb", "192.0.2.11", 40, file, 20, peer))
	if _, err := observer.Wait(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	start(t, b, fast("192.0.2.5", "192.0.2.12", 50, netip.MustParseAddr("192.0.2.11")))
	// What the monitor changes in the course of time: peers, and to whom it listens.
	for i := range 8 {
		config := tracked("lb", "192.0.2.11", 40, file, 20, peer)
		if i%2 == 0 {
			config.Instances[0].Peers = append(config.Instances[0].Peers, netip.MustParseAddr("192.0.2.13"))
		}
		config.Instances[0].Known, config.Instances[0].Near = i%4 < 2, i%4 == 1
		holder.write(config)
		holder.hup()
		time.Sleep(500 * time.Millisecond) // more than a master down time of the other
	}
	unmoved(t, observer.Stop(), "a")
}

// unmoved holds that the VIP, once held, stayed where it is.
func unmoved(t *testing.T, report lab.Report, holder string) {
	t.Helper()
	if report.Err != nil {
		t.Fatal(report.Err)
	}
	spans := slices.Clone(report.Spans)
	for len(spans) > 0 && len(spans[0].Holders) == 0 {
		spans = spans[1:]
	}
	if len(spans) != 1 || !slices.Equal(spans[0].Holders, []string{holder}) {
		t.Errorf("the VIP moved: %+v", spans)
	}
}

// TestKnown holds which adverts an instance accepts that knows its peers: an unknown router's and a
// peer's that came by a router change nothing. Before that they did: so hears the bootstrap machine
// whoever does not list it.
func TestKnown(t *testing.T) {
	for _, tt := range []struct {
		name        string
		known, near bool
		filtered    string  // the families of which the holder's kernel drops what has passed a router
		ids         vrrp.ID // of the filter, beyond the instance's
		sender      string  // of the adverts that outrank
		ttl         string  // that it sends with; empty for what keepalived does by itself
		six         bool
		moves       bool
	}{
		{name: "an unknown router, peers unknown", sender: "unknown", ttl: "255", moves: true},
		{name: "an unknown router, peers known", known: true, sender: "unknown", ttl: "255"},
		{name: "an unknown router by IPv6, peers known", known: true, sender: "unknown", ttl: "255", six: true},
		{name: "a peer", known: true, near: true, sender: "peer", ttl: "255", moves: true},
		{name: "a peer of today", known: true, near: true, sender: "peer", moves: true},
		{name: "a peer of today by IPv6", known: true, sender: "peer", six: true, moves: true},
		{name: "an unknown router by a router", sender: "unknown", ttl: "254", moves: true},
		{name: "an unknown router by a router, filtered", filtered: "4", sender: "unknown", ttl: "254"},
		{name: "a router of the user's own, filtered", filtered: "46", ids: 1, sender: "unknown", ttl: "64", six: true, moves: true},
		{name: "an unknown router of this network, filtered", filtered: "4", sender: "unknown", ttl: "255", moves: true},
		{name: "an unknown router by IPv6, IPv4 filtered", filtered: "4", sender: "unknown", six: true, moves: true},
		{name: "an unknown router by IPv6, filtered", filtered: "46", sender: "unknown", six: true},
		{name: "a peer by IPv6, filtered", filtered: "46", sender: "peer", ttl: "255", six: true, moves: true},
		{name: "a peer by a router", known: true, near: true, sender: "peer", ttl: "254"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			vip, net, bits := "192.0.2.5", "192.0.2.", "/24"
			if tt.six {
				vip, net, bits = "2001:db8::5", "2001:db8::", "/64"
			}
			senders := map[string]string{"peer": net + "12", "unknown": net + "13"}
			l := lab.New(t)
			holder, other := add(t, l, "holder", net+"11"+bits), add(t, l, tt.sender, senders[tt.sender]+bits)
			observer, err := lab.Observe(netip.MustParseAddr(vip), 5*time.Millisecond, holder, other)
			if err != nil {
				t.Fatal(err)
			}
			defer observer.Stop()
			config := fast(vip, net+"11", 60, netip.MustParseAddr(senders["peer"]))
			config.Instances[0].Known, config.Instances[0].Near = tt.known, tt.near
			far := nft.Far{}
			if strings.Contains(tt.filtered, "4") {
				far.IPv4 = []vrrp.ID{config.Instances[0].ID + tt.ids}
			}
			if strings.Contains(tt.filtered, "6") {
				far.IPv6 = []vrrp.ID{config.Instances[0].ID + tt.ids}
			}
			if tt.filtered != "" {
				if err := holder.Do(func() error { _, err := new(nft.FarFilter).Keep(far); return err }); err != nil {
					t.Fatal(err)
				}
			}
			start(t, holder, config)
			if _, err := observer.Wait(ctx, "holder"); err != nil {
				t.Fatal(err)
			}
			text := string(keepalived.Render(fast(vip, senders[tt.sender], 90, netip.MustParseAddr(net+"11"))))
			line := ""
			if tt.ttl != "" {
				line = "    unicast_ttl " + tt.ttl + "\n"
			}
			startText(t, other, []byte(strings.Replace(text, "    unicast_ttl 255\n", line, 1)))
			want := []string{tt.sender}
			if !tt.moves {
				want = []string{"holder", tt.sender} // it believes in itself, and nobody in it
			}
			slices.Sort(want)
			if _, err := observer.Wait(ctx, want...); err != nil {
				t.Fatal(err)
			}
			time.Sleep(500 * time.Millisecond) // some adverts
			if holders := observer.Holders(); !slices.Equal(holders, want) {
				t.Errorf("held by %v, want %v", holders, want)
			}
		})
	}
}
