package closed

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// node is what a watcher sees of a FAKE node, and what it has failed.
type node struct {
	mu     sync.Mutex
	shut   map[string]bool // services whose ports refuse connections
	passes map[vrrp.CheckName]bool
	probes int
	failed []string
}

func (n *node) options() Options {
	service := func(name string, checks ...vrrp.CheckName) Service {
		return Service{Name: name, Checks: checks, Closed: func() bool {
			n.mu.Lock()
			defer n.mu.Unlock()
			n.probes++
			return n.shut[name]
		}}
	}
	return Options{
		Services: []Service{service("api", vrrp.CheckLB, vrrp.CheckBoth), service("router", vrrp.CheckIngress)},
		Serves:   func(c vrrp.CheckName) bool { return n.passes[c] },
		Fail: func(why string, checks ...vrrp.CheckName) {
			n.mu.Lock()
			defer n.mu.Unlock()
			name, _, _ := strings.Cut(why, ":")
			for _, c := range checks {
				n.failed = append(n.failed, name+" "+string(c))
				n.passes[c] = false
			}
		},
	}
}

// TestProbe holds that two refusals in a row end a service, that one does not, and that what serves nothing
// is not probed.
func TestProbe(t *testing.T) {
	api, router := []string{"api lb", "api both"}, []string{"router ingress"}
	for _, tt := range []struct {
		name   string
		probes []string // the services that are shut, at each probe
		want   []string
		made   int
	}{
		{"nothing ends", []string{"", "", ""}, nil, 6},
		{"one refusal", []string{"api", "", "api", ""}, nil, 8},
		{"two refusals", []string{"", "api", "api", "api", "api"}, api, 8},
		{"another service", []string{"router", "router"}, router, 4},
		{"both", []string{"api router", "api router", "api router"}, slices.Concat(api, router), 4},
	} {
		n := &node{passes: map[vrrp.CheckName]bool{vrrp.CheckLB: true, vrrp.CheckBoth: true, vrrp.CheckIngress: true}}
		w := newWatcher(n.options())
		for _, shut := range tt.probes {
			n.shut = map[string]bool{"api": strings.Contains(shut, "api"), "router": strings.Contains(shut, "router")}
			w.probe()
		}
		if !slices.Equal(n.failed, tt.want) || n.probes != tt.made {
			t.Errorf("%s: %v after %d probes, want %v after %d", tt.name, n.failed, n.probes, tt.want, tt.made)
		}
	}
}

// TestProbe_Again holds that a service which has come back is ended by two refusals again, not by one.
func TestProbe_Again(t *testing.T) {
	n := &node{passes: map[vrrp.CheckName]bool{vrrp.CheckBoth: true}, shut: map[string]bool{"api": true}}
	w := newWatcher(n.options())
	w.probe()
	w.probe()
	n.passes[vrrp.CheckBoth] = true
	w.probe()
	if len(n.failed) != 2 {
		t.Fatalf("%v after one refusal", n.failed)
	}
	w.probe()
	if len(n.failed) != 4 {
		t.Errorf("%v after two refusals", n.failed)
	}
}

// TestRun holds the time that it takes, in virtual time.
func TestRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := &node{passes: map[vrrp.CheckName]bool{vrrp.CheckBoth: true}, shut: map[string]bool{}}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- Run(ctx, n.options()) }()
		time.Sleep(3*health.Closed().Interval + time.Millisecond)
		n.mu.Lock()
		n.shut["api"] = true
		n.mu.Unlock()
		failed := func() int {
			n.mu.Lock()
			defer n.mu.Unlock()
			return len(n.failed)
		}
		time.Sleep(health.Closed().Detects(0, 0) - 2*time.Millisecond)
		if got := failed(); got != 0 {
			t.Errorf("%d checks too early", got)
		}
		time.Sleep(2 * time.Millisecond)
		if got := failed(); got != 2 {
			t.Errorf("%d checks, not within %v", got, health.Closed().Detects(0, 0))
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// TestRise holds that a service which ends again and again is away for longer than it takes to find that out,
// so that routers do not damp it (RFC 2439): before the speaker's own time the check has to pass again.
func TestRise(t *testing.T) {
	found := health.Closed().Detects(0, 0)
	for _, timing := range vrrp.Profiles() {
		for _, check := range []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth, vrrp.CheckIngress, vrrp.CheckDNS} {
			p := timing.Checks[check]
			if rise := time.Duration(p.Rise) * p.Interval; rise < 3*found || p.Evicts() <= found {
				t.Errorf("%s: check %s rises within %v and falls after %v, its end is found within %v", timing.Profile, check, rise, p.Evicts(), found)
			}
		}
	}
}
