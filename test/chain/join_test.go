package chain

import (
	"context"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// network is the cluster's network without the machine: what stands in the bootstrap host is up to
// the test.
func network(t *testing.T) (bootstrap *lab.Host, masters []*Master) {
	t.Helper()
	need.Root(t)
	need.Command(t, "keepalived")
	l := lab.New(t)
	bootstrap, err := l.Add("bootstrap", prefix(BootstrapIP))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for i, ip := range masterIPs {
		host, err := l.Add([]string{"master-0", "master-1"}[i], prefix(ip))
		if err != nil {
			t.Fatal(err)
		}
		masters = append(masters, newMaster(host, i, dir))
	}
	return bootstrap, masters
}

// TestJoin lets masters at their highest priority join a bootstrap machine that serves: first it
// speaks to the multicast group, then to both of them, as it does when their Nodes appear.
// keepalived takes an instance with peers for another one than the same without: it drops the VIP
// at the reload, for a master-down time. So the group is a peer. The cases that move the VIP show
// that the observer sees it.
func TestJoin(t *testing.T) {
	for _, tt := range []struct {
		name     string
		priority vrrp.Priority
		first    []netip.Addr
		moves    bool
	}{
		{name: "the group is a peer", priority: vrrp.Compat().Bootstrap, first: []netip.Addr{keepalived.Group(APIVIP)}, moves: false},
		{name: "no peers at first", priority: vrrp.Compat().Bootstrap, first: nil, moves: true},
		{name: "a priority that a master reaches", priority: vrrp.Compat().ControlPlane.Highest() - 1, first: masterIPs, moves: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			host, masters := network(t)
			observer, err := lab.Observe(APIVIP, 10*time.Millisecond, host, masters[0].Host, masters[1].Host)
			if err != nil {
				t.Fatal(err)
			}
			defer observer.Stop()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			api, err := instance(tt.priority)
			if err != nil {
				t.Fatal(err)
			}
			if api.Peers = tt.first; len(tt.first) > 0 {
				api.Source = BootstrapIP
			}
			bootstrap := NewKeepalived(host, t.TempDir())
			if err := bootstrap.Start(ctx, keepalived.Config{Instances: []keepalived.Instance{api}}); err != nil {
				t.Fatal(err)
			}
			defer bootstrap.Stop(context.WithoutCancel(ctx))
			if _, err := observer.Wait(ctx, "bootstrap"); err != nil {
				t.Fatalf("%v\n%s", err, bootstrap.Log())
			}
			api.Source, api.Peers = BootstrapIP, masterIPs
			if err := bootstrap.Reload(keepalived.Config{Instances: []keepalived.Instance{api}}); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second) // a node waits for half a minute
			for _, m := range masters {
				if err := m.Start(ctx); err != nil {
					t.Fatal(err)
				}
				defer m.Stop(context.WithoutCancel(ctx))
			}
			time.Sleep(10 * time.Second) // every move that the masters bring about is over
			r := observer.Stop()
			for _, s := range r.Spans {
				t.Logf("%7.3f s held by %v", s.Length().Seconds(), s.Holders)
			}
			moved := len(r.Gaps()) > 0 || len(r.Doubles()) > 0 || !slices.Equal(observer.Holders(), []string{"bootstrap"})
			if r.Err != nil || moved != tt.moves {
				t.Errorf("moved: %t, want %t (%v)\n%s", moved, tt.moves, r.Err, bootstrap.Log())
			}
		})
	}
}
