package dhcp

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/dhcp/wire"
	cards "github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// watched is what a watcher has reported.
type watched struct {
	servers chan offer.Server
	listens chan error
}

// watch watches a link of a host until the test ends.
func watch(t *testing.T, on *lab.Host, w Watcher) watched {
	t.Helper()
	out := watched{make(chan offer.Server, 1000), make(chan error, 1000)}
	w.Report, w.Listens = func(s offer.Server) { out.servers <- s }, func(err error) { out.listens <- err }
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- on.Do(func() error { w.Watch(ctx); return nil })
	}()
	t.Cleanup(func() {
		cancel()
		select {
		case err := <-ended:
			if err != nil {
				t.Error(err)
			}
		case <-time.After(20 * time.Second):
			t.Error("the watcher does not end")
		}
	})
	return out
}

// began waits until the watcher reports whether it listens.
func (w watched) began(t *testing.T, want bool) {
	t.Helper()
	for end := time.After(20 * time.Second); ; {
		select {
		case err := <-w.listens:
			if (err == nil) == want {
				return
			}
		case <-end:
			t.Fatalf("the watcher does not report that it listens: %v", want)
		}
	}
}

// next is the next server that is reported, with the time since it sent its first packet.
func (w watched) next(t *testing.T) offer.Server {
	t.Helper()
	select {
	case s := <-w.servers:
		if late := time.Since(s.First); late > 2*time.Second {
			t.Errorf("reported %v after its packet", late)
		}
		return s
	case <-time.After(20 * time.Second):
		t.Fatal("no server is reported")
		return offer.Server{}
	}
}

// boot asks for a lease as a host of the network does, once: a watcher does not follow a Probe.
func (n network) boot(t *testing.T) {
	t.Helper()
	err := n.client.Do(func() error {
		on, err := ethernet("eth0")
		if err != nil {
			return err
		}
		c := wire.Client{MAC: on.HardwareAddr, Link: on.HardwareAddr, UUID: [16]byte{1}, Source: wire.LinkLocal(on.HardwareAddr)}
		requests, err := Probe{Archs: []wire.Arch{wire.UEFI}}.requests(c)
		if err != nil {
			return err
		}
		socket, err := open(on)
		if err != nil {
			return err
		}
		defer socket.Close()
		raw, err := socket.SyscallConn()
		if err != nil {
			return err
		}
		return sendAll(raw, on, requests)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestWatch holds that a server which is not expected is reported, by each kind once within the
// time of repetition, and one that is expected by its address or its MAC is not.
func TestWatch(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	first, second := mac(t, n.first), mac(t, n.second)
	known, err := cards.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	w := watch(t, n.own, Watcher{Link: "eth0", Repeat: time.Minute,
		Expected: func() offer.Expected { return offer.Expected{MACs: []cards.MAC{known}} }})
	w.began(t, true)
	dnsmasq(t, n.first, pool4, pool6, "--enable-ra", "--no-ping")
	dnsmasq(t, n.second, pool4, pool6, "--enable-ra", "--no-ping")
	got := map[offer.Kind]bool{}
	for begin := time.Now(); len(got) < 3 && time.Since(begin) < 30*time.Second; {
		n.boot(t)
		time.Sleep(200 * time.Millisecond)
		for len(w.servers) > 0 {
			s := w.next(t)
			if s.MAC != second || got[s.Kind] {
				t.Errorf("reported %+v", s)
			}
			got[s.Kind] = true
		}
	}
	if len(got) < 3 {
		t.Errorf("reported %v, want DHCP, DHCPv6 and router advertisements", got)
	}
}

// TestWatch_Repeats holds that a server which goes on is reported again.
func TestWatch_Repeats(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	w := watch(t, n.own, Watcher{Link: "eth0", Repeat: 300 * time.Millisecond})
	w.began(t, true)
	dnsmasq(t, n.first, pool4, "--no-ping")
	begin, times := time.Now(), 0
	for times < 3 && time.Since(begin) < 20*time.Second {
		n.boot(t)
		time.Sleep(200 * time.Millisecond)
		for ; len(w.servers) > 0; times++ {
			w.next(t)
		}
	}
	if most := int(time.Since(begin)/(300*time.Millisecond)) + 1; times < 3 || times > most {
		t.Errorf("reported %d times in %v", times, time.Since(begin))
	}
}

// TestWatch_Unicast holds that a server whose answers go to the host alone that asked is reported
// within 2 s of its first packet: one of DHCP, and one of DHCPv6 without router advertisements.
func TestWatch_Unicast(t *testing.T) {
	t.Parallel()
	for kind, serve := range map[offer.Kind]func(*lab.Host){
		offer.DHCP:   func(h *lab.Host) { kea(t, h) },
		offer.DHCPv6: func(h *lab.Host) { dnsmasq(t, h, pool6) },
	} {
		n := newNetwork(t)
		w := watch(t, n.own, Watcher{Link: "eth0", Repeat: time.Minute})
		w.began(t, true)
		n.boot(t) // of which the watcher rests from asking
		serve(n.first)
		n.boot(t)
		asked := time.Now()
		if s := w.next(t); s.MAC != mac(t, n.first) || s.Kind != kind || time.Since(asked) > 2*time.Second {
			t.Errorf("%v: reported %+v after %v", kind, s, time.Since(asked))
		}
	}
}

// TestWatch_Pair holds that of two watchers none asks because the other one does.
func TestWatch_Pair(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	for _, h := range []*lab.Host{n.own, n.first} {
		watch(t, h, Watcher{Link: "eth0", Repeat: time.Minute}).began(t, true)
	}
	asked := 0
	err := n.second.Do(func() error {
		on, err := ethernet("eth0")
		if err != nil {
			return err
		}
		socket, err := open(on, wire.Groups(wire.Client{Source: wire.LinkLocal(on.HardwareAddr)})...)
		if err != nil {
			return err
		}
		defer socket.Close()
		n.boot(t)
		ctx, cancel := context.WithTimeout(t.Context(), 4*again)
		defer cancel()
		return receive(ctx, socket, func(r wire.Received) {
			if r.Bytes[0]>>4 == 4 {
				asked++
			}
		})
	})
	// the host's DISCOVER to the port 67, and three of each watcher: at once, and after its SOLICIT
	if err != nil || asked < 1+2*3 || asked > 1+2*2*3 {
		t.Errorf("%d requests by DHCP, %v, want the host's, and each watcher's twice at most", asked, err)
	}
}

// TestWatch_LinkReturns holds that the watcher listens again after its link was down, and after it
// was removed and made again.
func TestWatch_LinkReturns(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	dnsmasq(t, n.first, pool4, "--no-ping")
	ip := func(args string) {
		t.Helper()
		run(t, n.own, "ip", strings.Fields(args)...)
	}
	const make = "link add link eth0 name prov0 address 02:00:00:00:53:07 type macvlan mode bridge"
	w := watch(t, n.own, Watcher{Link: "prov0", Repeat: time.Millisecond})
	w.began(t, false)
	for _, step := range []struct{ away, back []string }{
		{nil, []string{make, "link set prov0 up"}},
		{[]string{"link set prov0 down"}, []string{"link set prov0 up"}},
		{[]string{"link del prov0"}, []string{make, "link set prov0 up"}},
	} {
		for _, command := range step.away {
			ip(command)
		}
		if step.away != nil {
			w.began(t, false)
		}
		for _, command := range step.back {
			ip(command)
		}
		w.began(t, true)
		for len(w.servers) > 0 {
			<-w.servers
		}
		n.boot(t)
		if s := w.next(t); s.MAC != mac(t, n.first) {
			t.Errorf("reported %+v", s)
		}
	}
}
