// Package life is a whole cluster on one machine, on real parts: the booted bootstrap machine of
// package chain, control plane nodes that run the static pods which we render, a kube-apiserver on
// each of them and on the bootstrap machine, and clients outside. It goes from the first boot over
// the hand-over to lost and rebooted nodes. Nodes have no kubelet: package pods starts their pods,
// and a Node object is made by hand.
package life

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/pods"
)

// ShutdownDelay is how long an API server serves on after it got the signal to end.
const ShutdownDelay = 15 * time.Second

// etcdIP is where the cluster's state lives: on a host of its own, so that every API server may end
// without the others.
var etcdIP = netip.MustParseAddr("192.0.2.30")

// Life is one cluster.
type Life struct {
	*chain.Chain
	API     *kubeapi.Server // by which objects are made: on the bootstrap machine, or without one on the first node
	Nodes   []*Node         // of the control plane
	Workers []*Node
	Plan    plan.Plan // that the nodes follow

	options  Options
	document []byte // Ignition of the bootstrap machine
	state    *kubeapi.Cluster
	images   map[string]string // of the nodes' pods: name -> root file system
	foreign  []*chain.Keepalived
	closed   bool // no node's API server is to run yet
}

// all are the nodes of both kinds.
func (l *Life) all() []*Node { return slices.Concat(l.Nodes, l.Workers) }

// New is Open for three control plane nodes and a bootstrap machine, with the timing of compat.
func New(ctx context.Context, log *slog.Logger) (*Life, error) {
	return Open(ctx, log, Options{Bootstrap: true})
}

// bootstrap writes the bootstrap machine's disk.
func (l *Life) bootstrap(ctx context.Context) error {
	if !l.options.Bootstrap {
		return nil
	}
	if err := l.Images(ctx, "/usr/sbin/keepalived"); err != nil {
		return err
	}
	if err := l.Machine.Ignite(ctx, l.document); err != nil {
		return err
	}
	return l.Machine.Write("/etc/resolv.conf", fmt.Appendf(nil, "nameserver %s\n", chain.NeighbourIP), 0o644)
}

// etcd starts the cluster's memory and prepares the bootstrap machine's API server.
func (l *Life) etcd(ctx context.Context) error {
	host, err := l.Host("etcd", etcdIP)
	if err != nil {
		return err
	}
	dir := filepath.Join(l.Machine.Scratch(), "kube")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	l.state, err = kubeapi.Open(ctx, kubeapi.Config{
		Dir: dir, Etcd: host, Address: etcdIP,
		Names: []string{"api." + chain.Zone, "api-int." + chain.Zone}, Addresses: []netip.Addr{chain.APIVIP},
	})
	if err != nil {
		return err
	}
	if l.options.Bootstrap {
		l.API, err = l.server("bootstrap", l.Bootstrap, chain.BootstrapIP)
	}
	return err
}

func (l *Life) server(name string, host *lab.Host, ip netip.Addr) (*kubeapi.Server, error) {
	return l.state.Add(kubeapi.Server{Name: name, Place: host, Address: netip.AddrPortFrom(ip, 6443),
		ShutdownDelay: l.options.ShutdownDelay, Audit: l.options.Audit})
}

// pull puts the images where the nodes' pods find them.
func (l *Life) pull(ctx context.Context) error {
	trees, err := l.NodeImages(ctx, "/usr/sbin/keepalived", "/usr/sbin/haproxy")
	if err != nil {
		return err
	}
	l.images = map[string]string{}
	if l.options.OneImage {
		all := map[string]string{}
		for _, tree := range trees {
			maps.Copy(all, tree)
		}
		dir := filepath.Join(l.Machine.Scratch(), "images", "all")
		for name := range trees {
			l.images[name] = dir
		}
		return pods.Image(dir, all)
	}
	for name, tree := range trees {
		dir := filepath.Join(l.Machine.Scratch(), "images", filepath.Base(name))
		if err := pods.Image(dir, tree); err != nil {
			return fmt.Errorf("unpack image %s: %w", name, err)
		}
		l.images[name] = dir
	}
	return nil
}

func (l *Life) nodes(context.Context) error {
	for i := range l.options.Masters {
		node, err := l.node("master", i, masterIP(i))
		if err != nil {
			return err
		}
		l.Nodes = append(l.Nodes, node)
	}
	if l.API == nil {
		l.API = l.Nodes[0].API
	}
	for i := range l.options.Workers {
		node, err := l.node("worker", i, workerIP(i))
		if err != nil {
			return err
		}
		l.Workers = append(l.Workers, node)
	}
	return nil
}

// Install is what a cluster's installer does once the bootstrap machine runs: it starts the API
// server there, gives the machine its credentials, and makes the objects that must exist once.
func (l *Life) Install(ctx context.Context) error {
	if err := l.API.Start(ctx); err != nil {
		return err
	}
	admin, err := l.state.Sign(kubeapi.Admin())
	if err != nil {
		return err
	}
	if err := l.GiveKubeconfig(ctx, l.state.Kubeconfig("https://localhost:6443", admin)); err != nil {
		return err
	}
	dir := filepath.Join(l.Machine.Scratch(), "cluster")
	if err := l.Render(ctx, "cluster", dir); err != nil {
		return err
	}
	return l.create(ctx, dir)
}

// paths are where the API keeps the kinds of object that we render.
var paths = map[string]string{
	"Namespace":          "/api/v1/namespaces",
	"ClusterRole":        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
	"ClusterRoleBinding": "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings",
	"Secret":             "/api/v1/namespaces/%s/secrets",
	"Role":               "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/roles",
	"RoleBinding":        "/apis/rbac.authorization.k8s.io/v1/namespaces/%s/rolebindings",
}

// metal3 is the API of objects that are not made: OpenShift's operators bring it, of which there are
// none here.
const metal3 = "metal3.io/v1alpha1"

// create makes the objects of a directory, namespaces first, as file names are sorted and a second
// trial follows.
func (l *Life) create(ctx context.Context, dir string) error {
	var files []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			files = append(files, path)
		}
		return err
	})
	if err != nil {
		return err
	}
	pending := files
	for range 3 {
		var failed []string
		err = nil
		for _, file := range pending {
			if one := l.createOne(ctx, file); one != nil {
				failed, err = append(failed, file), errors.Join(err, one)
			}
		}
		if pending = failed; len(pending) == 0 {
			return nil
		}
	}
	return err
}

func (l *Life) createOne(ctx context.Context, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	var object map[string]any
	if err := yaml.Unmarshal(text, &object); err != nil {
		return fmt.Errorf("read %s: %w", file, err)
	}
	if object["apiVersion"] == metal3 {
		return nil
	}
	kind, _ := object["kind"].(string)
	path, ok := paths[kind]
	if !ok {
		return fmt.Errorf("%s: kind %q is not known here", file, kind)
	}
	if meta, _ := object["metadata"].(map[string]any); meta["namespace"] != nil {
		path = fmt.Sprintf(path, meta["namespace"])
		// A namespace that another program makes, such as the ingress router's, is made here.
		namespace := map[string]any{"metadata": map[string]any{"name": meta["namespace"]}}
		if err := l.API.Admin().Do(ctx, http.MethodPost, "/api/v1/namespaces", namespace, nil); err != nil && !exists(err) {
			return err
		}
	}
	if err := l.API.Admin().Do(ctx, http.MethodPost, path, object, nil); err != nil && !exists(err) {
		return fmt.Errorf("create %s: %w", file, err)
	}
	return nil
}

func exists(err error) bool {
	var refused kubeapi.Refusal
	return errors.As(err, &refused) && refused.Code == http.StatusConflict
}

// end ends an API server as a shutdown does: it announces it, serves on for ShutdownDelay, and
// takes no connection after that. How long it waits then for watches that no client ends is of no
// interest here.
func end(s *kubeapi.Server) error {
	if err := s.Signal(syscall.SIGTERM); err != nil {
		return err
	}
	select {
	case <-s.Done():
	case <-time.After(s.ShutdownDelay + time.Second):
	}
	return s.Kill()
}

// EndAPI ends the bootstrap machine's API server in order.
func (l *Life) EndAPI() error { return end(l.API) }

// Observe samples which machine's kernel holds the API VIP, again and again.
func (l *Life) Observe() (*lab.Observer, error) {
	hosts := []*lab.Host{l.Bootstrap}
	for _, n := range l.Nodes {
		hosts = append(hosts, n.Host)
	}
	return lab.Observe(chain.APIVIP, sample, hosts...)
}

// ObserveIngress is Observe for the ingress VIP, on nodes of both kinds.
func (l *Life) ObserveIngress() (*lab.Observer, error) {
	var hosts []*lab.Host
	for _, n := range l.all() {
		hosts = append(hosts, n.Host)
	}
	return lab.Observe(chain.IngressVIP, sample, hosts...)
}

// Settled waits until every node could hold the VIP.
func (l *Life) Settled(ctx context.Context) error {
	for _, n := range l.Nodes {
		if err := Until(ctx, time.Minute, n.Candidate); err != nil {
			return fmt.Errorf("%s could not hold the VIP: %w", n.Name, err)
		}
	}
	return nil
}

// Close ends everything.
func (l *Life) Close(ctx context.Context) error {
	var errs []error
	for _, k := range l.foreign {
		errs = append(errs, k.Stop(ctx))
	}
	for _, n := range l.all() {
		errs = append(errs, n.kill(), n.Close())
	}
	if l.state != nil {
		errs = append(errs, l.state.Close())
	}
	return errors.Join(append(errs, l.Chain.Close(ctx))...)
}

// ClientConfig is how an administrator outside reaches the API: with a certificate of his own,
// trusting the cluster's CA alone.
func (l *Life) ClientConfig() (*tls.Config, error) {
	admin, err := l.state.Sign(kubeapi.Admin())
	if err != nil {
		return nil, err
	}
	pair, err := tls.X509KeyPair(admin.Cert, admin.Key)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(l.state.CA())
	return &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: roots}, nil
}
