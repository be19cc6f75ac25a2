package daemons

import (
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// listen is an ear on a host of the lab, until the test ends.
type listen struct {
	mu       sync.Mutex
	listener *clash.Observer
	received int
}

func listenOn(t *testing.T, host *lab.Host, i clash.Instance) *listen {
	t.Helper()
	l := &listen{listener: clash.NewObserver()}
	l.listener.Expect([]clash.Instance{i})
	ctx, cancel := context.WithCancel(context.WithoutCancel(t.Context()))
	done := make(chan error, 1)
	go func() {
		done <- host.Do(func() error {
			return capture.Adverts(ctx, i.Link, func(h capture.Received) {
				l.mu.Lock()
				defer l.mu.Unlock()
				l.listener.Receive(clash.Received{Link: i.Link, MAC: h.MAC.String(), At: h.At, Advert: h.Advert})
				l.received++
			})
		})
	}()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l
}

// wait waits until the ear has heard so many adverts, and returns what it makes of them.
func (l *listen) wait(t *testing.T, adverts int, within time.Duration) []clash.Finding {
	t.Helper()
	for begin := time.Now(); time.Since(begin) < within; time.Sleep(5 * time.Millisecond) {
		l.mu.Lock()
		if l.received >= adverts {
			defer l.mu.Unlock()
			return l.listener.Findings(time.Now())
		}
		l.mu.Unlock()
	}
	t.Fatalf("%d adverts were not heard within %v", adverts, within)
	return nil
}

// router is a foreign keepalived with router 30 for 192.0.2.77, or 2001:db8::77.
func router(source, vip string, version vrrp.Version, advert time.Duration, peers ...netip.Addr) keepalived.Config {
	c := fast(vip, source, 200, peers...)
	c.Instances[0].Version, c.Instances[0].Advert, c.Instances[0].ID = version, advert, 30
	if version == vrrp.V2 {
		c.Instances[0].AuthPass = "foreign"
	}
	return c
}

// TestForeignRouter_Named holds on real keepalived that a foreign router with our ID is named within
// three adverts: of both versions and families, by multicast and by unicast to us. Unicast to others
// is not received, and listening disturbs no unicast election. A router that sends unicast to a
// holder does disturb it: keepalived restarts the time to its next advert after each advert that it
// reads, also after one that it drops. So an unknown router that sends as often as the holder may
// keep the holder from sending. (lower_prio_no_advert would prevent that. But without an answer to a
// lower priority, two routers that become MASTER at one time would both hold the VIP for an advert
// interval.)
func TestForeignRouter_Named(t *testing.T) {
	const lan, second = 100 * time.Millisecond, time.Second
	us := netip.MustParseAddr("192.0.2.11")
	for _, tt := range []struct {
		name     string
		foreign  keepalived.Config
		vip      string // ours
		received bool
		stays    bool // the VIP, with its holder
		want     string
	}{
		{"version 3 by multicast", router("", "192.0.2.77", vrrp.V3, lan), "192.0.2.5", true, true, "has the virtual router ID 30 of 192.0.2.5 (one_API_0) for 192.0.2.77 (VRRPv3, priority 200, every 100ms)"},
		{"version 2 by multicast", router("", "192.0.2.77", vrrp.V2, second), "192.0.2.5", true, true, "for 192.0.2.77 (VRRPv2, priority 200, every 1s)"},
		{"IPv6 by multicast", router("", "2001:db8::77", vrrp.V3, lan), "2001:db8::5", true, true, "for 2001:db8::77 (VRRPv3, priority 200, every 100ms)"},
		{"by unicast to us", router("192.0.2.99", "192.0.2.77", vrrp.V3, lan, us), "192.0.2.5", true, false, "192.0.2.99 ("},
		{"by unicast to another", router("192.0.2.99", "192.0.2.77", vrrp.V3, lan, netip.MustParseAddr("192.0.2.98")), "192.0.2.5", false, true, ""},
		{"our VIP by multicast", router("", "192.0.2.5", vrrp.V3, lan), "192.0.2.5", true, true, "and is no node of this cluster"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
			defer cancel()
			l := lab.New(t)
			a, b := add(t, l, "a", "192.0.2.11/24", "2001:db8::11/64"), add(t, l, "b", "192.0.2.12/24", "2001:db8::12/64")
			unknown := add(t, l, "c", "192.0.2.99/24", "2001:db8::99/64")
			add(t, l, "d", "192.0.2.98/24", "2001:db8::98/64") // the peer of the unknown router
			vip := netip.MustParseAddr(tt.vip)
			observer, err := lab.Observe(vip, 5*time.Millisecond, a, b)
			if err != nil {
				t.Fatal(err)
			}
			defer observer.Stop()
			members := map[bool][]string{true: {"192.0.2.11", "192.0.2.12"}, false: {"2001:db8::11", "2001:db8::12"}}[vip.Is4()]
			for n, host := range []*lab.Host{a, b} {
				config := fast(tt.vip, members[n], vrrp.Priority(150-10*n), netip.MustParseAddr(members[1-n]))
				config.Instances[0].ID, config.Instances[0].Known = 30, true
				start(t, host, config)
			}
			if _, err := observer.Wait(ctx, "a"); err != nil {
				t.Fatal(err)
			}
			listener := listenOn(t, a, clash.Instance{Name: "one_API_0", Link: "eth0", ID: 30, Version: vrrp.V3, Interval: lan, VIP: vip, Unicast: true,
				Own: netip.MustParseAddr(members[0]), Members: addresses(members)})
			start(t, unknown, tt.foreign)
			if tt.received {
				found := listener.wait(t, 3, 20*time.Second)
				if !slices.ContainsFunc(found, func(f clash.Finding) bool { return strings.Contains(f.String(), tt.want) && f.Sender.MAC != "" }) {
					t.Errorf("found %v", found)
				}
			}
			if tt.stays && !stays(t, observer, "a") {
				t.Errorf("the VIP has left its holder: %+v", observer.Report().Spans)
			}
			listener.mu.Lock()
			defer listener.mu.Unlock()
			if !tt.received && listener.received > 0 {
				t.Errorf("heard %d adverts that were for another", listener.received)
			}
		})
	}
}

// stays says whether a host keeps the VIP for a second, in which an election would have moved it.
// On a busy machine adverts may be late at any time, and so it has some seconds to show it.
func stays(t *testing.T, observer *lab.Observer, host string) bool {
	t.Helper()
	for range 5 {
		began, err := observer.Wait(t.Context(), host)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // several adverts: a holder that keeps the VIP for so long keeps it
		if still, err := observer.Wait(t.Context(), host); err == nil && still.Equal(began) {
			return true
		}
	}
	return false
}
