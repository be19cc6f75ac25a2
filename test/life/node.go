package life

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/pods"
)

// Node is one node of the cluster.
type Node struct {
	*pods.Node
	Name string
	IP   netip.Addr
	API  *kubeapi.Server // nil on a worker

	role   string // as in its label
	life   *Life
	router *Router // nil unless one was started
}

// disk is the size of a node's /run, and of its /var.
const disk = 64 << 20

// node makes a node of a role that is switched on and runs nothing.
func (l *Life) node(role string, i int, ip netip.Addr) (*Node, error) {
	n := &Node{Name: fmt.Sprintf("%s-%d", role, i), IP: ip, role: role, life: l}
	var host *lab.Host
	var err error
	if role == "master" && i < len(l.Masters) {
		host = l.Masters[i].Host
	} else if host, err = l.Host(n.Name, ip); err != nil {
		return nil, err
	}
	if n.Node, err = pods.New(host, filepath.Join(l.Machine.Scratch(), n.Name), l.images); err != nil {
		return nil, err
	}
	if err := n.Disks(disk); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	if err := n.install(); err != nil {
		return nil, errors.Join(err, n.Close())
	}
	return n, n.boot()
}

// install puts on the node's disk what its Ignition document has, and the kubelet's credentials;
// and makes its API server.
func (n *Node) install() error {
	l := n.life
	if err := os.CopyFS(n.Root, os.DirFS(l.tree(n.role))); err != nil {
		return err
	}
	if n.role == "master" {
		var err error
		if n.API, err = l.server(n.Name, n.Host, n.IP); err != nil {
			return err
		}
	}
	return n.RotateKubelet()
}

// RotateKubelet gives the node's kubelet a new certificate, and writes its kubeconfig anew.
func (n *Node) RotateKubelet() error {
	l := n.life
	id, err := l.state.Sign(kubeapi.Node(n.Name))
	if err != nil {
		return err
	}
	kubelet := filepath.Join(n.Root, "var/lib/kubelet")
	return l.state.WriteKubelet(kubelet, "/var/lib/kubelet", "https://api-int."+chain.Zone+":6443", id)
}

// boot is what a boot leaves in /run before kubelet starts.
func (n *Node) boot() error {
	own := n.IP.String()
	// As the unit does that chooses a node's address. The system calls of this thread see the
	// node's network.
	err := n.Host.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/conf/eth0/forwarding", []byte("1"), 0) })
	if err != nil {
		return err
	}
	if n.life.options.Families != "ipv4" {
		if err := n.Write(asset.File{Path: "/run/nodeip-configuration/ipv6", Mode: 0o644, Contents: []byte(chain.IPv6Of(n.IP).String())}); err != nil {
			return err
		}
	}
	return n.Write(
		asset.File{Path: "/run/nodeip-configuration/primary-ip", Mode: 0o644, Contents: []byte(own)},
		asset.File{Path: "/run/nodeip-configuration/ipv4", Mode: 0o644, Contents: []byte(own)},
		asset.File{Path: "/run/NetworkManager/resolv.conf", Mode: 0o644, Contents: fmt.Appendf(nil, "nameserver %s\n", chain.NeighbourIP)},
		asset.File{Path: "/etc/resolv.conf", Mode: 0o644, Contents: fmt.Appendf(nil, "search %s\nnameserver %s\nnameserver %s\n", chain.Zone, own, chain.NeighbourIP)},
	)
}

// Join starts the node's pods and its API server, and makes its Node known to the API of the
// cluster.
func (n *Node) Join(ctx context.Context, api *kubeapi.Server) error {
	if err := n.start(ctx); err != nil {
		return err
	}
	if err := n.Register(ctx, api); err != nil {
		return err
	}
	return n.serve(ctx)
}

// serve starts the node's API server, where it has one and is to serve.
func (n *Node) serve(ctx context.Context) error {
	if n.API == nil || n.life.closed {
		return nil
	}
	return n.API.Start(ctx)
}

// Register makes the Node, ready and with its address.
func (n *Node) Register(ctx context.Context, api *kubeapi.Server) error {
	labels := map[string]string{"kubernetes.io/hostname": n.Name, "node-role.kubernetes.io/" + n.role: ""}
	if n.role == "master" {
		labels["node-role.kubernetes.io/control-plane"] = ""
	}
	object := map[string]any{"metadata": map[string]any{"name": n.Name, "labels": labels}}
	if err := api.Admin().Do(ctx, http.MethodPost, "/api/v1/nodes", object, nil); err != nil && !exists(err) {
		return err
	}
	addresses := []map[string]string{{"type": "InternalIP", "address": n.IP.String()}, {"type": "Hostname", "address": n.Name}}
	if n.life.options.Families != "ipv4" {
		addresses = append(addresses, map[string]string{"type": "InternalIP", "address": chain.IPv6Of(n.IP).String()})
	}
	status := map[string]any{"status": map[string]any{
		"addresses":  addresses,
		"conditions": []map[string]string{{"type": "Ready", "status": "True"}},
	}}
	return api.Admin().Do(ctx, http.MethodPatch, "/api/v1/nodes/"+n.Name+"/status", status, nil)
}

// Leave is what the unit does that is stopped first of all when the node is shut down: the VIPs go
// to other nodes while this one still serves.
func (n *Node) Leave(ctx context.Context) error { return n.vip(ctx, "leave") }

// Return is what the same unit does when it starts.
func (n *Node) Return(ctx context.Context) error { return n.vip(ctx, "leave", "--undo") }

func (n *Node) vip(ctx context.Context, args ...string) error {
	args = append([]string{"vip"}, append(args, "--run-dir", filepath.Join(n.Root, "run/onprem-infra/keepalived"))...)
	cmd := n.Host.Command(ctx, filepath.Join(n.life.Programs(), "onprem-infra"), args...)
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("vip %s on %s: %w: %s", strings.Join(args, " "), n.Name, err, out)
	}
	return nil
}

// ShutDown switches the node off in order: VIPs leave, then pods and the API server end, then the
// network goes.
func (n *Node) ShutDown(ctx context.Context) error {
	if err := n.Leave(ctx); err != nil {
		return err
	}
	var ending sync.WaitGroup
	var errs [2]error
	ending.Go(func() { errs[0] = n.Stop() })
	if n.API != nil && n.API.PID() != 0 {
		ending.Go(func() { errs[1] = end(n.API) })
	}
	ending.Wait()
	return errors.Join(errs[0], errs[1], n.Off())
}

// CutPower takes the node's power away, its API server's with it.
func (n *Node) CutPower() error {
	return n.kill()
}

// kill ends all that runs on the node at once; what is beyond the network sees nothing of it but
// silence.
func (n *Node) kill() error {
	err := n.Off()
	if n.API != nil {
		err = errors.Join(err, n.API.Kill())
	}
	return errors.Join(err, n.router.close())
}

// Boot switches a node on whose power was cut, or that was switched off, and starts what runs on
// it.
func (n *Node) Boot(ctx context.Context) error {
	if err := n.Host.On(); err != nil {
		return err
	}
	if err := n.boot(); err != nil {
		return err
	}
	return Together(func() error { return n.start(ctx) }, func() error { return n.serve(ctx) })
}

// start starts the node's pods. Their init containers are tried again and again, but not for ever.
func (n *Node) start(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	return n.Start(ctx)
}

// Status is what the node's supervisor reports of keepalived.
func (n *Node) Status() (supervised.Status, error) {
	text, err := os.ReadFile(filepath.Join(n.Root, "run/onprem-infra/keepalived", supervised.StatusFile))
	if err != nil {
		return supervised.Status{}, err
	}
	return supervised.Decode(text)
}

// Instance is the node's part in the election of the API VIP; an error if it has none.
func (n *Node) Instance() (supervised.Instance, error) {
	status, err := n.Status()
	if err != nil {
		return supervised.Instance{}, err
	}
	instance, ok := status.Instances[chain.Cluster+"_API_0"]
	if !ok || status.PID == 0 || instance.State == supervised.Fault || instance.State == supervised.Init {
		return instance, fmt.Errorf("%s: %+v", n.Name, status)
	}
	return instance, nil
}

// Candidate reports why the node could not hold the VIP now; nil when it could: its keepalived
// stands in the election of the API's VIP with a working balancer.
func (n *Node) Candidate() error {
	instance, err := n.Instance()
	if err != nil {
		return err
	}
	if least := balanced(n.life.Plan); instance.Priority < least {
		return fmt.Errorf("%s: its priority is %d, with a working balancer %d at least", n.Name, instance.Priority, least)
	}
	return nil
}

// balanced is the least priority of a node whose balancer works, of the worst rank.
func balanced(p plan.Plan) int {
	scheme := p.VRRP.ControlPlane
	least := int(scheme.Base)
	for _, w := range scheme.Checks {
		if w.Check == vrrp.CheckLB || w.Check == vrrp.CheckBoth {
			least += w.Adds
		}
	}
	return least
}
