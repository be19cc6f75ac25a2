package vip

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestBootstrapPeer holds which published address becomes a peer for the API VIP: one in a machine network
// that is nobody else's, and for no other VIP.
func TestBootstrapPeer(t *testing.T) {
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
			w.bootstrap = answered(bootpeer.Published{Addresses: tt.addresses, Beat: "1"})
			want := append(slices.Clone(tt.want), ips("192.0.2.12", "192.0.2.13")...)
			d := w.reconcile()
			if got, _ := peers(d, "192.0.2.5"); !slices.Equal(got, want) {
				t.Errorf("peers %v, want %v", got, want)
			}
			if got, _ := peers(d, "192.0.2.6"); slices.Contains(got, ip("192.0.2.9")) {
				t.Errorf("a peer for the ingress VIP: %v", got)
			}
		})
	}
}

// TestBootstrapPeerGoes holds when the bootstrap machine is no peer any more: when it says so, when its
// object is gone, and when its beat has stood still for as long as this machine's clock says; and
// that only its own word is a proof that it is gone for good: it goes on holding the VIP while its
// object is lost, and publishes it again.
func TestBootstrapPeerGoes(t *testing.T) {
	published := bootpeer.Published{Addresses: ips("192.0.2.9"), Beat: "1"}
	for _, tt := range []struct {
		name   string
		change func(w *world)
		peer   bool
		gone   bool
	}{
		{name: "it beats", change: func(w *world) { w.at, w.bootstrap.Is.Beat = w.at.Add(bootpeer.StaleAfter), "2" }, peer: true},
		{name: "it is a little late", change: func(w *world) { w.at = w.at.Add(bootpeer.StaleAfter - time.Second) }, peer: true},
		{name: "it is silent", change: func(w *world) { w.at = w.at.Add(bootpeer.StaleAfter) }},
		{name: "it has left", change: func(w *world) { w.bootstrap = answered(bootpeer.Published{Left: true}) }, gone: true},
		{name: "its object is lost", change: func(w *world) { w.bootstrap = answered(bootpeer.Published{}) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, family(cluster(), "IPv4"), role.Master)
			w.bootstrap = answered(published)
			w.reconcile()
			tt.change(w)
			d := w.reconcile()
			if got, _ := peers(d, "192.0.2.5"); slices.Contains(got, ip("192.0.2.9")) != tt.peer || w.memory.BootstrapGone != tt.gone {
				t.Errorf("peers %v, gone %t", got, w.memory.BootstrapGone)
			}
			if got := w.room.boot.IsPeer(); got != tt.peer {
				t.Errorf("it speaks with the nodes: %t, want %t", got, tt.peer)
			}
			if i := instance(t, d, "192.0.2.5"); i.Known != tt.gone || i.Near != tt.gone {
				t.Errorf("known %t, near %t, want %t", i.Known, i.Near, tt.gone)
			}
		})
	}
}

// TestBootstrapPeerBefore holds that who comes later knows of a bootstrap machine that has left when it has
// said so, and not when there is no word of it.
func TestBootstrapPeerBefore(t *testing.T) {
	for _, left := range []bool{true, false} {
		w := newWorld(t, cluster(), role.Master)
		w.bootstrap = answered(bootpeer.Published{Left: left})
		if i := instance(t, w.reconcile(), "192.0.2.5"); i.Known != left {
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
		d := w.reconcile()
		for vip, want := range map[string][2]bool{
			"192.0.2.5": {api, api}, "2001:db8::5": {api, false}, "192.0.2.6": {true, true}, "2001:db8::6": {true, false},
		} {
			if i := instance(t, d, vip); i.Known != want[0] || i.Near != want[1] {
				t.Errorf("%s: %s knows %t, near %t, want %v", when, vip, i.Known, i.Near, want)
			}
		}
	}
	check("nobody has published anything", false)
	w.bootstrap = answered(bootpeer.Published{})
	check("there is no object", false)
	master := supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Master}}}
	backup := supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Backup}}}
	for range 3 { // it holds the VIP for a moment, as one does that nobody has told yet of the holder
		w.status = master
		check("it holds the VIP", false)
		w.at = w.at.Add(bootpeer.ProofAfter - time.Second)
		check("it holds the VIP for less than a minute", false)
		w.status = backup
		check("it has given the VIP back", false)
	}
	w.status = master
	check("it holds the VIP again", false)
	w.at = w.at.Add(bootpeer.ProofAfter)
	check("it has held the VIP for a minute", true)
	w.status = backup
	w.again(role.Master)
	check("after a restart", true)
	w.nodes = answered(nodes(1, 0))
	w.reconcile()
	w.at = w.at.Add(peer.Gone)
	if d := w.reconcile(); len(d.Config.Instances) != 0 {
		t.Error("one node alone")
	}
}

// TestReportGone holds that a node which has held the API VIP for a minute leaves no cluster without
// a word of the bootstrap machine: every kubelet may create the object, and a foreign address in
// it would be a peer's. It says nothing sooner, nothing where something is said, and nothing when
// the API has not said whether there is an object, or what it says cannot be believed.
func TestReportGone(t *testing.T) {
	for _, tt := range []struct {
		name      string
		state     supervised.State
		held      time.Duration
		bootstrap Answer[bootpeer.Published]
		self      string // by its credentials
		node      string // where it says so
	}{
		{name: "no object", state: supervised.Master, held: bootpeer.ProofAfter, bootstrap: answered(bootpeer.Published{}), self: "n3", node: "n3"},
		{name: "credentials of no Node", state: supervised.Master, held: bootpeer.ProofAfter, bootstrap: answered(bootpeer.Published{}), node: "n1"},
		{name: "not yet", state: supervised.Master, held: bootpeer.ProofAfter - time.Second, bootstrap: answered(bootpeer.Published{})},
		{name: "another holds the VIP", state: supervised.Backup, held: time.Hour, bootstrap: answered(bootpeer.Published{})},
		{name: "it has said so", state: supervised.Master, held: bootpeer.ProofAfter, bootstrap: answered(bootpeer.Published{Left: true})},
		{name: "it has published its address", state: supervised.Master, held: bootpeer.ProofAfter, bootstrap: answered(bootpeer.Published{Addresses: ips("192.0.2.9"), Beat: "1"})},
		{name: "the API has not spoken", state: supervised.Master, held: bootpeer.ProofAfter},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, cluster(), role.Master)
			w.bootstrap, w.self = tt.bootstrap, tt.self
			w.status = supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: tt.state}}}
			w.reconcile()
			w.at = w.at.Add(tt.held)
			w.reconcile()
			if got := strings.Join(slices.Compact(slices.Clone(w.reported)), " "); got != tt.node {
				t.Errorf("told on the Nodes %q, want %q", got, tt.node)
			}
			w.status.Instances["ostest_API_0"] = supervised.Instance{State: supervised.Backup}
			reported := len(w.reported)
			if w.reconcile(); len(w.reported) != reported {
				t.Error("it tells when it holds the VIP no more")
			}
		})
	}
}

// TestBootstrapPeerBack holds that a bootstrap machine which is back after it was said to be gone is a peer
// again.
func TestBootstrapPeerBack(t *testing.T) {
	w := newWorld(t, family(cluster(), "IPv4"), role.Master)
	w.bootstrap = answered(bootpeer.Published{Left: true})
	w.reconcile()
	w.bootstrap = answered(bootpeer.Published{Addresses: ips("192.0.2.9"), Beat: "1"})
	if got, _ := peers(w.reconcile(), "192.0.2.5"); !slices.Contains(got, ip("192.0.2.9")) {
		t.Errorf("peers %v", got)
	}
}

// TestKnownAfterReboot holds that a node which starts with the nodes of an earlier run hears a
// holder that it does not know, until the API has named the nodes.
func TestKnownAfterReboot(t *testing.T) {
	w := newWorld(t, family(cluster(), "IPv4"), role.Master)
	w.bootstrap = answered(bootpeer.Published{Left: true})
	w.reconcile()
	w.again(role.Master)
	now := answered(append(nodes(3, 2), node(7, true)))
	for _, tt := range []struct {
		when  string
		nodes Answer[[]member.Node]
		known bool
	}{
		{"the API has not spoken", Answer[[]member.Node]{}, false},
		{"it names no control plane", answered(nodes(0, 2)), false},
		{"it names the nodes", now, true},
		{"it is away again", Answer[[]member.Node]{}, true},
	} {
		w.nodes = tt.nodes
		if i := instance(t, w.reconcile(), "192.0.2.5"); i.Known != tt.known || i.Near != tt.known || len(i.Peers) < 2 {
			t.Errorf("%s: knows its peers %t, near %t, want %t; peers %v", tt.when, i.Known, i.Near, tt.known, i.Peers)
		}
	}
}
