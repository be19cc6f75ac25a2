package members

import (
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"path/filepath"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/plan/way"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// TestLabels holds that a worker, which follows the control plane's Nodes alone, knows the labels of its own Node where it
// may announce VIPs to routers or that it has changed how it uses VRRP, by a kubelet's credentials, and each change of them.
func TestLabels(t *testing.T) {
	c, s := kubeapi.Local(t, kubeapi.Server{})
	id, err := c.Sign(kubeapi.Node("worker-0"))
	dir := t.TempDir()
	if err := errors.Join(err, c.WriteKubelet(dir, dir, s.URL(), id)); err != nil {
		t.Fatal(err)
	}
	named := kubeapi.Plan()
	named.BGP = &routed.Plan{Racks: []routed.Rack{{Name: "a"}, {Network: netip.MustParsePrefix("192.0.2.0/24")}}}
	for _, name := range []string{"worker-0", "worker-1"} {
		n := &corev1.Node{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Node"}, ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{notice.RackLabel: "a"}}}
		if err := s.Apply(t.Context(), n); err != nil {
			t.Fatal(err)
		}
	}
	api := func() *kube.API {
		return kube.NewAPI(filepath.Join(dir, "kubeconfig"), slog.New(slog.DiscardHandler))
	}
	changed := kubeapi.Plan() // a plan to which this node has changed
	changed.MigrateFrom = way.Way{Timing: "compat"}
	for name, p := range map[string]plan.Plan{"": kubeapi.Plan(), "announces VIPs": {Shape: plan.Shape{Announcing: routed.Announcing{BGP: &routed.Plan{}}}}, "announces that it has changed": changed} {
		if got := New(p, role.Worker, api(), slog.New(slog.DiscardHandler)).follows; got != (name != "") {
			t.Errorf("a worker that %s follows its Node: %t", name, got)
		}
	}
	if New(named, role.Master, api(), slog.New(slog.DiscardHandler)).follows {
		t.Error("a control plane node follows its Node twice")
	}
	cluster, wake := New(named, role.Worker, api(), slog.New(slog.DiscardHandler)), make(chan struct{}, 1)
	for _, w := range cluster.Watches(wake) {
		if w.What == "this node's own Node" {
			go func() { _ = w.Run(t.Context()) }()
		}
	}
	wants := func(want string, apart bool) {
		t.Helper()
		var got []member.Node
		for begun := time.Now(); time.Since(begun) < 20*time.Second; time.Sleep(20 * time.Millisecond) {
			if got, _ = cluster.Nodes(); len(got) == 1 && got[0].Name == "worker-0" && got[0].Rack == want && got[0].Apart == apart {
				return
			}
		}
		t.Errorf("%+v, want the rack %q", got, want)
	}
	wants("a", false)
	if err := s.Admin().Do(t.Context(), http.MethodPatch, "/api/v1/nodes/worker-0", map[string]any{"metadata": map[string]any{"labels": map[string]any{notice.RackLabel: "b", notice.ApartLabel: ""}}}, nil); err != nil {
		t.Fatal(err)
	}
	wants("b", true)
}
