package lb

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/lb/ironic"
	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/endpoint"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// ironicPods are the pods of Ironic.
type ironicPods struct{ *world }

func (k ironicPods) Known() ([]endpoint.Endpoint, bool) { return k.pods, k.podsSynced }

func (w *world) ServesIronic(context.Context) (bool, error) {
	w.asks++
	return w.serves, w.servesLate
}

func (p packets) EnsureIronic(r redirect.Rules) (bool, error) {
	p.ironic = r
	return true, p.fault["ironic's filter"]
}

func (p packets) RemoveIronic() error {
	p.withoutTable = true
	return p.fault["ironic's filter"]
}

// newIronic is a world whose cluster provisions hosts without a provisioning network.
func newIronic(t *testing.T) *world {
	t.Helper()
	w := worldOf(t, func(c *spec.Cluster) {
		address, err := bmc.Parse("redfish-virtualmedia://198.51.100.1/a")
		if err != nil {
			t.Fatal(err)
		}
		c.Provisioning.Network = provisioning.Disabled
		c.Hosts = []spec.Host{{Name: "w0", Role: machine.Worker, BootMACAddress: "52:54:00:00:00:01", BMC: machine.BMC{Address: address}}}
	})
	if !w.plan.BalancesIronic() {
		t.Fatal("the plan does not balance Ironic")
	}
	return w
}

// pod is an endpoint of the Service of Ironic.
func pod(address string, ready, terminating bool) endpoint.Endpoint {
	return endpoint.Endpoint{Address: netip.MustParseAddr(address), Ready: ready, Terminating: terminating,
		Ports: []endpoint.Port{{Name: "ironic", Number: 6388}, {Name: "http", Number: 6180}, {Name: "vmedia-https", Number: 6183}}}
}

// listed has the API list these pods.
func (w *world) listed(pods ...endpoint.Endpoint) { w.pods, w.podsSynced = pods, true }

// servers are those of a backend that the running HAProxy sends connections to.
func (w *world) servers(backend string) string {
	var all []string
	for _, s := range w.stats {
		if s.Backend == backend && !s.Disabled() {
			all = append(all, s.Address.String())
		}
	}
	return strings.Join(all, " ")
}

// ready is a world with a running HAProxy that serves Ironic at a pod.
func ready(t *testing.T) *world {
	w := newIronic(t)
	w.named("192.0.2.10", "192.0.2.11", "192.0.2.12")
	w.listed(pod("192.0.2.11", true, false))
	w.well()
	w.start()
	w.healthy, w.serves = true, true
	w.well()
	return w
}

// TestIronic_Moves holds which pod gets connections while one ends and another one begins, that
// HAProxy is not reloaded for it, and that nothing is left of the former one's connections.
func TestIronic_Moves(t *testing.T) {
	w := ready(t)
	old, next := pod("192.0.2.11", true, false), pod("192.0.2.12", true, false)
	for i, step := range []struct {
		name     string
		pods     []endpoint.Endpoint
		at       string // without the port
		sessions bool   // of the first pod go on
	}{
		{"it is ready", []endpoint.Endpoint{old}, "192.0.2.11", true},
		{"it is not ready for a while", []endpoint.Endpoint{pod("192.0.2.11", false, false)}, "", true},
		{"it is ready again", []endpoint.Endpoint{old}, "192.0.2.11", true},
		{"it terminates, and still says that it is ready", []endpoint.Endpoint{pod("192.0.2.11", true, true)}, "", false},
		{"the next one starts", []endpoint.Endpoint{pod("192.0.2.11", false, true), pod("192.0.2.12", false, false)}, "", false},
		{"the next one is ready", []endpoint.Endpoint{pod("192.0.2.11", false, true), next}, "192.0.2.12", false},
		{"the first one is gone", []endpoint.Endpoint{next}, "192.0.2.12", false},
		{"one at a VIP, which is the balancer itself", []endpoint.Endpoint{next, pod("192.0.2.5", true, false)}, "192.0.2.12", false},
	} {
		w.listed(step.pods...)
		for s := range w.stats {
			if at := w.stats[s]; at.Backend == haproxy.IronicAPI && at.Address.Addr().String() == "192.0.2.11" {
				w.stats[s].Sessions = 3
			}
		}
		w.now = w.now.Add(often)
		w.well()
		api, media := "", ""
		if step.at != "" {
			api, media = step.at+":6388", step.at+":6183"
		}
		if w.servers(haproxy.IronicAPI) != api || w.servers(haproxy.VirtualMedia) != media {
			t.Errorf("step %d: %s: Ironic at %q, virtual media at %q, want %q", i, step.name, w.servers(haproxy.IronicAPI), w.servers(haproxy.VirtualMedia), step.at)
		}
		left := slices.ContainsFunc(w.stats, func(s haproxy.Stat) bool { return s.Backend == haproxy.IronicAPI && s.Sessions > 0 })
		if left != step.sessions {
			t.Errorf("step %d: %s: sessions of the first pod are left: %t", i, step.name, left)
		}
		if len(w.ironic.Redirects) != 2 {
			t.Errorf("step %d: %s: redirects %+v: a stranger would answer", i, step.name, w.ironic.Redirects)
		}
	}
	if w.reloads > 0 {
		t.Errorf("%d reloads", w.reloads)
	}
	if !strings.Contains(w.files[haproxy.File], "server s1 192.0.2.12:6388") && !strings.Contains(w.files[haproxy.File], "server s0 192.0.2.12:6388") {
		t.Errorf("a HAProxy that restarts begins with\n%s", w.files[haproxy.File])
	}
}

// TestIronic_Redirect holds that the VIP's ports lead to HAProxy only while it serves Ironic, and
// the API has said where that is; whatever becomes of the API's own redirect.
func TestIronic_Redirect(t *testing.T) {
	timeout := errors.New("deadline exceeded")
	w := newIronic(t)
	w.healthy, w.serves = true, true
	w.well()
	if len(w.ironic.Redirects) > 0 {
		t.Error("redirected, and it is not known where Ironic is")
	}
	w.listed()
	w.named("192.0.2.10")
	for i, step := range []struct {
		healthy, serves bool
		late            error
		on              bool
	}{
		{true, true, nil, true}, {true, false, nil, false}, {true, true, nil, true}, {false, true, nil, true},
		{true, true, timeout, true}, {true, true, timeout, true}, {true, true, timeout, false}, {true, true, nil, true}, {true, false, nil, false},
	} {
		w.healthy, w.serves, w.servesLate = step.healthy, step.serves, step.late
		w.well()
		if on := len(w.ironic.Redirects) > 0; on != step.on || on && len(w.ironic.Redirects) != 2 {
			t.Errorf("step %d: redirects %+v, want on %t", i, w.ironic.Redirects, step.on)
		}
		if api := len(w.rules.Redirects) > 0; api != step.healthy {
			t.Errorf("step %d: the API is redirected: %t", i, api)
		}
	}
	w.serves, w.servesLate = true, nil
	w.well()
	w.asks, w.late = 0, timeout
	w.well()
	if w.asks > 0 || len(w.ironic.Redirects) != 2 {
		t.Errorf("a HAProxy that is late is asked %d times more, redirects %+v", w.asks, w.ironic.Redirects)
	}
	w.late = nil
	if err := w.room.Leave(t.Context()); err != nil || len(w.ironic.Redirects) > 0 {
		t.Errorf("at the end: %+v, %v", w.ironic, err)
	}
}

// TestIronic_WithoutTheAPI holds that a monitor that starts while the API is away leaves Ironic
// where it was, in this boot; and one that knows nothing changes nothing on the host.
func TestIronic_WithoutTheAPI(t *testing.T) {
	w := ready(t)
	w.restart()
	w.podsSynced, w.pods = false, nil
	w.stats[slices.IndexFunc(w.stats, func(s haproxy.Stat) bool { return s.Backend == haproxy.IronicAPI })].Sessions = 3
	w.commands = nil
	w.well()
	if w.servers(haproxy.IronicAPI) != "192.0.2.11:6388" || len(w.ironic.Redirects) != 2 || len(w.commands) > 0 {
		t.Errorf("another monitor: Ironic at %q, %d redirects, commands %q", w.servers(haproxy.IronicAPI), len(w.ironic.Redirects), w.commands)
	}
	delete(w.files, ironic.Memory) // as by a reboot
	w.restart()
	w.well()
	if len(w.ironic.Redirects) > 0 || w.files[ironic.Memory] != "" {
		t.Errorf("after a reboot: %+v, remembered %q", w.ironic, w.files[ironic.Memory])
	}
	w.files[ironic.Memory] = "{"
	w.restart()
	w.well()
	if len(w.ironic.Redirects) > 0 {
		t.Errorf("a broken file: %+v", w.ironic)
	}
}

// TestIronic_FaultsApart holds that what fails about Ironic is reported, and stops nothing of the
// API.
func TestIronic_FaultsApart(t *testing.T) {
	broken := errors.New("input/output error")
	for _, at := range []string{ironic.Memory, "ironic's filter"} {
		w := ready(t)
		w.restart()
		w.fault[at] = broken
		w.named("192.0.2.10", "192.0.2.11")
		if err := w.reconcile(); !errors.Is(err, broken) {
			t.Errorf("%s: it reports %v", at, err)
		}
		if len(w.rules.Redirects) == 0 || w.members() != "192.0.2.10 192.0.2.11" {
			t.Errorf("%s: the API waits: members %s", at, w.members())
		}
		delete(w.fault, at)
		w.well()
		if w.members() != "192.0.2.10 192.0.2.11" || w.servers(haproxy.IronicAPI) != "192.0.2.11:6388" {
			t.Errorf("%s: afterwards: members %s, Ironic %s", at, w.members(), w.servers(haproxy.IronicAPI))
		}
	}
}

// TestIronic_Refused holds that pods are followed by a HAProxy that goes on with its former
// structure.
func TestIronic_Refused(t *testing.T) {
	w := ready(t)
	w.refuses, w.ca = true, certificate(t)
	if err := w.reconcile(); err == nil {
		t.Error("the error is not reported")
	}
	w.listed(pod("192.0.2.12", true, false))
	w.well()
	if got := w.servers(haproxy.IronicAPI); got != "192.0.2.12:6388" || w.reloads != 1 {
		t.Errorf("Ironic at %q after %d reloads", got, w.reloads)
	}
}

// TestIronic_NotBalanced holds that a cluster which does not balance Ironic has nothing of it.
func TestIronic_NotBalanced(t *testing.T) {
	w := newWorld(t)
	w.listed(pod("192.0.2.11", true, false))
	w.named("192.0.2.10")
	w.healthy, w.serves = true, true
	w.well()
	if text := w.files[haproxy.File]; strings.Contains(text, "ironic") || strings.Contains(text, "virtual-media") || w.asks > 0 || w.files[ironic.Memory] != "" {
		t.Errorf("it has Ironic:\n%s", text)
	}
	if len(w.ironic.Redirects) > 0 || !w.withoutTable {
		t.Errorf("redirects %+v, what an earlier run left is removed: %t", w.ironic, w.withoutTable)
	}
	if other := newIronic(t); func() bool { other.well(); return other.withoutTable }() {
		t.Error("a cluster that balances it has its rules removed")
	}
}
