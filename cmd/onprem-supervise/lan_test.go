package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"net/netip"
	"slices"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// lan is two hosts: the machine under test, and a neighbour that has the switch between them and
// listens.
type lan struct {
	host, neighbour netns.Namespace
	adverts         *adverts
}

func newLAN(t *testing.T) lan {
	t.Helper()
	l := lan{host: netns.New(t), neighbour: netns.New(t)}
	l.neighbour.IP(t, "link add ens3 type bridge stp_state 0 mcast_snooping 0\n")
	l.host.IP(t, fmt.Sprintf("link set lo up\nlink add ens3 type veth peer name port0 netns %s\n",
		l.neighbour.Path()))
	l.neighbour.IP(t, "link set port0 master ens3 up\n")
	l.host.IP(t, "link set ens3 up\naddr add 192.0.2.10/24 dev ens3\naddr add 2001:db8::10/64 dev ens3 nodad\n")
	l.neighbour.IP(t, "link set ens3 up\naddr add 192.0.2.11/24 dev ens3\naddr add 2001:db8::11/64 dev ens3 nodad\n")
	l.adverts = listen(t, l.neighbour)
	return l
}

// links returns the host's links.
func (l lan) links(t *testing.T) (links addr.Snapshot) {
	t.Helper()
	if err := l.host.In(func() (err error) {
		links, err = link.Snapshot()
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return links
}

// demoCluster is a cluster of both families on the link.
func demoCluster(platform spec.Platform, timing string, mode spec.Mode) spec.Cluster {
	return spec.Cluster{
		Name: "demo", BaseDomain: "example.com", Platform: platform,
		ControlPlaneReplicas: 3, Timing: timing, VRRP: mode,
		MachineNetworks: []netip.Prefix{
			netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64"),
		},
		APIVIPs: []netip.Addr{netip.MustParseAddr(vip4), netip.MustParseAddr(vip6)},
		IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6"),
			netip.MustParseAddr("2001:db8::6")},
	}
}

// demo is its plan.
func demo(t *testing.T, platform spec.Platform, timing string, mode spec.Mode) plan.Plan {
	t.Helper()
	p, err := plan.Compile(demoCluster(platform, timing, mode))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// client is a third host.
func (l lan) client(t *testing.T) netns.Namespace {
	t.Helper()
	c := netns.New(t)
	c.IP(t, fmt.Sprintf("link add ens3 type veth peer name port1 netns %s\n", l.neighbour.Path()))
	l.neighbour.IP(t, "link set port1 master ens3 up\n")
	c.IP(t, "link set ens3 up\naddr add 192.0.2.99/24 dev ens3\naddr add 2001:db8::99/64 dev ens3 nodad\n")
	return c
}

// adverts are the VRRP adverts that the neighbour's network card saw.
type adverts struct {
	mu  sync.Mutex
	all []advert
}

type advert struct {
	at       time.Time
	to       netip.Addr
	priority int
}

// received waits for an IPv4 advert.
func (a *adverts) received(to netip.Addr, priority int, since time.Time, bound time.Duration) bool {
	for end := time.Now().Add(bound); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		a.mu.Lock()
		found := slices.ContainsFunc(a.all, func(x advert) bool {
			return x.to == to &&
				x.priority == priority && x.at.After(since)
		})
		a.mu.Unlock()
		if found {
			return true
		}
	}
	return false
}

func listen(t *testing.T, ns netns.Namespace) *adverts {
	t.Helper()
	network := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_IP))
	var fd int
	err := ns.In(func() (err error) {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(network))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	received, done := &adverts{}, make(chan struct{})
	unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000})
	stop := make(chan struct{})
	go func() {
		defer close(done)
		packet := make([]byte, 2048)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if n, _, err := unix.Recvfrom(fd, packet, 0); err == nil {
				received.add(packet[:n])
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-done
		unix.Close(fd)
	})
	return received
}

func (a *adverts) add(packet []byte) {
	const protocol = 112
	if len(packet) < 28 || packet[9] != protocol {
		return
	}
	header := int(packet[0]&0x0f) * 4
	to, _ := netip.AddrFromSlice(packet[16:20])
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, advert{time.Now(), to, int(packet[header+2])})
}

// holding follows how many of the VIPs the host holds: at each address event, and every 5 ms
// besides.
type holding struct {
	mu  sync.Mutex
	now int
	min int // since until last returned
}

func (l lan) watch(t *testing.T) *holding { return watch(t, l.host) }

func watch(t *testing.T, host netns.Namespace) *holding {
	t.Helper()
	h := &holding{now: -1}
	ctx, cancel := context.WithCancel(t.Context())
	wake, done := make(chan struct{}, 1), make(chan struct{}, 2)
	go func() {
		host.In(func() error { return link.Watch(ctx, wake) })
		done <- struct{}{}
	}()
	go func() {
		host.In(func() error {
			for ctx.Err() == nil {
				h.sample()
				select {
				case <-wake:
				case <-time.After(5 * time.Millisecond):
				}
			}
			return nil
		})
		done <- struct{}{}
	}()
	t.Cleanup(func() {
		cancel()
		<-done
		<-done
	})
	return h
}

func (h *holding) sample() {
	n := 0
	for _, vip := range []string{vip4, vip6} {
		if _, ok, err := link.Holder(netip.MustParseAddr(vip)); ok && err == nil {
			n++
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now, h.min = n, min(n, h.min)
}

// until waits until so many are held, returns how long that took, and resets the minimum.
func (h *holding) until(t *testing.T, what string, bound time.Duration, want int) time.Duration {
	t.Helper()
	begin := time.Now()
	h.mu.Lock()
	h.min = h.now
	h.mu.Unlock()
	for time.Since(begin) < bound {
		h.mu.Lock()
		now := h.now
		if now == want || h.min == want { // VIPs may be back before this goroutine runs
			h.min = now
			h.mu.Unlock()
			return time.Since(begin)
		}
		h.mu.Unlock()
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("not %s within %s", what, bound)
	return 0
}

func (h *holding) low() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.min
}

// addresses are those of the host, without loopback and link-local ones.
func (l lan) addresses(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, one := range l.links(t).Links {
		for _, a := range one.Addresses {
			if ip := a.Prefix.Addr(); !ip.IsLoopback() && !ip.IsLinkLocalUnicast() {
				out = append(out, a.Prefix.String())
			}
		}
	}
	slices.Sort(out)
	return out
}
