package kubeapi

import (
	"context"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestLocal holds that the API is a real one: it distinguishes a kubelet from an administrator, and
// logs the requests of each user.
func TestLocal(t *testing.T) {
	cluster, server := Local(t, Server{Audit: true})
	id, err := cluster.Sign(Node("worker-0"))
	if err != nil {
		t.Fatal(err)
	}
	kubelet, err := cluster.Client(server, id)
	if err != nil {
		t.Fatal(err)
	}
	var refused Refusal
	if err := kubelet.Do(t.Context(), http.MethodGet, "/api/v1/namespaces/kube-system/configmaps", nil, nil); !errors.As(err, &refused) || refused.Code != http.StatusForbidden {
		t.Errorf("a kubelet lists the ConfigMaps of another namespace: %v, want 403", err)
	}
	node := &corev1.Node{}
	node.Name = "worker-0"
	if err := kubelet.Do(t.Context(), http.MethodPost, "/api/v1/nodes", node, nil); err != nil {
		t.Errorf("a kubelet makes its own Node: %v", err)
	}
	node.Name = "worker-1"
	if err := kubelet.Do(t.Context(), http.MethodPost, "/api/v1/nodes", node, nil); !errors.As(err, &refused) || refused.Code != http.StatusForbidden {
		t.Errorf("a kubelet makes another's Node: %v, want 403", err)
	}
	var nodes corev1.NodeList
	if err := server.Admin().Do(t.Context(), http.MethodGet, "/api/v1/nodes", nil, &nodes); err != nil || len(nodes.Items) != 1 {
		t.Errorf("the administrator sees %d Nodes (%v), want 1", len(nodes.Items), err)
	}
	requests, err := server.Requests("system:node:worker-0")
	if want := []string{"list /api/v1/namespaces/kube-system/configmaps", "create /api/v1/nodes", "create /api/v1/nodes"}; err != nil || !slices.Equal(requests, want) {
		t.Errorf("requests %q (%v), want %q", requests, err, want)
	}
}

// TestServersOfOneCluster has two servers on hosts of the lab with an etcd on a third: one is
// frozen, one shuts down, one is killed.
func TestServersOfOneCluster(t *testing.T) {
	need.Command(t, "etcd")
	if err := Programs(t.Context()); err != nil {
		need.Missing(t, "needs kube-apiserver: "+err.Error())
	}
	l := lab.New(t)
	host := func(name, address string) *lab.Host {
		h, err := l.Add(name, netip.MustParsePrefix(address))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	cluster, err := Open(t.Context(), Config{Dir: t.TempDir(), Etcd: host("etcd", "192.0.2.2/24"), Address: netip.MustParseAddr("192.0.2.2")})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	var servers []*Server
	for name, address := range map[string]string{"master-0": "192.0.2.10", "bootstrap": "2001:db8::11"} {
		a := netip.MustParseAddr(address)
		s, err := cluster.Add(Server{Name: name, Place: host(name, address+map[bool]string{true: "/24", false: "/64"}[a.Is4()]), Address: netip.AddrPortFrom(a, 6443), ShutdownDelay: 3 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if a.Is6() { // it reaches etcd by IPv4
			s.Place.(*lab.Host).Command(t.Context(), "ip", "address", "add", "192.0.2.11/24", "dev", "eth0").Run()
		}
		if err := s.Launch(t.Context()); err != nil {
			t.Fatal(err)
		}
		servers = append(servers, s)
	}
	for _, s := range servers {
		if err := s.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	node := &corev1.Node{}
	node.Name = "worker-0"
	if err := servers[0].Admin().Do(t.Context(), http.MethodPost, "/api/v1/nodes", node, nil); err != nil {
		t.Fatal(err)
	}
	if err := servers[1].Admin().Do(t.Context(), http.MethodGet, "/api/v1/nodes/worker-0", nil, nil); err != nil {
		t.Errorf("the other server does not know the Node: %v", err)
	}
	frozen(t, servers[0])
	leaves(t, servers[1])
	if err := servers[0].Kill(); err != nil || servers[0].PID() != 0 {
		t.Errorf("killed: %v, pid %d", err, servers[0].PID())
	}
	if err := servers[0].Start(t.Context()); err != nil {
		t.Errorf("start again: %v", err)
	}
}

// leaves holds that a server announces its shutdown while it still serves.
func leaves(t *testing.T, s *Server) {
	t.Helper()
	if err := s.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var refused Refusal
	for {
		err := s.Admin().Do(t.Context(), http.MethodGet, "/readyz", nil, nil)
		if errors.As(err, &refused) && refused.Code == http.StatusInternalServerError {
			break
		}
		if err != nil {
			t.Fatalf("readyz: %v, want 500", err)
		}
	}
	if !strings.Contains(refused.Message, "shutdown") {
		t.Errorf("readyz: %v, want the word shutdown", refused)
	}
	if err := s.Admin().Do(t.Context(), http.MethodGet, "/api/v1/nodes", nil, nil); err != nil {
		t.Errorf("it does not serve any more: %v", err)
	}
	if err := s.Stop(); err != nil || s.PID() != 0 {
		t.Errorf("stop: %v, pid %d", err, s.PID())
	}
}

// frozen holds that a stopped server answers no request, and continues afterwards.
func frozen(t *testing.T, s *Server) {
	t.Helper()
	ask := func(within time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), within)
		defer cancel()
		return s.Admin().Do(ctx, http.MethodGet, "/api/v1/nodes/worker-0", nil, nil)
	}
	if err := s.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	if err := ask(300 * time.Millisecond); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a frozen server: %v, want silence", err)
	}
	if err := s.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if err := ask(20 * time.Second); err != nil {
		t.Errorf("after it was woken: %v", err)
	}
}
