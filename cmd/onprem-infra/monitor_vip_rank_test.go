//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/members"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// ranked is a control plane node whose room decides with what a real API says, with the credentials
// of its kubelet. Its machine is FAKE.
type ranked struct {
	*members.Cluster
	address string
	room    *vip.Room
	wake    chan struct{}
	memory  nodestate.Memory
}

func (r *ranked) Listen([]clash.Instance) {}

func (r *ranked) OtherRouters() clash.Snapshot { return clash.Snapshot{} }

func (*ranked) Cards() ([]addr.Ethernet, error) { return nil, nil }

func (r *ranked) Links() (addr.Snapshot, error) {
	return addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "eth0", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix(r.address + "/24")}}}}}, nil
}
func (r *ranked) Agreed() ([]netip.Addr, bool, error)    { return nil, false, nil }
func (r *ranked) Status() (supervised.Status, error)     { return supervised.Status{}, nil }
func (r *ranked) Propose(keepalived.Config) error        { return nil }
func (r *ranked) Track(vrrp.CheckName, bool, bool) error { return nil }
func (r *ranked) SetUnserved([]vrrp.InstanceName) error  { return nil }
func (r *ranked) Beat(uint64) error                      { return nil }
func (r *ranked) Keep(m nodestate.Memory) error          { r.memory = m; return nil }
func (r *ranked) KeepMigration(migrate.Memory) error     { return nil }
func (r *ranked) Passes(vrrp.CheckName) bool             { return true }
func (r *ranked) Alive() bool                            { return true }
func (r *ranked) Served() bool                           { return true }

// reconcile is one round of the monitor's loop.
func (r *ranked) reconcile(t *testing.T) {
	s, err := r.room.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	d, _ := r.room.Decide(s)
	if err := errors.Join(r.room.Publish(t.Context(), d), r.room.Apply(t.Context(), d)); err != nil {
		t.Fatal(err)
	}
}

// TestClaimRank holds, in a real cluster and with the rights that nodes have, that nodes which all
// claim a rank at one time end with one each, that it stays what it is when one of them leaves, and
// that a new one gets the rank that is free. Which node gets which of the first ranks is the
// order of their writes, which nobody promises.
func TestClaimRank(t *testing.T) {
	p := candidatesPlan
	p.Distribution, p.VRRP.ControlPlane.Ranks = spec.Kubernetes, vrrp.Ranked().ControlPlane.Ranks // no routers, and no namespace of theirs
	c, s := kubeapi.Local(t, kubeapi.Server{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Apply(t.Context(), kubeapi.Objects(p)...))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait() })
	join := func(name, address string) *ranked {
		must(s.Apply(t.Context(), &corev1.Node{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{p.ControlPlaneLabel: ""}},
			Status: corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: address}}},
		}))
		id, err := c.Sign(kubeapi.Node(name))
		must(err)
		path := filepath.Join(t.TempDir(), "kubeconfig")
		must(os.WriteFile(path, c.Kubeconfig(s.URL(), id), 0o600))
		log := slog.New(slog.DiscardHandler)
		r := &ranked{Cluster: members.New(p, role.Master, kube.NewAPI(path, log), log), address: address, wake: make(chan struct{}, 1)}
		r.room = vip.New(vip.Options{
			Role: role.Master, Migration: migrate.New(p, migrate.Usual(), migrate.Memory{}),
			Host: r, Cluster: r, Health: r, Late: func() string { return "" }, After: func(time.Duration) {}, Now: time.Now,
		})
		running.Go(func() { _ = r.NodeWatch.Run(ctx, r.wake) })
		running.Go(func() { _ = r.Ranks.Run(ctx) })
		return r
	}
	nodes := []*ranked{join("m0", "192.0.2.20"), join("m1", "192.0.2.21"), join("m2", "192.0.2.22")}
	settled := func(what string, good func(ranks []string) bool) (got []string) {
		t.Helper()
		for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			got = nil
			for _, n := range nodes {
				n.reconcile(t)
				got = append(got, n.memory.Rank)
			}
			known, _ := nodes[0].NodeWatch.Known()
			published := len(known) == len(nodes)
			for _, n := range known {
				published = published && slices.Contains(got, n.Rank)
			}
			if published && good(got) {
				return got
			}
		}
		t.Fatalf("%s: the nodes have the ranks %q", what, got)
		return nil
	}
	are := func(want ...string) func([]string) bool {
		return func(got []string) bool { return slices.Equal(got, want) }
	}
	for _, n := range nodes { // all see Nodes without a rank, and claim the first one
		for end := time.Now().Add(20 * time.Second); ; time.Sleep(20 * time.Millisecond) {
			if known, _ := n.NodeWatch.Known(); len(known) == len(nodes) {
				break
			}
			if time.Now().After(end) {
				t.Fatal("the API does not name the nodes")
			}
		}
	}
	first := settled("at one time, one each of 0, 1 and 2", func(got []string) bool {
		return slices.Equal(slices.Sorted(slices.Values(got)), []string{"0", "1", "2"})
	})

	id, err := c.Sign(kubeapi.Admin())
	must(err)
	admin, err := c.Client(s, id)
	must(errors.Join(err, admin.Do(t.Context(), http.MethodDelete, "/api/v1/nodes/m1", nil, nil)))
	nodes = slices.Delete(nodes, 1, 2)
	settled("one has left, the others keep theirs", are(first[0], first[2]))
	nodes = append(nodes, join("m3", "192.0.2.23"))
	settled("another has joined, it gets the free one", are(first[0], first[2], first[1]))
}

// TestWithdrawClaim has a node claim a rank, then another one while the first is being written, and
// then none: the second one is never written. The server is a FAKE, which alone can hold an answer
// back.
func TestWithdrawClaim(t *testing.T) {
	arrived, answer := make(chan string), make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		arrived <- string(body)
		<-answer
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "m0"}}`)
	}))
	path := filepath.Join(t.TempDir(), "kubeconfig")
	text := `{apiVersion: v1, kind: Config, current-context: x, clusters: [{name: x, cluster: {server: "` +
		server.URL + `"}}], contexts: [{name: x, context: {cluster: x}}]}`
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	c := members.New(candidatesPlan, role.Master, kube.NewAPI(path, log), log)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	t.Cleanup(func() { cancel(); running.Wait(); server.Close() })
	running.Go(func() { _ = c.Ranks.Run(ctx) })
	written := func(rank string) {
		t.Helper()
		select {
		case body := <-arrived:
			if !strings.Contains(body, `"`+notice.Rank+`":"`+rank+`"`) {
				t.Errorf("%s is written, want rank %s", body, rank)
			}
		case <-time.After(time.Minute):
			t.Fatalf("rank %s is not written", rank)
		}
	}
	c.ClaimRank(member.Claim{Node: "m0", Rank: 0})
	written("0")
	c.ClaimRank(member.Claim{Node: "m0", Rank: 1})
	c.ClaimRank(member.Claim{})
	answer <- struct{}{}
	for end := time.Now().Add(time.Minute); !c.Ranks.Idle(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("the withdrawn claim is never looked at")
		}
	}
	c.ClaimRank(member.Claim{Node: "m0", Rank: 2})
	written("2")
	close(answer)
}
