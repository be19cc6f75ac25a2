package probes

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// node is a FAKE node: servers that answer with a code, or are not there.
type node struct {
	balancer, router, ready, mcs, api int // 0: no process listens
	present                           bool
	noPresent                         error
	pods                              []Pod
	noPods                            error
	noDNS                             error
	elsewhere                         bool // no OpenShift
	stats                             string
	reserved                          map[string]int // what servers answer whom they know, by HOST:PORT
}

func (l node) prober(t *testing.T) *Prober { return New(l.services(t)) }

func (l node) services(t *testing.T) Options {
	t.Helper()
	var gone []*httptest.Server
	serve := func(code int, body string, start func(http.Handler) *httptest.Server) string {
		s := start(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(code)
			w.Write([]byte(body))
		}))
		if t.Cleanup(s.Close); code == 0 {
			gone = append(gone, s)
		}
		return s.URL
	}
	defer func() { // once the others have their ports
		for _, s := range gone {
			s.Close()
		}
	}()
	plain := func(code int, body string) *probe.HTTP {
		return probe.NewHTTP(serve(code, body, httptest.NewServer), localhost.Dial)
	}
	api := serve(l.api, "", httptest.NewTLSServer)
	stats := 0
	if l.stats != "" {
		stats = 200
	}
	var trusted *http.Client
	{
		s := httptest.NewTLSServer(nil)
		trusted = s.Client()
		s.Close()
	}
	// Servers that refuse anonymous requests are probed all at once: they start here, so that APIAt
	// only reads.
	nobody, reserved := serve(0, "", httptest.NewTLSServer), map[string]string{}
	for server, code := range l.reserved {
		reserved[server] = serve(code, "", httptest.NewTLSServer)
	}
	return Options{
		Redirected: func() (bool, error) { return l.present, l.noPresent },
		Pods:       func(context.Context) ([]Pod, error) { return l.pods, l.noPods },
		Balancer:   plain(l.balancer, ""), OpenShift: !l.elsewhere, Router: plain(l.router, ""),
		RouterReady: plain(l.ready, ""), Stats: plain(stats, l.stats),
		NameServer:    func(context.Context) error { return l.noDNS },
		MachineConfig: probe.NewUntrusted(serve(l.mcs, "", httptest.NewTLSServer), localhost.Dial),
		API:           probe.NewAPI(strings.TrimPrefix(api, "https://"), func() (*http.Client, error) { return trusted, nil }),
		APIAt: func(server string) API {
			real := cmp.Or(reserved[server], nobody)
			return probe.NewAPI(strings.TrimPrefix(real, "https://"), func() (*http.Client, error) { return trusted, nil })
		},
	}
}

// router is a pod of the default router, with a hash of so many characters.
func router(hash string) Pod {
	return Pod{Namespace: "openshift-ingress", Name: "router-default-" + hash + "-x7k2p"}
}

// TestProbe holds what each check finds. Answers other than 2xx are failures (K-45); the local API
// alone is no balancer (K-47); who cannot say whether the redirect is there has said nothing
// (K-62); any router is not the default one (K-50); one that drains is one (K-52).
func TestProbe(t *testing.T) {
	well := node{balancer: 200, present: true, api: 200, mcs: 200, router: 200, ready: 200, pods: []Pod{router("5d9f8c7b6d")}}
	but := func(change func(l *node)) node {
		l := well
		change(&l)
		return l
	}
	for _, tt := range []struct {
		name  string
		node  node
		check vrrp.CheckName
		want  health.Finding
		why   string // a part
	}{
		{"a healthy node balances", well, vrrp.CheckLB, health.Passed, "redirect leads to it"},
		{"no balancer", but(func(l *node) { l.balancer = 0 }), vrrp.CheckLB, health.Failed, "the balancer"},
		{"a balancer without a server", but(func(l *node) { l.balancer = 503 }), vrrp.CheckLB, health.Failed, "answers 503"},
		{"no redirect", but(func(l *node) { l.present = false }), vrrp.CheckLB, health.Failed, "redirect is not there"},
		{"nobody can say whether there is one", but(func(l *node) { l.noPresent = fs.ErrPermission }), vrrp.CheckLB, health.Untold, "permission"},
		{"no balancer, and nobody can say", but(func(l *node) { l.balancer, l.noPresent = 0, fs.ErrPermission }), vrrp.CheckLB, health.Failed, "the balancer"},
		{"the local API is away, the balancer is not", but(func(l *node) { l.api = 0 }), vrrp.CheckLB, health.Passed, ""},
		{"both, by the balancer", but(func(l *node) { l.api = 0 }), vrrp.CheckBoth, health.Passed, ""},
		{"both, by the API", but(func(l *node) { l.balancer = 0 }), vrrp.CheckBoth, health.Passed, "local API is ready"},
		{"both, by neither", but(func(l *node) { l.balancer, l.api = 0, 500 }), vrrp.CheckBoth, health.Failed, "not ready"},
		{"both, nobody can say and no API", but(func(l *node) { l.noPresent, l.api = fs.ErrPermission, 0 }), vrrp.CheckBoth, health.Untold, "permission"},
		{"a machine config server", well, vrrp.CheckMCS, health.Passed, ""},
		{"none", but(func(l *node) { l.mcs = 0 }), vrrp.CheckMCS, health.Failed, "machine config server"},
		{"a router", well, vrrp.CheckIngress, health.Passed, ""},
		{"a router that drains", but(func(l *node) { l.ready = 500 }), vrrp.CheckIngress, health.Passed, ""},
		{"a router that drains is not ready", but(func(l *node) { l.ready = 500 }), vrrp.CheckIngressReady, health.Failed, "answers 500"},
		{"no router", but(func(l *node) { l.router = 0 }), vrrp.CheckIngress, health.Refused, "ingress router"},
		{"the default router", well, vrrp.CheckDefaultIngress, health.Passed, ""},
		{"with a short hash", but(func(l *node) { l.pods = []Pod{router("abcde")} }), vrrp.CheckDefaultIngress, health.Passed, ""},
		{"another router", but(func(l *node) { l.pods = []Pod{router("internal-5d9f8c7b6d")} }), vrrp.CheckDefaultIngress, health.Failed, "no default router"},
		{"no pod at all", but(func(l *node) { l.pods = nil }), vrrp.CheckDefaultIngress, health.Failed, "no default router"},
		{"a kubelet that says nothing", but(func(l *node) { l.pods, l.noPods = nil, errors.New("no socket") }), vrrp.CheckDefaultIngress, health.Untold, "no socket"},
		{"an ingress controller of any kind", but(func(l *node) { l.elsewhere, l.router = true, 404 }), vrrp.CheckIngress, health.Passed, "ingress controller answers"},
		{"none of any kind", but(func(l *node) { l.elsewhere, l.router = true, 0 }), vrrp.CheckIngress, health.Refused, "ingress port"},
		{"a name server", well, vrrp.CheckDNS, health.Passed, "name server answers"},
		{"one that does not answer", but(func(l *node) { l.noDNS = errors.New("refused") }), vrrp.CheckDNS, health.Failed, "name server: refused"},
		{"no check", well, "another", health.Untold, "no check"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			found, why := tt.node.prober(t).Probe(t.Context(), tt.check)
			if found != tt.want || !strings.Contains(why, tt.why) {
				t.Errorf("%v: %q, want %v: %q", found, why, tt.want, tt.why)
			}
			again, why2 := tt.node.prober(t).Probe(t.Context(), tt.check)
			if again != found {
				t.Errorf("the second time %v: %q", again, why2)
			}
		})
	}
}

// TestProbe_BalancerOnce holds that the two checks which depend on the balancer, and are made at one time,
// ask it once, and that nothing is believed for long.
func TestProbe_BalancerOnce(t *testing.T) {
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		if asked.Add(1) > 1 {
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	services := node{present: true}.services(t)
	services.Balancer = probe.NewHTTP(server.URL, localhost.Dial)
	n, begun := New(services), time.Now()
	for _, check := range []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth} {
		if found, why := n.Probe(t.Context(), check); found != health.Passed || asked.Load() != 1 {
			t.Errorf("%s: %v after %d questions: %s", check, found, asked.Load(), why)
		}
		if n.balancer.at.Before(begun) {
			t.Errorf("%s: the answer is of %v", check, n.balancer.at)
		}
		n.balancer.at = time.Now().Add(time.Minute) // it was at one time, however slow this machine is
	}
	n.balancer.at = time.Now().Add(-fresh)
	if found, why := n.Probe(t.Context(), vrrp.CheckBoth); found != health.Failed || asked.Load() != 2 {
		t.Errorf("later: %v after %d questions: %s", found, asked.Load(), why)
	}
}

// TestProbe_BalancerHangs holds that a node whose own API server serves is not taken for one
// that serves nothing because its balancer hangs, and that neither of the two is believed that
// hangs.
func TestProbe_BalancerHangs(t *testing.T) {
	hangs := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer hangs.Close()
	for _, tt := range []struct {
		api  int
		want health.Finding
		why  string
	}{
		{200, health.Passed, "local API is ready"},
		{500, health.Failed, "local API is not ready"},
		{0, health.Failed, "local API is gone"},
	} {
		services := node{present: true, api: tt.api}.services(t)
		services.Balancer = probe.NewHTTP(hangs.URL, localhost.Dial)
		n := New(services)
		ctx, cancel := context.WithTimeout(t.Context(), 6*time.Second)
		lb := make(chan health.Finding, 1)
		go func() { // both checks are made at one time
			found, _ := n.Probe(ctx, vrrp.CheckLB)
			lb <- found
		}()
		if found, why := n.Probe(ctx, vrrp.CheckBoth); found != tt.want || !strings.Contains(why, tt.why) {
			t.Errorf("an API server that answers %d: %v: %s", tt.api, found, why)
		}
		if found := <-lb; found != health.Failed {
			t.Errorf("the balancer: %v", found)
		}
		cancel()
	}
}

// TestServed holds that HAProxy's own belief opens no gate: a server must have passed a check, and
// not by refusing an answer without credentials.
func TestServed(t *testing.T) {
	const head = "# pxname,svname,scur,status,lastchg,type,check_status,check_code,addr\n"
	for _, tt := range []struct {
		name, stats string
		served      bool
		reserved    map[string]int
	}{
		{"no balancer", "", false, nil},
		{"no statistics", "<html>", false, nil},
		{"up before the first check", head + "masters,m0,0,UP,3,2,INI,,192.0.2.11:6443\n", false, nil},
		{"no check at all", head + "masters,m0,0,no check,3,2,,,192.0.2.11:6443\n", false, nil},
		{"a check failed", head + "masters,m0,0,UP 1/2,3,2,L7RSP,200,192.0.2.11:6443\n", false, nil},
		{"all down", head + "masters,m0,0,DOWN,3,2,L7STS,500,192.0.2.11:6443\n", false, nil},
		{"another backend's", head + "mcs,m0,0,UP,3,2,L7OK,200,192.0.2.11:22623\n", false, nil},
		{"one of two", head + "masters,m0,0,DOWN,3,2,L4CON,,192.0.2.11:6443\nmasters,m1,0,UP,3,2,L7OK,200,192.0.2.12:6443\n", true, nil},
		{"answers need credentials, and no server is ready", head + "masters,m0,0,UP,3,2,L7OK,403,192.0.2.11:6443\nmasters,m1,0,UP,3,2,L7OK,401,192.0.2.12:6443\n", false, map[string]int{"192.0.2.11:6443": 500, "192.0.2.12:6443": 403}},
		{"answers need credentials, and no server listens", head + "masters,m0,0,UP,3,2,L7OK,403,192.0.2.11:6443\nmasters,m1,0,UP,3,2,L7OK,401,192.0.2.12:6443\n", false, nil},
		{"answers need credentials, and one is ready", head + "masters,m0,0,UP,3,2,L7OK,403,192.0.2.11:6443\nmasters,m1,0,UP,3,2,L7OK,401,192.0.2.12:6443\n", true, map[string]int{"192.0.2.12:6443": 200}},
		{"a check is under way, and nobody is ready", head + "masters,m0,0,UP,3,2,* L7OK,,192.0.2.11:6443\n", false, map[string]int{"192.0.2.11:6443": 500}},
		{"one that is down is not asked", head + "masters,m0,0,DOWN 1/3,3,2,L7OK,403,192.0.2.11:6443\n", false, map[string]int{"192.0.2.11:6443": 200}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if served, why := (node{stats: tt.stats, reserved: tt.reserved}).prober(t).Served(t.Context()); served != tt.served {
				t.Errorf("served %t: %s", served, why)
			}
		})
	}
}
