package nodeip

import (
	"context"
	"maps"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// TestForward holds N-22: an interface is named by its path, dots and all, and a family that the
// kernel has not is no fault.
func TestForward(t *testing.T) {
	const four, six = "/proc/sys/net/ipv4/conf/bond0.354/forwarding", "/proc/sys/net/ipv6/conf/bond0.354/forwarding"
	for _, tt := range []struct {
		name    string
		primary string
		kernel  []string
		want    string // a part of the error
	}{
		{"both families", "192.0.2.10", []string{four, six}, ""},
		{"no IPv6 in the kernel", "192.0.2.10", []string{four}, ""},
		{"none", "192.0.2.10", nil, "no setting to forward packets on bond0.354"},
		{"not chosen yet", "", []string{four, six}, "there is no address in /run/nodeip-configuration/primary-ip: run `onprem-infra node-ip set`"},
		{"the address is gone", "192.0.2.99", []string{four, six}, "no interface holds the node's address 192.0.2.99"},
		{"half written", "192.0.2", []string{four, six}, "there is no address"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := newMemory(routed(link(9, "bond0.355"), link(5, "bond0.354", "192.0.2.10/24"), link(7, "x", "192.0.2.10/24")))
			for _, path := range tt.kernel {
				host.kernel[path] = "0"
			}
			if tt.primary != "" {
				host.files[Primary] = tt.primary
			}
			logger, _ := log(t)
			err := New(Node{}, host, false, logger).Forward(t.Context())
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %v, want %q", err, tt.want)
			}
			for _, path := range tt.kernel {
				if on := host.kernel[path] == "1"; on != (tt.want == "") {
					t.Errorf("%s: on is %v", path, on)
				}
			}
		})
	}
}

// TestWait holds N-23: each family's address is tried for a minute, and the error names the one
// that is gone.
func TestWait(t *testing.T) {
	four, six := netip.MustParseAddr("192.0.2.10"), netip.MustParseAddr("2001:db8::10")
	for _, tt := range []struct {
		name    string
		files   map[string]string
		unbound map[netip.Addr]int
		want    string
		took    time.Duration
	}{
		{"all there", map[string]string{Primary: "192.0.2.10", IPv4: "192.0.2.10", IPv6: "2001:db8::10"}, nil, "", 0},
		{"one family only", map[string]string{Primary: "192.0.2.10", IPv4: "192.0.2.10"}, map[netip.Addr]int{six: -1}, "", 0},
		{"IPv6 comes late", map[string]string{Primary: "192.0.2.10", IPv4: "192.0.2.10", IPv6: "2001:db8::10"}, map[netip.Addr]int{six: 7}, "", 7 * time.Second},
		{"IPv6 is gone", map[string]string{Primary: "192.0.2.10", IPv4: "192.0.2.10", IPv6: "2001:db8::10"}, map[netip.Addr]int{six: -1}, "the node's address 2001:db8::10 of /run/nodeip-configuration/ipv6 cannot be used", time.Minute},
		{"IPv4 is gone", map[string]string{Primary: "2001:db8::10", IPv4: "192.0.2.10", IPv6: "2001:db8::10"}, map[netip.Addr]int{four: -1}, "the node's address 192.0.2.10 of /run/nodeip-configuration/ipv4", time.Minute},
		{"nothing chosen", nil, nil, "there is no /run/nodeip-configuration/primary-ip", 0},
		{"no address", map[string]string{Primary: "x"}, nil, `"x" is no address`, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newMemory(addr.Snapshot{})
				host.files, host.unbound = tt.files, tt.unbound
				if host.unbound == nil {
					host.unbound = map[netip.Addr]int{}
				}
				logger, _ := log(t)
				start := time.Now()
				err := New(Node{}, host, false, logger).Wait(t.Context())
				if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
			})
		})
	}
}

// TestWaitForLink holds N-24: the bridge counts if it is up and has the node's address, or if the
// marker exists; no directory or hook is needed before.
func TestWaitForLink(t *testing.T) {
	nic, empty, bridge := link(2, "ens3", "192.0.2.10/24"), link(7, "br-ex"), link(7, "br-ex", "192.0.2.10/24")
	down := bridge
	down.Up = false
	for _, tt := range []struct {
		name   string
		before addr.Snapshot
		after  addr.Snapshot // 3 s later
		files  map[string]string
		later  map[string]string
		took   time.Duration
	}{
		{"up from the start", routed(bridge), routed(bridge), map[string]string{Primary: "192.0.2.10"}, nil, 0},
		{"the marker of others", routed(nic), routed(nic), map[string]string{BrExUp: ""}, nil, 0},
		{"made later", routed(nic), routed(bridge), map[string]string{Primary: "192.0.2.10"}, nil, 3 * time.Second},
		{"without an address first", routed(nic, empty), routed(bridge), map[string]string{Primary: "192.0.2.10"}, nil, 3 * time.Second},
		{"with another address first", routed(nic, link(7, "br-ex", "169.254.169.2/29")), routed(bridge), map[string]string{Primary: "192.0.2.10"}, nil, 3 * time.Second},
		{"down first", routed(down), routed(bridge), map[string]string{Primary: "192.0.2.10"}, nil, 3 * time.Second},
		{"the marker comes later", routed(nic), routed(nic), map[string]string{Primary: "192.0.2.10"}, map[string]string{BrExUp: ""}, 3 * time.Second},
		{"no address is chosen", routed(nic), routed(bridge), nil, nil, 3 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				host := newMemory(tt.before)
				for path, text := range tt.files {
					host.files[path] = text
				}
				go func() {
					time.Sleep(2500 * time.Millisecond)
					host.set(func() {
						host.links = tt.after
						maps.Copy(host.files, tt.later)
					})
				}()
				logger, _ := log(t)
				ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
				defer cancel()
				start := time.Now()
				if err := New(Node{}, host, false, logger).WaitForLink(ctx, "br-ex"); err != nil {
					t.Error(err)
				}
				if took := time.Since(start); took != tt.took {
					t.Errorf("took %v, want %v", took, tt.took)
				}
				time.Sleep(5 * time.Second) // the change has been made
			})
		})
	}
}

// TestWaitForLink_LoggedOnce holds that a missing bridge is logged once, not each second.
func TestWaitForLink_LoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := newMemory(routed(link(2, "ens3", "192.0.2.10/24")))
		logger, text := log(t)
		go func() {
			time.Sleep(time.Hour)
			host.set(func() { host.files[BrExUp] = "" })
		}()
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Hour)
		defer cancel()
		if err := New(Node{}, host, false, logger).WaitForLink(ctx, "br-ex"); err != nil {
			t.Fatal(err)
		}
		if lines := strings.Count(text.String(), "\n"); lines != 1 || !strings.Contains(text.String(), "br-ex is not up yet") {
			t.Errorf("%d lines: %s", lines, text)
		}
	})
}
