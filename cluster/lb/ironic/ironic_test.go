package ironic

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/endpoint"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// around is a FAKE of what is around the room.
type around struct {
	files  map[string]string
	pods   []endpoint.Endpoint
	synced bool
	serves bool
	late   error
}

func (a *around) Read(path string) ([]byte, error) { return []byte(a.files[path]), nil }
func (a *around) Write(path string, text []byte, _ fs.FileMode) (bool, error) {
	a.files[path] = string(text)
	return true, nil
}
func (a *around) Known() ([]endpoint.Endpoint, bool)         { return a.pods, a.synced }
func (a *around) ServesIronic(context.Context) (bool, error) { return a.serves, a.late }
func (a *around) EnsureIronic(redirect.Rules) (bool, error) {
	return false, errors.New("no rules are to be written")
}
func (a *around) RemoveIronic() error { return nil }

// balancing is the plan of a cluster of OpenShift that has Ironic balanced.
func balancing() plan.Plan {
	p := plan.Plan{Shape: plan.Shape{Platform: spec.BareMetal, Distribution: spec.OpenShift},
		VIPs: plan.VIPs{API: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, Ingress: []netip.Addr{netip.MustParseAddr("192.0.2.6")}}, Ports: port.Numbers(nil)}
	p.Timing.Model.Redirect.Fall = 2
	return p
}

// TestDecide holds where connections go, and what is logged of it.
func TestDecide(t *testing.T) {
	at := func(address string, ready, terminating bool, ironic uint16) endpoint.Endpoint {
		return endpoint.Endpoint{Address: netip.MustParseAddr(address), Ready: ready, Terminating: terminating,
			Ports: []endpoint.Port{{Name: "ironic", Number: ironic}, {Name: "vmedia-https", Number: 6183}}}
	}
	nodes := []netip.Addr{netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("192.0.2.12"), netip.MustParseAddr("192.0.2.6")}
	for _, tt := range []struct {
		name   string
		around around
		want   string
		rules  int
	}{
		{"behind the operator's proxies", around{synced: true, serves: true, pods: []endpoint.Endpoint{at("192.0.2.11", true, false, 6388)}},
			"Ironic at 192.0.2.11:6388, virtual media at 192.0.2.11:6183: the VIP's connections to it go through HAProxy", 2},
		{"without proxies", around{synced: true, serves: true, pods: []endpoint.Endpoint{at("192.0.2.11", true, false, 6385)}},
			"Ironic at 192.0.2.11:6385, virtual media at 192.0.2.11:6183: the VIP's connections to it go through HAProxy", 2},
		{"it terminates", around{synced: true, serves: true, pods: []endpoint.Endpoint{at("192.0.2.11", true, true, 6388), at("192.0.2.12", false, false, 6388)}},
			"Ironic at none, virtual media at none: the VIP's connections to it go through HAProxy", 2},
		{"an endpoint at the ingress VIP", around{synced: true, serves: true, pods: []endpoint.Endpoint{at("192.0.2.6", true, false, 6388)}},
			"Ironic at none, virtual media at none: the VIP's connections to it go through HAProxy", 2},
		{"a pod that a worker's kubelet reports", around{synced: true, serves: true, pods: []endpoint.Endpoint{at("192.0.2.21", true, false, 6388)}},
			"Ironic at none, virtual media at none: the VIP's connections to it go through HAProxy", 2},
		{"the API has not named the nodes", around{synced: true, serves: true, pods: []endpoint.Endpoint{at("192.0.2.11", true, false, 6388)}},
			"the API has not reported where Ironic is: the VIP's connections to it stay as they are", 0},
		{"HAProxy has a former configuration", around{synced: true, pods: []endpoint.Endpoint{at("192.0.2.11", true, false, 6388)}},
			"Ironic at 192.0.2.11:6388, virtual media at 192.0.2.11:6183: HAProxy does not serve it, and the VIP's connections to it stay as they are", 0},
		{"the API is away since the start of the host", around{serves: true},
			"the API has not reported where Ironic is: the VIP's connections to it stay as they are", 0},
		{"the API is away since the start of the monitor", around{serves: true, files: map[string]string{Memory: `{"api":["192.0.2.11:6388"],"virtualMedia":["0.0.0.0:6183"]}`}},
			"Ironic at 192.0.2.11:6388, virtual media at none, as an earlier run knew: the VIP's connections to it go through HAProxy", 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			room := New(Options{Plan: balancing(), Host: &tt.around, Pods: &tt.around, Daemon: &tt.around, Filter: &tt.around})
			hosts := nodes
			if tt.name == "the API has not named the nodes" {
				hosts = nil
			}
			w, why := room.Decide(room.Observe(t.Context(), false), hosts)
			if why != tt.want || len(w.Rules.Redirects) != tt.rules {
				t.Errorf("%s\nwant %s\nredirects %+v", why, tt.want, w.Rules.Redirects)
			}
			if (w.Alive != nil) != (tt.around.synced && hosts != nil) {
				t.Errorf("alive %v", w.Alive)
			}
		})
	}
}

// TestElsewhere holds that the room does nothing in a cluster that does not balance Ironic.
func TestElsewhere(t *testing.T) {
	p := balancing()
	delete(p.Ports, port.IronicLB)
	a := &around{synced: true, serves: true, files: map[string]string{}}
	room := New(Options{Plan: p, Host: a, Pods: a, Daemon: a, Filter: a})
	w, why := room.Decide(room.Observe(t.Context(), false), []netip.Addr{})
	if err := errors.Join(room.Apply(redirect.Rules{}), room.Remember(w)); err != nil || why != "" || w.Known || len(w.Servers.API) > 0 || len(a.files) > 0 {
		t.Errorf("%+v %q %v, files %v", w, why, err, a.files)
	}
	if err := New(Options{Plan: balancing(), Filter: a}).Apply(redirect.Rules{}); err == nil || !strings.Contains(err.Error(), "Ironic") {
		t.Errorf("a packet filter that fails: %v", err)
	}
}
