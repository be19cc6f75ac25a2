//go:build remote

package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/daemons"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/members"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// withheld are the objects of the cluster without one of the rules that they hold, counted through.
func withheld(t *testing.T, s *kubeapi.Server, without int) {
	t.Helper()
	rule := 0
	less := func(rules []rbacv1.PolicyRule) []rbacv1.PolicyRule {
		kept := []rbacv1.PolicyRule{}
		for _, one := range rules {
			if rule != without {
				kept = append(kept, one)
			}
			rule++
		}
		return kept
	}
	for _, o := range kubeapi.Objects(candidatesPlan) {
		var err error
		switch o := o.(type) {
		case *rbacv1.ClusterRole:
			o.Rules = less(o.Rules)
			err = s.Admin().Do(t.Context(), http.MethodPut, "/apis/rbac.authorization.k8s.io/v1/clusterroles/"+o.Name, o, nil)
		case *rbacv1.Role:
			o.Rules = less(o.Rules)
			err = s.Admin().Do(t.Context(), http.MethodPut, "/apis/rbac.authorization.k8s.io/v1/namespaces/"+o.Namespace+"/roles/"+o.Name, o, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestMissingRights takes each right from the nodes of a real cluster: their monitor names that
// one, and doctor does; and none where all are given.
func TestMissingRights(t *testing.T) {
	p := candidatesPlan
	c, s := kubeapi.Local(t, kubeapi.Server{})
	var first []string
	for _, o := range kubeapi.Objects(p) {
		first = append(first, fmt.Sprintf("%T", o))
		if err := s.Apply(t.Context(), o); err != nil &&
			!strings.Contains(err.Error(), "openshift-ingress") {
			t.Fatal(err)
		}
	}
	admin := func(body any) error {
		return s.Admin().Do(t.Context(), http.MethodPost, "/api/v1/namespaces", body, nil)
	}
	if err := admin(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]string{"name": "openshift-ingress"}}); err != nil {
		t.Fatal(err)
	}
	if err := s.Apply(t.Context(), kubeapi.Objects(p)[len(first)-2:]...); err != nil {
		t.Fatal(err)
	}
	rights := cluster.Rights(p)
	for i := range len(rights) + 1 {
		withheld(t, s, i)
		for _, r := range []role.Role{role.Master, role.Worker} {
			name, want := "none", []string{}
			if i < len(rights) {
				name = rights[i].String()
			}
			if i < len(rights) && slices.Contains(rights[i].Roles, r) {
				want = []string{name}
			}
			t.Run(string(r)+" without "+name, func(t *testing.T) {
				id, err := c.Sign(kubeapi.Node("node-0"))
				path := filepath.Join(t.TempDir(), "kubeconfig")
				if err == nil {
					err = os.WriteFile(path, c.Kubeconfig(s.URL(), id), 0o600)
				}
				if err != nil {
					t.Fatal(err)
				}
				log := slog.New(slog.DiscardHandler)
				follows(t, p, members.New(p, r, kube.NewAPI(path, log), log), r, rights, want)
				asked, err := inspect.AskRights(t.Context(), p, r, kube.NewAPI(path, log))
				if got := rightsIn(asked); err != nil || !slices.Equal(got, want) {
					t.Errorf("doctor finds %q (%v), want %q", got, err, want)
				}
			})
		}
	}
}

func rightsIn(missing []inspect.MissingRight) []string {
	out := []string{}
	for _, m := range missing {
		out = append(out, m.Right)
	}
	return out
}

// follows runs all that a node's monitor follows until it knows which rights it lacks. A right to
// write alone is missed when it is used.
func follows(t *testing.T, p plan.Plan, n *members.Cluster, r role.Role, rights []cluster.Right, want []string) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	defer running.Wait()
	defer cancel()
	wake := make(chan struct{}, 1)
	running.Go(func() { _ = n.NodeWatch.Run(ctx, wake) })
	running.Go(func() { _ = n.List.Run(ctx, wake) })
	if r == role.Master {
		running.Go(func() { _ = n.Published.Run(ctx, wake) })
		running.Go(func() {
			_ = n.KeepCandidates(ctx, "node-0", make(chan struct{}, 1))
		})
	}
	want = slices.DeleteFunc(slices.Clone(want), func(text string) bool {
		return slices.ContainsFunc(
			rights,
			func(one cluster.Right) bool { return one.String() == text && !slices.Contains(one.Verbs, "watch") },
		)
	})
	var got []string
	for end, since := time.Now().Add(20*time.Second), time.Now(); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got = rightsIn(inspect.RefusedRights(p, r, n.API.Refused())); !slices.Equal(
			got, want) {
			since = time.Now()
		} else if time.Since(since) > time.Second {
			return
		}
	}
	t.Errorf("the monitor misses %q, want %q", got, want)
}

// TestStatus_MissingRight holds that status and doctor name a right that this node lacks, what it
// does without it, and what to do.
func TestStatus_MissingRight(t *testing.T) {
	const text = `[{"right":"get, list, watch nodes","without":"it knows no other node"}]`
	p := candidatesPlan
	host := fakehost.New(
		t, p, map[string]string{"/run/onprem-infra/keepalived/checks/rights.json": text})
	host.Neighbour = func(context.Context, string, netip.Addr) (addr.Neighbour, error) {
		return addr.Neighbour{MAC: "52:54:00:00:00:0c"}, nil
	}
	v := status.Inspect(t.Context(), host).Verdict
	line := strings.Join(strings.Fields(strings.Join(v.Why, " ")), " ")
	for _, part := range []string{"this node may not get, list, watch nodes: it knows no other node; apply", "render --role=cluster"} {
		if v.Level != judge.Degraded || !strings.Contains(line, part) {
			t.Errorf("status says %s: %s, want %q", v.Level, line, part)
		}
	}
	missing, err := host.Files.MissingRights()
	if err != nil || len(missing) != 1 {
		t.Fatalf("missing rights %v, %v", missing, err)
	}
	probes := daemons.Probes{
		Rights: func(context.Context, role.Role) ([]inspect.MissingRight, error) { return missing, nil },
	}
	for kind, want := range map[role.Role]int{role.Master: 1, role.Bootstrap: 0} {
		d := daemons.Inspector{
			Scope:  inspect.Scope{Role: kind, Unseen: &inspect.Unseen{}},
			Probes: probes,
		}
		if got := d.MissingRights(t.Context()); len(got) != want {
			t.Errorf("%s: doctor is told of %v, want %d", kind, got, want)
		}
	}
}
