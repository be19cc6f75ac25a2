package life

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
)

// Options are the settings of a cluster.
type Options struct {
	Timing    string // profile; empty is compat
	Masters   int    // control plane nodes, 2 to 5; 0 is 3
	Workers   int    // up to 5
	Families  string // of the VIPs: ipv4, ipv6 or dual; empty is ipv4. Kubernetes itself uses IPv4
	OneImage  bool   // every container of a node is of one image that holds all programs, and not each daemon of one of its own
	Bootstrap bool   // a bootstrap machine is booted first; without one the cluster is as long after its installation, and starts much sooner

	ShutdownDelay time.Duration // of every API server; 0 is ShutdownDelay
	Audit         bool          // every API server writes down each request
}

// most is how many nodes of a kind there are addresses for.
const most = 5

// complete checks what is asked for and fills in the rest.
func (o Options) complete() (Options, error) {
	if o.Masters == 0 {
		o.Masters = 3
	}
	if o.Timing == "" {
		o.Timing = vrrp.ProfileCompat
	}
	if o.Families == "" {
		o.Families = "ipv4"
	}
	if o.ShutdownDelay == 0 {
		o.ShutdownDelay = ShutdownDelay
	}
	if o.Masters < 2 || o.Masters > most || o.Workers < 0 || o.Workers > most {
		return o, fmt.Errorf("%d control plane nodes and %d workers: 2 to %d and 0 to %d can be had", o.Masters, o.Workers, most, most)
	}
	return o, nil
}

// masterIP and workerIP are the nodes' addresses.
func masterIP(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(21 + i)}) }
func workerIP(i int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(41 + i)}) }

// Open builds everything up to machines that can be switched on. Close ends it all.
func Open(ctx context.Context, log *slog.Logger, o Options) (_ *Life, err error) {
	if o, err = o.complete(); err != nil {
		return nil, err
	}
	if err := kubeapi.Programs(ctx); err != nil {
		return nil, err
	}
	l := &Life{options: o}
	if l.Chain, err = chain.New(ctx, log); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, l.Close(context.WithoutCancel(ctx)))
		}
	}()
	l.Chain.Timing, l.Chain.Replicas = o.Timing, o.Masters
	if err := l.Build(ctx); err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context) error{l.compile, l.bootstrap, l.etcd, l.pull, l.nodes} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// compile has our program make what the machines get, and reads the plan as they do.
func (l *Life) compile(ctx context.Context) (err error) {
	if l.document, _, err = l.Compile(ctx, l.options.Families); err != nil {
		return err
	}
	for _, role := range []string{"master", "worker"} {
		if err := l.Render(ctx, role, l.tree(role)); err != nil {
			return err
		}
	}
	file := filepath.Join(l.tree("master"), plan.Path)
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	cluster, findings := spec.Parse(file, text, spec.Knobs{})
	if findings.HasErrors() {
		return fmt.Errorf("read %s: %v", file, findings)
	}
	l.Plan, err = plan.Compile(cluster)
	return err
}

// tree is where a role's files are, as rendered.
func (l *Life) tree(role string) string { return filepath.Join(l.Machine.Scratch(), "role-"+role) }
