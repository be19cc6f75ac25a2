//go:build remote

package main

import (
	"context"
	"net/netip"
	"os"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestClaimsByProxyARP asks a real gateway that answers for the VIP as a proxy, and then a host
// that holds it. The gateway is known by its hardware address, in whichever family it is the
// gateway.
func TestClaimsByProxyARP(t *testing.T) {
	for _, gateway := range []string{"192.0.2.1", "fe80::1"} {
		t.Run(gateway, func(t *testing.T) {
			near, far, holder := netns.New(t), netns.New(t), netns.New(t)
			far.IP(t, `link add br0 type bridge
link add elsewhere type bridge
link set br0 up
link set elsewhere up
addr add 192.0.2.1/24 dev br0
addr add fe80::1/64 dev br0 nodad
`)
			err := far.In(func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644) })
			if err != nil {
				t.Fatal(err)
			}
			for port, host := range map[string]netns.Namespace{"port1": near, "port2": holder} {
				host.IP(t, "link add ens3 type veth peer name "+port+" netns "+far.Path()+"\nlink set lo up\nlink set ens3 up\n")
				far.IP(t, "link set "+port+" master br0\nlink set "+port+" up\n")
			}
			far.IP(t, "route add 192.0.2.5/32 dev elsewhere\nneigh add proxy 192.0.2.5 dev br0\n")
			near.IP(t, "addr add 192.0.2.10/24 dev ens3\nroute add default via "+gateway+" dev ens3\n")
			until(t, near, "a gateway that answers for others", func(c conflict.Finding) bool { return c.Router.Link == "ens3" && c.Router.MAC != "" })
			far.IP(t, "neigh del proxy 192.0.2.5 dev br0\n")
			holder.IP(t, "addr add 192.0.2.5/24 dev ens3\n")
			near.IP(t, "neigh flush dev ens3\n")
			until(t, near, "a host that holds it", func(c conflict.Finding) bool { return c.Holder.MAC != "" })
		})
	}
}

// TestClaims_FindLateHost has a host take a VIP that the real kernel has found free: it is seen
// within the time that keepalived listens.
func TestClaims_FindLateHost(t *testing.T) {
	near, holder := netns.New(t), netns.New(t)
	near.IP(t, "link add ens3 type veth peer name ens3 netns "+holder.Path()+"\nlink set ens3 up\naddr add 192.0.2.10/24 dev ens3\n")
	holder.IP(t, "link set ens3 up\n")
	claims := conflict.New(conflict.Options{
		Plan: plan.Plan{VIPs: plan.VIPs{API: []netip.Addr{four}}}, Network: link.Network{}, Remember: func([]netip.Addr) error { return nil },
		Wake: make(chan struct{}, 1),
	})
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- near.In(func() error { return claims.Run(ctx) }) }()
	wait := func(what string, right func(conflict.Finding) bool) time.Duration {
		begin := time.Now()
		for now, _ := claims.Findings(ctx); ctx.Err() == nil && !right(now[four]); now, _ = claims.Findings(ctx) {
			time.Sleep(10 * time.Millisecond)
		}
		if ctx.Err() != nil {
			t.Fatalf("not %s", what)
		}
		return time.Since(begin)
	}
	t.Logf("free after %v", wait("free", func(c conflict.Finding) bool { return c == (conflict.Finding{}) }))
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) { // a question and its verdict
		if now, _ := claims.Findings(ctx); len(now) > 0 {
			t.Fatalf("free no more, and nobody has come: %+v", now)
		}
	}
	holder.IP(t, "addr add 192.0.2.5/24 dev ens3\n")
	t.Logf("seen after %v", wait("seen", func(c conflict.Finding) bool { return c.Holder.MAC != "" }))
	cancel()
	if err := <-done; err != nil {
		t.Error(err)
	}
}

var four = netip.MustParseAddr("192.0.2.5")

// until asks for a VIP in a namespace until the claim is right.
func until(t *testing.T, near netns.Namespace, what string, right func(conflict.Finding) bool) {
	t.Helper()
	p := plan.Plan{VIPs: plan.VIPs{API: []netip.Addr{four}}}
	claims := conflict.New(conflict.Options{
		Plan: p, Network: link.Network{}, Remember: func([]netip.Addr) error { return nil },
		Wake: make(chan struct{}, 1),
	})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- near.In(func() error { return claims.Run(ctx) }) }()
	for {
		now, err := claims.Findings(ctx)
		if ctx.Err() != nil {
			cancel()
			t.Fatalf("%s: %+v, %v, %v", what, now, err, <-done)
		}
		if claim, ok := now[four]; ok && right(claim) {
			break
		}
		time.Sleep(20 * time.Millisecond)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("%s: %v", what, err)
	}
}
