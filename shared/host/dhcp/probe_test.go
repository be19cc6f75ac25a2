package dhcp

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/google/nftables"

	"github.com/onprem-infra/onprem-infra/shared/host/dhcp/wire"
	"github.com/onprem-infra/onprem-infra/shared/offer"
)

const (
	pool4 = "--dhcp-range=172.22.0.100,172.22.0.150,255.255.255.0,1h"
	pool6 = "--dhcp-range=fd00:1:22::100,fd00:1:22::150,64,1h"
)

func of(all []offer.Server, kind offer.Kind) (out []offer.Server) {
	for _, s := range all {
		if s.Kind == kind {
			out = append(out, s)
		}
	}
	return out
}

// TestAsk_DHCP holds that a host without an address finds two DHCP servers, each with what it
// offers.
func TestAsk_DHCP(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	dnsmasq(t, n.first, pool4, "--no-ping", "--dhcp-boot=first.efi,,172.22.0.9")
	dnsmasq(t, n.second, pool4, "--no-ping", "--dhcp-boot=second.efi")
	servers := n.find(t, Probe{}, offer.DHCP, 2)
	for _, want := range []struct{ mac, id, next, file string }{
		{mac(t, n.first), "172.22.0.1", "172.22.0.9", "first.efi"},
		{mac(t, n.second), "172.22.0.2", "172.22.0.2", "second.efi"},
	} {
		i := slices.IndexFunc(servers, func(s offer.Server) bool { return s.MAC == want.mac })
		if i < 0 {
			t.Errorf("no server %s: %+v", want.mac, servers)
			continue
		}
		s := servers[i]
		pool := netip.MustParsePrefix("172.22.0.0/24")
		if s.Kind != offer.DHCP || s.Message != "OFFER" || s.ID.String() != want.id ||
			s.Source != s.ID || s.Offered.NextServer.String() != want.next ||
			s.Offered.BootFile != want.file || !pool.Contains(s.Offered.Address) ||
			s.VLAN != 0 || s.First.IsZero() {
			t.Errorf("received %+v, want %+v", s, want)
		}
	}
	if len(servers) != 2 {
		t.Errorf("%d servers, want 2: %+v", len(servers), servers)
	}
}

// TestAsk_Ping holds that the default time is enough for a server that pings an address before it
// offers it, as dnsmasq does unless it is configured otherwise.
func TestAsk_Ping(t *testing.T) {
	t.Parallel()
	for range 4 { // a busy machine may take the rest of the time; each server pings anew
		n := newNetwork(t)
		dnsmasq(t, n.first, pool4)
		if servers := n.ask(t, Probe{Within: Within}); len(of(servers, offer.DHCP)) == 1 {
			return
		}
	}
	t.Error("no offer within the default time")
}

// TestAsk_KnownHost holds that a server which answers known hosts alone is found by the MAC of one.
func TestAsk_KnownHost(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	const known = "52:54:00:00:53:01"
	dnsmasq(t, n.first, "--dhcp-range=172.22.0.0,static,255.255.255.0", "--no-ping",
		"--dhcp-host="+known+",172.22.0.20", "--dhcp-ignore=tag:!known")
	if servers := n.ask(t, Probe{}); len(servers) > 0 {
		t.Errorf("it answers unknown hosts: %+v", servers)
	}
	address, err := net.ParseMAC(known)
	if err != nil {
		t.Fatal(err)
	}
	servers := n.find(t, Probe{MAC: address}, offer.DHCP, 1)
	if len(servers) != 1 || servers[0].Offered.Address.String() != "172.22.0.20" {
		t.Errorf("received %+v, want an offer of 172.22.0.20", servers)
	}
}

// TestAsk_HTTPBoot holds that a server which answers hosts that boot by HTTP alone is found.
func TestAsk_HTTPBoot(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	const url = "http://172.22.0.1:6180/snponly.efi"
	dnsmasq(t, n.first, pool4, "--no-ping", "--dhcp-match=set:http,option:client-arch,16",
		"--dhcp-ignore=tag:!http", "--dhcp-option-force=tag:http,60,HTTPClient",
		"--dhcp-boot=tag:http,"+url)
	servers := n.find(t, Probe{}, offer.DHCP, 1)
	if len(servers) != 1 || servers[0].Offered.BootFile != url {
		t.Errorf("received %+v, want an offer of %s", servers, url)
	}
	if servers := n.ask(t, Probe{Archs: []wire.Arch{wire.BIOS}}); len(servers) > 0 {
		t.Errorf("a host that boots by PXE got %+v", servers)
	}
}

// TestAsk_Proxy holds that a ProxyDHCP server is found beside a DHCP server, on both of its ports.
func TestAsk_Proxy(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	dnsmasq(t, n.first, pool4, "--no-ping")
	dnsmasq(t, n.second, "--dhcp-range=172.22.0.0,proxy,255.255.255.0",
		"--pxe-service=X86-64_EFI,boot,proxy.efi", "--pxe-service=x86PC,boot,proxy.0")
	servers := slices.Concat(of(n.find(t, Probe{}, offer.DHCP, 1), offer.DHCP),
		of(n.find(t, Probe{}, offer.ProxyDHCP, 1), offer.ProxyDHCP))
	proxies := of(servers, offer.ProxyDHCP)
	if len(proxies) != 1 || proxies[0].MAC != mac(t, n.second) ||
		proxies[0].Offered.Address.IsValid() || !proxies[0].Offered.AsksPXE {
		t.Errorf("received %+v, want the second server as proxy", servers)
	}
	if dhcp := of(servers, offer.DHCP); len(dhcp) != 1 || dhcp[0].MAC != mac(t, n.first) {
		t.Errorf("received %+v, want the first server by DHCP", servers)
	}
}

// TestAsk_IPv6 holds that a DHCPv6 server is found with the boot file for the client's
// architecture, and a router with its flags and without a default route where it has none.
func TestAsk_IPv6(t *testing.T) {
	t.Parallel()
	for _, defaultRoute := range []bool{true, false} {
		n := newNetwork(t)
		args := []string{pool6, "--enable-ra", "--dhcp-vendorclass=set:pxe6,enterprise:343,PXEClient",
			"--dhcp-option=tag:pxe6,option6:bootfile-url,tftp://[fd00:1:22::1]/snponly.efi"}
		if !defaultRoute {
			args = append(args, "--ra-param=eth0,0,0")
		}
		dnsmasq(t, n.first, args...)
		servers := slices.Concat(of(n.find(t, Probe{}, offer.DHCPv6, 1), offer.DHCPv6),
			of(n.find(t, Probe{}, offer.Router, 1), offer.Router))
		dhcp, routers := of(servers, offer.DHCPv6), of(servers, offer.Router)
		if len(dhcp) != 1 || dhcp[0].MAC != mac(t, n.first) || dhcp[0].Message != "ADVERTISE" ||
			dhcp[0].DUID == "" || !dhcp[0].Source.Is6() ||
			dhcp[0].Offered.BootFile != "tftp://[fd00:1:22::1]/snponly.efi" ||
			!netip.MustParsePrefix("fd00:1:22::/64").Contains(dhcp[0].Offered.Address) {
			t.Errorf("received %+v, want one of DHCPv6", servers)
		}
		if len(routers) != 1 || routers[0].MAC != mac(t, n.first) || !routers[0].Offered.Managed ||
			!routers[0].Offered.Other || routers[0].Offered.DefaultRoute != defaultRoute ||
			len(routers[0].Offered.Prefixes) != 1 {
			t.Errorf("received %+v, want one router, default route %v", servers, defaultRoute)
		}
	}
}

// TestAsk_IPv6Disabled holds that a host without IPv6 finds servers of it: it answers itself which
// MAC has its address.
func TestAsk_IPv6Disabled(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	run(t, n.own, "sysctl", "-q", "net.ipv6.conf.eth0.disable_ipv6=1")
	dnsmasq(t, n.first, pool6, "--enable-ra")
	servers := slices.Concat(of(n.find(t, Probe{}, offer.DHCPv6, 1), offer.DHCPv6),
		of(n.find(t, Probe{}, offer.Router, 1), offer.Router))
	if len(of(servers, offer.DHCPv6)) != 1 || len(of(servers, offer.Router)) != 1 {
		t.Errorf("received %+v, want one of DHCPv6 and one router", servers)
	}
}

// TestAsk_PacketFilter holds that servers are found by a host whose packet filter drops all that
// arrives.
func TestAsk_PacketFilter(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	if err := n.own.Do(func() error {
		c, err := nftables.New()
		if err != nil {
			return err
		}
		drop := nftables.ChainPolicyDrop
		table := c.AddTable(&nftables.Table{Name: "closed", Family: nftables.TableFamilyINet})
		for _, hook := range []*nftables.ChainHook{
			nftables.ChainHookPrerouting, nftables.ChainHookInput, nftables.ChainHookOutput} {
			c.AddChain(&nftables.Chain{Name: fmt.Sprint("hook", *hook), Table: table,
				Type: nftables.ChainTypeFilter, Hooknum: hook,
				Priority: nftables.ChainPriorityFilter, Policy: &drop})
		}
		return c.Flush()
	}); err != nil {
		t.Fatal(err)
	}
	dnsmasq(t, n.first, pool4, pool6, "--enable-ra", "--no-ping")
	for _, kind := range []offer.Kind{offer.DHCP, offer.DHCPv6, offer.Router} {
		servers := n.find(t, Probe{}, kind, 1)
		if len(of(servers, kind)) != 1 {
			t.Errorf("received %+v, want one of %s", servers, kind)
		}
	}
}

// TestAsk_LinkDown holds that a link that cannot send is an error, and one without carrier is
// silent.
func TestAsk_LinkDown(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	run(t, n.own, "ip", "link", "add", "open0", "type", "veth", "peer", "name", "far0")
	run(t, n.own, "ip", "link", "set", "open0", "up")
	for link, fails := range map[string]bool{"far0": true, "open0": false, "absent0": true, "lo": true} {
		begin := time.Now()
		err := n.own.Do(func() error {
			servers, more, err := Probe{Within: 200 * time.Millisecond}.Ask(t.Context(), link)
			if len(servers) > 0 || more {
				t.Errorf("%s: received %+v", link, servers)
			}
			return err
		})
		if (err != nil) != fails || time.Since(begin) > 5*time.Second {
			t.Errorf("%s: %v after %v", link, err, time.Since(begin))
		}
	}
}

// TestAsk_Cancelled holds that a probe ends with its context.
func TestAsk_Cancelled(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begin := time.Now()
	if err := n.own.Do(func() error {
		_, _, err := Probe{Within: time.Minute}.Ask(ctx, "eth0")
		return err
	}); err != nil || time.Since(begin) > 10*time.Second {
		t.Errorf("%v after %v", err, time.Since(begin))
	}
}

// TestAsk_Kea holds that a server of another make is found.
func TestAsk_Kea(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	kea(t, n.first)
	servers := n.find(t, Probe{}, offer.DHCP, 1)
	if len(servers) != 1 || servers[0].MAC != mac(t, n.first) || servers[0].Kind != offer.DHCP ||
		servers[0].Offered.NextServer.String() != "172.22.0.77" ||
		servers[0].Offered.BootFile != "kea.efi" {
		t.Errorf("received %+v, want kea's offer", servers)
	}
}

// TestAsk_Silence holds that nothing is found where no server is, and that the time is kept.
func TestAsk_Silence(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	if servers := n.ask(t, Probe{}); len(servers) > 0 {
		t.Errorf("received %+v", servers)
	}
}

// TestAsk_Lease holds that no server has given a lease after fifty probes.
func TestAsk_Lease(t *testing.T) {
	n := newNetwork(t)
	files := []string{
		dnsmasq(t, n.first, pool4, pool6, "--enable-ra", "--no-ping", "--dhcp-rapid-commit"),
		kea(t, n.second)}
	var answers [2]int
	for range 50 {
		servers := n.ask(t, Probe{Within: 100 * time.Millisecond})
		for _, s := range servers {
			if s.MAC == mac(t, n.first) {
				answers[0]++
			} else {
				answers[1]++
			}
			if s.Message == "ACK" || s.Message == "REPLY" {
				t.Errorf("a server has given a lease: %+v", s)
			}
		}
	}
	for i, file := range files {
		if got := entries(t, file); len(got) > 0 {
			t.Errorf("leases: %q", got)
		}
		if answers[i] < 25 {
			t.Errorf("server %d has answered %d times only", i, answers[i])
		}
	}
}
