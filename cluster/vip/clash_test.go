package vip

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// foreign is a router beside the world that has the ID of its API.
func foreign(w *world) clash.Received {
	return clash.Received{Link: "eth0", MAC: "52:54:00:00:00:63", At: w.at, Advert: advert.Advert{From: ip("192.0.2.99"), Hops: advert.Near, Version: vrrp.V2, ID: w.plan.VRRP.API.ID,
		Priority: 200, Interval: time.Second, VIPs: ips("192.0.2.77"), Sound: true}}
}

// listening is what has been heard on eth0 since the world's first second.
func (w *world) listening(adverts ...clash.Received) {
	w.received = clash.Snapshot{At: w.at, Since: map[string]time.Time{"eth0": time.Unix(1000, 0)}, Adverts: adverts}
}

func stands(d Desired) (out []string) {
	for _, i := range d.Config.Instances {
		out = append(out, i.VIP.String())
	}
	return out
}

// TestRefuse holds that beside a router with its ID an instance does not start for the first time
// where that is asked for, that it listens first, and that what has started once starts whatever is
// heard.
func TestRefuse(t *testing.T) {
	c := family(cluster(), "IPv4")
	c.OnClash = clash.Refuse
	w := newWorld(t, c, role.Master)
	w.reconcile()
	d, why := w.decide()
	if len(d.Config.Instances) > 0 || !slices.ContainsFunc(why, func(r string) bool { return strings.Contains(r, "this host does not listen on eth0 yet") }) {
		t.Fatalf("%v stand, %q", stands(d), why)
	}
	w.listening()
	if d := w.reconcile(); len(d.Config.Instances) > 0 {
		t.Fatalf("%v start without having listened", stands(d))
	}
	w.at = w.at.Add(clash.ListenTime)
	w.listening(foreign(w))
	d, why = w.decide()
	if got := stands(d); !slices.Equal(got, []string{"192.0.2.6"}) || !slices.ContainsFunc(why, func(r string) bool {
		return strings.Contains(r, "no instance for 192.0.2.5: 192.0.2.99 (52:54:00:00:00:63) on eth0 has the virtual router ID")
	}) {
		t.Fatalf("%v stand, %q", got, why)
	}
	w.reconcile()
	w.listening()
	if got := stands(w.reconcile()); !slices.Equal(got, []string{"192.0.2.5", "192.0.2.6"}) {
		t.Fatalf("%v stand when the other router has gone", got)
	}
	w.again(role.Master)
	w.listening(foreign(w))
	if got := stands(w.reconcile()); !slices.Equal(got, []string{"192.0.2.5", "192.0.2.6"}) {
		t.Errorf("%v start again beside a clash", got)
	}
}

// TestRefuseNeverALive holds that nothing which runs, or ran under a release that knew nothing of
// clashes, is kept out.
func TestRefuseNeverALive(t *testing.T) {
	c := family(cluster(), "IPv4")
	c.OnClash = clash.Refuse
	for name, lived := range map[string]func(*world){
		"its memory is lost and it runs": func(w *world) {
			w.status = supervised.Status{PID: 9, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Backup}, "ostest_INGRESS_0": {State: supervised.Backup}}}
		},
		"a former release kept nothing of it": func(w *world) {
			memory, err := nodestate.Decode([]byte(`{"open": true, "nodes": [{"Name": "n1", "controlPlane": true}]}`))
			if err != nil {
				t.Fatal(err)
			}
			w.restart(role.Master, memory)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, c, role.Master)
			lived(w)
			w.listening(foreign(w))
			if got := stands(w.reconcile()); !slices.Equal(got, []string{"192.0.2.5", "192.0.2.6"}) {
				t.Errorf("%v stand", got)
			}
		})
	}
}

// TestReport holds that where nothing else is asked for a clash keeps nobody out, and nobody waits.
func TestReport(t *testing.T) {
	w := newWorld(t, family(cluster(), "IPv4"), role.Master)
	w.listening(foreign(w))
	if got := stands(w.reconcile()); !slices.Equal(got, []string{"192.0.2.5", "192.0.2.6"}) {
		t.Errorf("%v stand", got)
	}
}

// TestListen holds in which elections a node is to listen, and whom it takes for a member.
func TestListen(t *testing.T) {
	c := family(cluster(), "IPv4")
	w := newWorld(t, c, role.Master)
	w.nodes.OK, w.served = false, false
	w.reconcile()
	want := clash.Instance{Name: "ostest_API_0", Kind: vrrp.API, Link: "eth0", ID: w.plan.VRRP.API.ID, Version: vrrp.V2, Interval: time.Second, VIP: ip("192.0.2.5"), Unicast: true, Near: true, Own: ip("192.0.2.11")}
	if len(w.listens) != 2 || !reflect.DeepEqual(w.listens[0], want) || w.listens[1].Members != nil {
		t.Errorf("before the API has named anybody and the gate is open: %+v", w.listens)
	}
	w.nodes.OK, w.bootstrap = true, answered(bootpeer.Published{Left: true})
	w.reconcile()
	want.Members = ips("192.0.2.11", "192.0.2.12", "192.0.2.13")
	if !reflect.DeepEqual(w.listens[0], want) || len(w.listens[1].Members) != 5 {
		t.Errorf("when the API has named the nodes: %+v", w.listens)
	}
	w.bootstrap = answered(bootpeer.Published{Addresses: ips("192.0.2.20"), Beat: "1"})
	w.reconcile()
	if want.Members = ips("192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.20"); !reflect.DeepEqual(w.listens[0], want) {
		t.Errorf("with a bootstrap machine: %+v", w.listens)
	}
	w.again(role.Master)
	w.nodes.OK = false
	w.reconcile()
	if len(w.listens) != 2 || w.listens[0].Members != nil || w.listens[1].Members != nil {
		t.Errorf("of the nodes of an earlier run: %+v", w.listens)
	}
	c.VRRP = spec.Multicast
	w = newWorld(t, c, role.Worker)
	w.reconcile()
	if len(w.listens) != 1 || w.listens[0].Kind != vrrp.Ingress || w.listens[0].Unicast {
		t.Errorf("a worker in multicast: %+v", w.listens)
	}
	w.remote = true
	w.reconcile()
	if len(w.listens) > 0 {
		t.Errorf("a remote worker: %+v", w.listens)
	}
}
