//go:build remote

package main

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/members"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

func nodesOf(c *members.Cluster) []kube.Node {
	nodes, _ := c.NodeWatch.Known()
	return nodes
}

// TestReportBootstrapGone holds, in a real cluster and with the rights that nodes have, that a control plane
// node can say that the bootstrap machine is gone where nothing is said of it; that no kubelet can
// publish an address then; that the bootstrap machine, with its administrator's rights, can when it
// is back; and that this is left alone.
func TestReportBootstrapGone(t *testing.T) {
	p := candidatesPlan
	p.Distribution = spec.Kubernetes // no routers, and no namespace of theirs
	c, s := kubeapi.Local(t, kubeapi.Server{})
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.Apply(t.Context(), kubeapi.Objects(p)...))
	log := slog.New(slog.DiscardHandler)
	as := func(id kubeapi.Identity) *kube.API {
		path := filepath.Join(t.TempDir(), "kubeconfig")
		must(os.WriteFile(path, c.Kubeconfig(s.URL(), id), 0o600))
		return kube.NewAPI(path, log)
	}
	node, err := c.Sign(kubeapi.Node("master-0"))
	must(err)
	admin, err := c.Sign(kubeapi.Admin())
	must(err)
	kubelet := as(node)
	master, wake := members.New(p, role.Master, kubelet, log), make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	must(s.Apply(t.Context(), &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"},
		ObjectMeta: metav1.ObjectMeta{Name: "master-0", Labels: map[string]string{p.ControlPlaneLabel: ""}}}))
	running.Go(func() { _ = master.NodeWatch.Run(ctx, wake) })
	running.Go(func() { _ = master.Published.Run(ctx, wake) })
	running.Go(func() { _ = master.Gone.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	reads := func(what string, left bool, addresses ...netip.Addr) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
			if b, sharedLog := master.Bootstrap(); sharedLog && b.Left == left && slices.Equal(b.Addresses, addresses) {
				return
			}
		}
		b, sharedLog := master.Bootstrap()
		t.Fatalf("%s: %+v, heard %t", what, b, sharedLog)
	}
	publish := func(api *kube.API, address netip.Addr) error {
		return api.Put(t.Context(), p.Namespace, notice.Bootstrap, func(map[string]string) map[string]string {
			return notice.EncodeBootstrap([]netip.Addr{address}, 1)
		})
	}
	reads("at first", false)
	master.ReportBootstrapGone("master-0")
	reads("it is told", true)
	late := members.New(p, role.Master, kubelet, log)
	running.Go(func() { _ = late.NodeWatch.Run(ctx, wake) })
	for deadline := time.Now().Add(20 * time.Second); len(nodesOf(late)) == 0 && time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
	}
	if b, sharedLog := late.Bootstrap(); sharedLog || len(nodesOf(late)) == 0 {
		t.Errorf("a node that has read %d Nodes, and not the bootstrap machine's object: %+v, heard %t", len(nodesOf(late)), b, sharedLog)
	}
	if err := publish(kubelet, netip.MustParseAddr("192.0.2.66")); err == nil {
		t.Error("a kubelet publishes an address")
	}
	back := netip.MustParseAddr("192.0.2.9")
	must(publish(as(admin), back))
	reads("it is back", false, back)
	master.ReportBootstrapGone("master-0")
	time.Sleep(100 * time.Millisecond)
	reads("and is believed, whatever a node says", false, back)
}
