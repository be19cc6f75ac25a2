package podlb

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// without is a cluster that provisions hosts without a provisioning network.
func without(c *spec.Cluster) {
	address, err := bmc.Parse("redfish-virtualmedia://198.51.100.1/a")
	if err != nil {
		panic(err)
	}
	c.Provisioning.Network = provisioning.Disabled
	c.Hosts = []spec.Host{{Name: "w0", Role: machine.Worker, BootMACAddress: "52:54:00:00:00:01", BMC: machine.BMC{Address: address}}}
}

// pod is a FAKE of Ironic on a node: a TLS server at each port, which writes its name to a client
// and holds the connection. HAProxy's checks are no clients: they end before the handshake.
type pod struct {
	name      string
	mu        sync.Mutex
	listeners []net.Listener
	held      map[net.Conn]bool
	met       []time.Time // of clients
}

func (w *world) pod(name, host string, ports ...int) *pod {
	w.t.Helper()
	pair, err := tls.LoadX509KeyPair(w.dir+"/cert.pem", w.dir+"/cert.pem")
	if err != nil {
		w.t.Fatal(err)
	}
	p := &pod{name: name, held: map[net.Conn]bool{}}
	for _, port := range ports {
		l, err := w.hosts[host].Listen(fmt.Sprintf(":%d", port))
		if err != nil {
			w.t.Fatal(err)
		}
		p.listeners = append(p.listeners, l)
		go p.serve(tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}}), port)
	}
	w.t.Cleanup(p.end)
	return p
}

func (p *pod) serve(l net.Listener, port int) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go func() {
			defer c.Close()
			if c.(*tls.Conn).Handshake() != nil {
				return
			}
			p.mu.Lock()
			p.met, p.held[c] = append(p.met, time.Now()), true
			p.mu.Unlock()
			fmt.Fprintf(c, "%s:%d\n", p.name, port)
			_, _ = io.Copy(io.Discard, c)
		}()
	}
}

// end ends the pod with all of its connections.
func (p *pod) end() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.listeners {
		l.Close()
	}
	for c := range p.held {
		c.Close()
	}
}

// since are how many clients it has met since then.
func (p *pod) since(at time.Time) (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, met := range p.met {
		if met.After(at) {
			n++
		}
	}
	return n
}

// reached is the name of the pod that answers at an address, and the connection to it.
func reached(from *lab.Host, address string) (string, net.Conn, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	raw, err := from.Dial(ctx, "tcp", address)
	if err != nil {
		return "", nil, err
	}
	conn := tls.Client(raw, &tls.Config{InsecureSkipVerify: true})
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	text := make([]byte, 64)
	n, err := conn.Read(text)
	if err != nil {
		conn.Close()
		return "", nil, err
	}
	return strings.TrimSpace(string(text[:n])), conn, nil
}

const (
	// atOnce is when a client that learns at once that there is no pod must know it, though this
	// machine stalls: it waits neither for its own deadline nor for HAProxy's queue.
	atOnce = 2 * time.Second
	// soon is that for the median client, which no stall delays: longer than HAProxy tries to reach a
	// pod that has ended, and shorter than a client waits before it repeats a packet.
	soon = 500 * time.Millisecond
)

// at is the name of the pod that answers; if there is none and the client learns it at once, it is
// "refused", or "closed" if that was after the balancer had tried to reach one; anything else is how
// long it took, and what it was told.
func at(from *lab.Host, address string) string {
	begun := time.Now()
	name, conn, err := reached(from, address)
	took := time.Since(begun)
	switch {
	case err == nil:
		conn.Close()
		return name
	case took < atOnce && (errors.Is(err, syscall.ECONNREFUSED) || errors.Is(err, syscall.ECONNRESET)):
		return "refused"
	case took < atOnce && errors.Is(err, io.EOF):
		return "closed"
	}
	return fmt.Sprintf("%v after %v", err, took.Round(time.Millisecond))
}

// endpoint is one of an EndpointSlice.
func endpoint(address string, ready, terminating bool) map[string]any {
	return map[string]any{"addresses": []string{address}, "conditions": map[string]any{"ready": ready, "serving": ready, "terminating": terminating}}
}

// listed has the API list these endpoints of Ironic's Service, whose API is at this port.
func (w *world) listed(port int, endpoints ...map[string]any) {
	w.t.Helper()
	if endpoints == nil {
		endpoints = []map[string]any{}
	}
	body, err := json.Marshal(map[string]any{
		"metadata":    map[string]any{"name": "metal3-state-x7k2p", "labels": map[string]string{"kubernetes.io/service-name": "metal3-state"}},
		"addressType": "IPv4", "endpoints": endpoints,
		"ports": []map[string]any{{"name": "ironic", "port": port, "protocol": "TCP"}, {"name": "http", "port": 6180, "protocol": "TCP"}, {"name": "vmedia-https", "port": 6183, "protocol": "TCP"}},
	})
	if err == nil {
		err = w.call(http.MethodPost, "/apis/discovery.k8s.io/v1/namespaces/openshift-machine-api/endpointslices", body)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// serving are the servers of Ironic to which HAProxy sends connections.
func (w *world) serving() (up []string) {
	for _, s := range w.stats() {
		if haproxy.IsIronic(s.Backend) && !s.Disabled() && s.Up() {
			up = append(up, s.Backend+" "+s.Address.String())
		}
	}
	slices.Sort(up)
	return up
}

// ironicAt waits until HAProxy sends connections there, and nowhere else.
func (w *world) ironicAt(want ...string) time.Duration {
	w.t.Helper()
	return w.within(fmt.Sprintf("Ironic is at %q", want), 10*time.Second, func() bool { return slices.Equal(w.serving(), want) })
}

// redirectsIronic reports whether the holder's kernel leads the VIP's ports of Ironic to HAProxy.
func (w *world) redirectsIronic() bool {
	rules := redirect.Ironic(w.plan.VIPs.API, w.plan.Ports)
	return w.hosts["m1"].Do(func() error {
		there, err := nft.Ironic.Present(rules)
		if err == nil && !there {
			err = errors.New("not there")
		}
		return err
	}) == nil
}

const (
	ironicVIP, mediaVIP = vip + ":6385", vip + ":6183"
	ironicM2, ironicM3  = "ironic 192.0.2.11:6388", "ironic 192.0.2.12:6388"
	mediaM2, mediaM3    = "virtual-media 192.0.2.11:6183", "virtual-media 192.0.2.12:6183"
)

// TestIronic holds scars 50, 52 and 53 of provisioning: by the API VIP a host and its BMC reach the
// pod that is ready, and never one that ends, wherever it is and whatever its port; where there is
// none they learn it at once. OpenShift's proxy keeps its port beside that.
func TestIronic(t *testing.T) {
	w := openOf(t, without)
	m1, m2, m3 := w.hosts["m1"], "192.0.2.11", "192.0.2.12"
	w.pod("proxy", "m1", 6385)
	old := w.pod("m2", "m2", 6388, 6183)
	for name, address := range map[string]string{"m1": "192.0.2.10", "m2": m2, "m3": m3} {
		w.register(name, address)
	}
	w.up(3)
	w.within("the API has said that there is no pod", 10*time.Second, w.redirectsIronic)
	w.refused("no pod has begun")

	w.listed(6388, endpoint(m2, true, false), endpoint("192.0.2.100", true, false)) // the second one is on no node of the control plane
	t.Logf("a pod that is ready gets connections after %v", w.ironicAt(ironicM2, mediaM2).Round(time.Millisecond))
	w.within("there is one worker", 15*time.Second, func() bool { return len(w.workers()) == 1 })
	workers := w.workers()
	for _, from := range []*lab.Host{w.client, m1, w.hosts["m3"]} {
		for address, want := range map[string]string{ironicVIP: "m2:6388", mediaVIP: "m2:6183", "[" + vip6 + "]:6385": "m2:6388", "[" + vip6 + "]:6183": "m2:6183", "192.0.2.10:6385": "proxy:6385"} {
			if got := at(from, address); got != want {
				t.Errorf("%s by %s: %s, want %s", from.Name, address, got, want)
			}
		}
	}
	w.step("the pod is not ready for a while", func() { w.blip(m2) })
	w.step("the pod moves", func() { w.moves(old, m2, m3) })
	w.step("its operator has no proxies any more", func() {
		w.pod("m3", "m3", 6385)
		w.listed(6385, endpoint(m3, true, false))
		w.ironicAt("ironic "+m3+":6385", mediaM3)
		if got := at(w.client, ironicVIP); got != "m3:6385" {
			t.Errorf("%s, want m3", got)
		}
	})
	if now := w.workers(); !slices.Equal(now, workers) {
		t.Errorf("HAProxy was reloaded: workers %v, before %v", now, workers)
	}
	w.step("HAProxy killed", func() {
		w.haproxySignal(syscall.SIGKILL)
		w.within("the redirect is off", 5*time.Second, func() bool { return !w.redirectsIronic() })
		if got := at(w.client, ironicVIP); got != "proxy:6385" {
			t.Errorf("without HAProxy: %s, want the proxy", got)
		}
		w.within("the redirect is on", 20*time.Second, w.redirectsIronic)
		w.within("the pod answers again", 10*time.Second, func() bool { return at(w.client, ironicVIP) == "m3:6385" })
	})
}

// refused holds that clients are refused at once as no pod is there; may are other answers that they
// may have.
func (w *world) refused(when string, may ...string) {
	w.t.Helper()
	var took []time.Duration
	for _, address := range []string{ironicVIP, mediaVIP, "[" + vip6 + "]:6385", "[" + vip6 + "]:6183"} {
		for range 5 {
			begun := time.Now()
			if got := at(w.client, address); got != "refused" && !slices.Contains(may, got) {
				w.t.Errorf("%s: %s: %s, want it refused at once", when, address, got)
			}
			took = append(took, time.Since(begun))
		}
	}
	if half := median(took); half > soon {
		w.t.Errorf("%s: half of the clients waited for %v or longer", when, half)
	}
}

// median is the upper one of the two in the middle.
func median(all []time.Duration) time.Duration {
	return slices.Sorted(slices.Values(all))[len(all)/2]
}

// held are connections to the pod through the balancer; over returns those that have ended.
func (w *world) held(n int, address string) (over func() int) {
	w.t.Helper()
	var mu sync.Mutex
	ended := 0
	for range n {
		_, conn, err := reached(w.client, address)
		if err != nil {
			w.t.Fatal(err)
		}
		w.t.Cleanup(func() { conn.Close() })
		_ = conn.SetDeadline(time.Time{})
		go func() {
			_, _ = conn.Read(make([]byte, 1))
			mu.Lock()
			defer mu.Unlock()
			ended++
		}()
	}
	return func() int {
		mu.Lock()
		defer mu.Unlock()
		return ended
	}
}

// blip has the pod not ready, as when a container of it restarts: transfers go on, and no new
// connection is made.
func (w *world) blip(address string) {
	over := w.held(3, mediaVIP)
	w.listed(6388, endpoint(address, false, false))
	w.ironicAt()
	w.refused("the pod is not ready")
	time.Sleep(2 * time.Second) // a transfer that is cut is cut within it
	if n := over(); n > 0 {
		w.t.Errorf("%d of 3 transfers ended as the pod was not ready", n)
	}
	w.listed(6388, endpoint(address, true, false))
	w.ironicAt(ironicM2, mediaM2)
}

// moves has the pod terminate on one node, while it still serves and is said to be ready, and begin
// on another one, under clients that connect all the time.
func (w *world) moves(old *pod, from, to string) {
	t := w.t
	api, media := w.held(3, ironicVIP), w.held(3, mediaVIP)
	results := w.clients()
	time.Sleep(300 * time.Millisecond)
	told := time.Now()
	w.listed(6388, endpoint(from, true, true))
	w.ironicAt()
	off := time.Now()
	ended := w.within("connections to the former pod end", 5*time.Second, func() bool { return api() == 3 && media() == 3 })
	w.refused("no pod is ready")
	next := w.pod("m3", "m3", 6388, 6183)
	w.listed(6388, endpoint(from, false, true), endpoint(to, false, false))
	time.Sleep(time.Second) // a connection to the wrong pod would come within it
	if n := next.since(told); n > 0 {
		t.Errorf("%d connections reached a pod that is not ready", n)
	}
	ready := time.Now()
	w.listed(6388, endpoint(from, false, true), endpoint(to, true, false))
	w.ironicAt(ironicM3, mediaM3)
	up := time.Since(ready)
	time.Sleep(500 * time.Millisecond)
	all := results()
	late, took, n := old.since(off), []time.Duration(nil), map[string]int{}
	for _, r := range all {
		if took = append(took, r.took); r.begun.After(told) {
			n[r.got]++
		}
	}
	slow, half := slices.Max(took), median(took)
	t.Logf("off %v after the API said so, connections ended %v later; the next pod has them %v after it was ready; %d to the former one, %v in all, the median took %v, the slowest %v",
		off.Sub(told).Round(time.Millisecond), ended.Round(time.Millisecond), up.Round(time.Millisecond), late, n, half.Round(time.Millisecond), slow.Round(time.Millisecond))
	if late > 0 {
		t.Errorf("%d connections reached a terminating pod", late)
	}
	if off.Sub(told) > atOnce {
		t.Errorf("it took %v until the terminating pod got no more connections", off.Sub(told))
	}
	if slow > atOnce || half > soon {
		t.Errorf("a client waited %v, and half of them %v or longer", slow, half)
	}
	for got := range n {
		if got != "refused" && got != "closed" && !strings.HasPrefix(got, "m3:") && !strings.HasPrefix(got, "m2:") {
			t.Errorf("%d clients met %s", n[got], got)
		}
	}
	if n["refused"] == 0 || n["m3:6388"] == 0 || n["m3:6183"] == 0 {
		t.Errorf("clients met %v", n)
	}
}

// connected is what became of one client.
type connected struct {
	begun time.Time
	took  time.Duration
	got   string
}

// clients connect to both services all the time, until the results are asked for.
func (w *world) clients() (results func() []connected) {
	ctx, stop := context.WithCancel(w.t.Context())
	var running sync.WaitGroup
	var mu sync.Mutex
	var all []connected
	for _, address := range []string{ironicVIP, mediaVIP} {
		running.Go(func() {
			for ctx.Err() == nil {
				begun := time.Now()
				got := at(w.client, address)
				mu.Lock()
				all = append(all, connected{begun, time.Since(begun), got})
				mu.Unlock()
				time.Sleep(5 * time.Millisecond)
			}
		})
	}
	return func() []connected {
		stop()
		running.Wait()
		return all
	}
}

// TestIronic_Unreached has the pod's process end, and its host vanish, while the API still says that
// it is ready: clients learn it at once, or after a few checks.
func TestIronic_Unreached(t *testing.T) {
	w := openOf(t, without)
	p := w.pod("m2", "m2", 6388, 6183)
	w.register("m1", "192.0.2.10")
	w.register("m2", "192.0.2.11")
	w.up(2)
	w.listed(6388, endpoint("192.0.2.11", true, false))
	w.ironicAt(ironicM2, mediaM2)
	w.within("it is reached", 10*time.Second, func() bool { return at(w.client, ironicVIP) == "m2:6388" })
	w.step("the process ends", func() {
		p.end()
		w.refused("the process has ended", "closed")
		w.ironicAt()
		w.refused("the check has found it")
	})
	w.step("it begins again", func() {
		w.pod("m2", "m2", 6388, 6183)
		w.ironicAt(ironicM2, mediaM2)
		if got := at(w.client, mediaVIP); got != "m2:6183" {
			t.Errorf("%s, want m2", got)
		}
	})
	w.step("the host vanishes", func() {
		if err := w.hosts["m2"].Link("down"); err != nil {
			t.Fatal(err)
		}
		t.Logf("it gets no more connections after %v", w.ironicAt().Round(time.Millisecond))
		w.refused("the check has found it")
	})
}
