package avahi

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mdns"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/browse"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/host/multicast"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// patient is more than anything takes here on a busy machine.
const patient = 30 * time.Second

// TestAvahi_ReceivesOurs has Avahi hear a node that starts, resolve all that it announces, follow its address to
// a bridge and its name to another one, and forget it at its goodbye.
func TestAvahi_ReceivesOurs(t *testing.T) {
	l := open(t)
	peer := l.avahi(l.add("peer", "192.0.2.77/24", "2001:db8::77/64"), "peer")
	n := l.node(l.add("node", "192.0.2.10/24", "2001:db8::10/64"), "localhost", role.Master)
	n.agreed("192.0.2.10", "2001:db8::10")
	n.start()
	l.until("the pod waits for a name", patient, func() bool { return strings.Contains(n.logText(), "wait for a host name") })
	if got := peer.browse("_workstation._tcp"); got != "" {
		t.Errorf("a host without a name is announced: %s", got)
	}
	n.write(asset.File{Path: mdns.HostnameFile, Mode: 0o644, Contents: []byte("master-0.ostest.example.com\n")})
	resolves := func(want string, args ...string) func() bool {
		return func() bool { return strings.Contains(peer.ask("avahi-resolve", args...), want) }
	}
	t.Logf("known to Avahi %v after the host got its name", l.until("Avahi resolves the node", patient, resolves("192.0.2.10", "-4", "-n", "master-0.local")))
	for _, tt := range []struct {
		want string
		args []string
	}{
		{"2001:db8::10", []string{"-6", "-n", "master-0.local"}},
		{"192.0.2.10", []string{"-4", "-n", "etcd-0.local"}},
		{"master-0.local", []string{"-a", "192.0.2.10"}},
		{"master-0.local", []string{"-a", "2001:db8::10"}},
	} {
		l.until(fmt.Sprint(tt.args, " is ", tt.want), patient, resolves(tt.want, tt.args...))
	}
	for kind, want := range map[string]string{
		"_workstation._tcp":     `ostest\032Workstation-master-0;Workstation;local;master-0.local;192.0.2.10;42424;`,
		"_etcd-server-ssl._tcp": `ostest\032Etcd-master-0;_etcd-server-ssl._tcp;local;master-0.local;192.0.2.10;2380;`,
	} {
		l.until("Avahi finds "+want, patient, func() bool { return strings.Contains(peer.browse(kind), want) })
	}

	for _, line := range []string{"link add br-ex type bridge", "addr flush dev eth0 scope global", "link set eth0 master br-ex", "link set br-ex up",
		"addr add 192.0.2.10/24 dev br-ex", "addr add 2001:db8::10/64 dev br-ex nodad"} {
		if out, err := n.Host.Command(t.Context(), "ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			t.Fatalf("ip %s: %v: %s", line, err, out)
		}
	}
	l.until("the pod follows the address to the bridge", patient, func() bool {
		return strings.Contains(n.logText(), "on br-ex (node-ip) by IPv4 and IPv6; master-0 is announced; etcd-0 is announced")
	})
	n.write(asset.File{Path: mdns.HostnameFile, Mode: 0o644, Contents: []byte("master-7\n")})
	l.until("Avahi resolves the node behind the bridge", patient, resolves("192.0.2.10", "-4", "-n", "master-7.local"))
	l.until("Avahi has forgotten the former name", patient, func() bool { return !strings.Contains(peer.browse("_workstation._tcp"), "master-0") })

	begun := time.Now()
	if err := n.Stop(); err != nil {
		t.Fatal(err)
	}
	stopped := time.Since(begun)
	after := l.until("Avahi has forgotten the node", patient, func() bool { return peer.browse("_workstation._tcp") == "" })
	t.Logf("the pod stopped in %v, and Avahi had forgotten it %v later", stopped.Round(10*time.Millisecond), after)
}

// TestNames has an Avahi and a node want one name: who has it keeps it, whichever of the two it is.
func TestNames(t *testing.T) {
	l := open(t)
	n := l.node(l.add("node", "192.0.2.10/24"), "worker-0", role.Worker)
	n.agreed("192.0.2.10")
	n.start()
	l.until("the node is announced", patient, func() bool { return strings.Contains(n.logText(), "worker-0 is announced") })
	peer := l.avahi(l.add("peer", "192.0.2.77/24"), "peer")
	l.until("Avahi resolves the node", patient, func() bool {
		return strings.Contains(peer.ask("avahi-resolve", "-4", "-n", "worker-0.local"), "192.0.2.10")
	})

	late := l.avahi(l.add("late", "192.0.2.78/24"), "worker-0")
	l.until("a second worker-0 calls itself otherwise", patient, func() bool { return late.log("Host name conflict, retrying with worker-0-2") })
	if got := peer.ask("avahi-resolve", "-4", "-n", "worker-0.local"); !strings.Contains(got, "192.0.2.10") {
		t.Errorf("worker-0 is %s", got)
	}

	second := l.node(l.add("second", "192.0.2.11/24"), "peer", role.Worker)
	second.agreed("192.0.2.11")
	second.start()
	// Which of the peer's addresses is named is the one that answered first.
	renamed := regexp.MustCompile(`peer is announced as peer\.ostest\.local: (192\.0\.2\.77|fe80:\S+), which`)
	l.until("the second peer is called otherwise", patient, func() bool { return renamed.MatchString(second.logText()) })
	l.until("Avahi resolves it by that name", patient, func() bool {
		return strings.Contains(peer.ask("avahi-resolve", "-4", "-n", "peer.ostest.local"), "192.0.2.11")
	})
	if got := peer.ask("avahi-resolve", "-4", "-n", "peer.local"); strings.Contains(got, "192.0.2.11") {
		t.Errorf("peer is %s", got)
	}
	if peer.log("conflict") {
		t.Error("Avahi was contested")
	}
}

// TestAvahi_IsReceived has our own ear hear what Avahi announces, and its goodbye.
func TestAvahi_IsReceived(t *testing.T) {
	l := open(t)
	peer := l.avahi(l.add("peer", "192.0.2.77/24", "2001:db8::77/64"), "worker-9")
	listener := l.add("ear", "192.0.2.90/24", "2001:db8::90/64")
	wish := browse.Wish{Types: []wire.Type{wire.Workstation}, Cluster: "ostest", Networks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}}
	browser := browse.New(wire.Link{netip.MustParsePrefix("192.0.2.90/24"), netip.MustParsePrefix("2001:db8::90/64")}, wish,
		func(low, _ time.Duration) time.Duration { return low })
	var mu sync.Mutex
	var sockets *multicast.Sockets
	send := func(out []wire.Outgoing) {
		for _, o := range out {
			if err := sockets.Send(o.To, o.Data); err != nil {
				t.Error(err)
			}
		}
	}
	v4, v6 := wire.Groups()
	if err := listener.Do(func() error {
		eth0, err := net.InterfaceByName("eth0")
		if err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		sockets, err = multicast.Open(context.Background(), multicast.Where{Index: eth0.Index, From4: netip.MustParseAddr("192.0.2.90"), IPv6: true},
			multicast.Groups{IPv4: v4, IPv6: v6, Port: wire.Port}, multicast.Receiver{Failed: func(err error) { t.Error(err) }, Packet: func(p multicast.Packet) {
				mu.Lock()
				defer mu.Unlock()
				browser.Receive(time.Now(), wire.Packet{From: p.From, Multicast: p.To.IsMulticast(), Data: p.Data})
				send(browser.Tick(time.Now()))
			}})
		return err
	}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sockets.Close)
	knows := func(want string) func() bool {
		return func() bool {
			mu.Lock()
			defer mu.Unlock()
			send(browser.Tick(time.Now()))
			return fmt.Sprint(browser.Hosts(time.Now())) == want || want != "[]" && strings.HasPrefix(fmt.Sprint(browser.Hosts(time.Now())), want)
		}
	}
	ctx, end := context.WithCancel(t.Context())
	publish := peer.host.Command(ctx, "avahi-publish", "-s", "ostest Workstation-worker-9", "_workstation._tcp", "42424")
	publish.Env = append(publish.Environ(), "DBUS_SYSTEM_BUS_ADDRESS="+peer.bus)
	if err := publish.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { end(); _ = publish.Wait() }()
	t.Logf("heard %v after Avahi was told to publish", l.until("the host is heard", patient, knows("[{worker-9 [192.0.2.77 2001:db8::77]")))
	end()
	t.Logf("forgotten %v after Avahi was told to publish it no more", l.until("the host is forgotten", patient, knows("[]")))
}
