package vip

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestGuest holds which published address becomes a peer for the API VIP: one in a machine network
// that is nobody else's, and for no other VIP.
func TestGuest(t *testing.T) {
	for _, tt := range []struct {
		name      string
		addresses []netip.Addr
		want      []netip.Addr // beside the nodes
	}{
		{name: "both families", addresses: ips("192.0.2.9", "2001:db8::9"), want: ips("192.0.2.9")},
		{name: "elsewhere", addresses: ips("198.51.100.9")},
		{name: "a VIP", addresses: ips("192.0.2.5", "192.0.2.6")},
		{name: "this machine", addresses: ips("192.0.2.11")},
		{name: "a node", addresses: ips("192.0.2.12")},
		{name: "no address", addresses: []netip.Addr{{}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, family(cluster(), "IPv4"), role.Master)
			w.bootstrap = said(Bootstrap{Addresses: tt.addresses, Beat: "1"})
			want := append(slices.Clone(tt.want), ips("192.0.2.12", "192.0.2.13")...)
			d := w.turn()
			if got, _ := peers(d, "192.0.2.5"); !slices.Equal(got, want) {
				t.Errorf("peers %v, want %v", got, want)
			}
			if got, _ := peers(d, "192.0.2.6"); slices.Contains(got, ip("192.0.2.9")) {
				t.Errorf("a peer for the ingress VIP: %v", got)
			}
		})
	}
}

// TestGuestGoes holds when the bootstrap machine is no peer any more: when it says so, when its
// object is gone, and when its beat has stood still for as long as this machine's clock says; and
// that only its own word is a proof that it is gone for good: it goes on holding the VIP while its
// object is lost, and publishes it again.
func TestGuestGoes(t *testing.T) {
	published := Bootstrap{Addresses: ips("192.0.2.9"), Beat: "1"}
	for _, tt := range []struct {
		name   string
		change func(w *world)
		peer   bool
		gone   bool
	}{
		{name: "it beats", change: func(w *world) { w.at, w.bootstrap.Is.Beat = w.at.Add(bootstrapSilence), "2" }, peer: true},
		{name: "it is a little late", change: func(w *world) { w.at = w.at.Add(bootstrapSilence - time.Second) }, peer: true},
		{name: "it is silent", change: func(w *world) { w.at = w.at.Add(bootstrapSilence) }},
		{name: "it has left", change: func(w *world) { w.bootstrap = said(Bootstrap{Left: true}) }, gone: true},
		{name: "its object is lost", change: func(w *world) { w.bootstrap = said(Bootstrap{}) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, family(cluster(), "IPv4"), role.Master)
			w.bootstrap = said(published)
			w.turn()
			tt.change(w)
			d := w.turn()
			if got, _ := peers(d, "192.0.2.5"); slices.Contains(got, ip("192.0.2.9")) != tt.peer || w.memory.BootstrapGone != tt.gone {
				t.Errorf("peers %v, gone %t", got, w.memory.BootstrapGone)
			}
			if got := w.room.Guest(); got != tt.peer {
				t.Errorf("it speaks with the nodes: %t, want %t", got, tt.peer)
			}
			if i := instance(t, d, "192.0.2.5"); i.Known != tt.gone || i.Near != tt.gone {
				t.Errorf("known %t, near %t, want %t", i.Known, i.Near, tt.gone)
			}
		})
	}
}

// TestGuestBefore holds that who comes later knows of a bootstrap machine that has left when it has
// said so, and not when there is no word of it.
func TestGuestBefore(t *testing.T) {
	for _, left := range []bool{true, false} {
		w := newWorld(t, cluster(), role.Master)
		w.bootstrap = said(Bootstrap{Left: left})
		if i := instance(t, w.turn(), "192.0.2.5"); i.Known != left {
			t.Errorf("left %t, knows its peers %t", left, i.Known)
		}
	}
}

// TestKnown holds to whom an instance listens: for the API VIP to everybody until the bootstrap
// machine is gone for good, as it may speak to a node that does not list it; for the ingress VIP to
// peers only, as everybody lists everybody. Today's nodes send IPv6 with a hop limit that only
// peers can be told apart by.
func TestKnown(t *testing.T) {
	w := newWorld(t, cluster(), role.Master)
	check := func(when string, api bool) {
		t.Helper()
		d := w.turn()
		for vip, want := range map[string][2]bool{
			"192.0.2.5": {api, api}, "2001:db8::5": {api, false}, "192.0.2.6": {true, true}, "2001:db8::6": {true, false},
		} {
			if i := instance(t, d, vip); i.Known != want[0] || i.Near != want[1] {
				t.Errorf("%s: %s knows %t, near %t, want %v", when, vip, i.Known, i.Near, want)
			}
		}
	}
	check("nobody has published anything", false)
	w.bootstrap = said(Bootstrap{})
	check("there is no object", false)
	master := supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Master}}}
	backup := supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Backup}}}
	for range 3 { // it holds the VIP for a moment, as one does that nobody has told yet of the holder
		w.status = master
		check("it holds the VIP", false)
		w.at = w.at.Add(reign - time.Second)
		check("it holds the VIP for less than a minute", false)
		w.status = backup
		check("it has given the VIP back", false)
	}
	w.status = master
	check("it holds the VIP again", false)
	w.at = w.at.Add(reign)
	check("it has held the VIP for a minute", true)
	w.status = backup
	w.again(role.Master)
	check("after a restart", true)
	w.nodes = said(nodes(1, 0))
	if d := w.turn(); len(d.Config.Instances) != 0 {
		t.Error("one node alone")
	}
}

// TestTellGone holds that a node which has held the API VIP for a minute leaves no cluster without
// a word of the bootstrap machine: every kubelet may create the object, and a stranger's address in
// it would be a peer's. It says nothing sooner, nothing where something is said, and nothing when
// the API has not said whether there is an object, or what it says cannot be believed.
func TestTellGone(t *testing.T) {
	for _, tt := range []struct {
		name      string
		state     supervised.State
		held      time.Duration
		bootstrap Heard[Bootstrap]
		self      string // by its credentials
		node      string // where it says so
	}{
		{name: "no object", state: supervised.Master, held: reign, bootstrap: said(Bootstrap{}), self: "n3", node: "n3"},
		{name: "credentials of no Node", state: supervised.Master, held: reign, bootstrap: said(Bootstrap{}), node: "n1"},
		{name: "not yet", state: supervised.Master, held: reign - time.Second, bootstrap: said(Bootstrap{})},
		{name: "another holds the VIP", state: supervised.Backup, held: time.Hour, bootstrap: said(Bootstrap{})},
		{name: "it has said so", state: supervised.Master, held: reign, bootstrap: said(Bootstrap{Left: true})},
		{name: "it has published its address", state: supervised.Master, held: reign, bootstrap: said(Bootstrap{Addresses: ips("192.0.2.9"), Beat: "1"})},
		{name: "the API has not spoken", state: supervised.Master, held: reign},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, cluster(), role.Master)
			w.bootstrap, w.self = tt.bootstrap, tt.self
			w.status = supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: tt.state}}}
			w.turn()
			w.at = w.at.Add(tt.held)
			w.turn()
			if got := strings.Join(slices.Compact(slices.Clone(w.told)), " "); got != tt.node {
				t.Errorf("told on the Nodes %q, want %q", got, tt.node)
			}
			w.status.Instances["ostest_API_0"] = supervised.Instance{State: supervised.Backup}
			told := len(w.told)
			if w.turn(); len(w.told) != told {
				t.Error("it tells when it holds the VIP no more")
			}
		})
	}
}

// TestGuestBack holds that a bootstrap machine which is back after it was said to be gone is a peer
// again.
func TestGuestBack(t *testing.T) {
	w := newWorld(t, family(cluster(), "IPv4"), role.Master)
	w.bootstrap = said(Bootstrap{Left: true})
	w.turn()
	w.bootstrap = said(Bootstrap{Addresses: ips("192.0.2.9"), Beat: "1"})
	if got, _ := peers(w.turn(), "192.0.2.5"); !slices.Contains(got, ip("192.0.2.9")) {
		t.Errorf("peers %v", got)
	}
}

// TestKnownAfterReboot holds that a node which starts with the nodes of an earlier run hears a
// holder that it does not know, until the API has named the nodes.
func TestKnownAfterReboot(t *testing.T) {
	w := newWorld(t, family(cluster(), "IPv4"), role.Master)
	w.bootstrap = said(Bootstrap{Left: true})
	w.turn()
	w.again(role.Master)
	now := said(append(nodes(3, 2), node(7, true)))
	for _, tt := range []struct {
		when  string
		nodes Heard[[]Node]
		known bool
	}{
		{"the API has not spoken", Heard[[]Node]{}, false},
		{"it names no control plane", said(nodes(0, 2)), false},
		{"it names the nodes", now, true},
		{"it is away again", Heard[[]Node]{}, true},
	} {
		w.nodes = tt.nodes
		if i := instance(t, w.turn(), "192.0.2.5"); i.Known != tt.known || i.Near != tt.known || len(i.Peers) < 2 {
			t.Errorf("%s: knows its peers %t, near %t, want %t; peers %v", tt.when, i.Known, i.Near, tt.known, i.Peers)
		}
	}
}
