// Package probes makes one probe of a service on which the VIPs of this node depend. A probe starts
// no process, and asks no other host.
package probes

import (
	"context"
	"errors"
	"fmt"
	"syscall"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// HTTP probes an HTTP server.
type HTTP interface {
	// Probe returns an error if the server gives no answer.
	Probe(ctx context.Context) error
	// Good returns the answer's body; an error unless its status is 200 to 299.
	Good(ctx context.Context) ([]byte, error)
}

// API probes an API server.
type API interface {
	Probe(ctx context.Context) (state health.API, why string)
}

// Pod is a pod of this node.
type Pod struct{ Namespace, Name string }

// Options are the services of a node.
type Options struct {
	Balancer      HTTP
	Stats         HTTP // of the balancer
	MachineConfig HTTP // nil if the cluster has none
	Router        HTTP // of OpenShift; or else whatever answers at the ingress port
	RouterReady   HTTP // for new connections
	OpenShift     bool // Router is OpenShift's

	API        API                                  // of this node
	APIAt      func(server string) API              // HOST:PORT, with the kubelet's credentials
	Redirected func() (bool, error)                 // whether the redirect to the balancer is there
	Pods       func(context.Context) ([]Pod, error) // of this node
	NameServer func(context.Context) error
	Ironic     func(context.Context) error // nil if nodes share no address from which hosts boot
}

// Prober probes the services of a node.
type Prober struct {
	options  Options
	balancer balancer
}

// New makes a prober.
func New(o Options) *Prober {
	return &Prober{options: o, balancer: balancer{slot: make(chan struct{}, 1)}}
}

// CheckAPI is this node's own API server alone. No VIP depends on it: people may check it.
const CheckAPI vrrp.CheckName = "api"

// Probe makes one check once.
func (p *Prober) Probe(ctx context.Context, check vrrp.CheckName) (health.Finding, string) {
	o := p.options
	switch check {
	case vrrp.CheckLB:
		f := p.probeBalancer(ctx)
		return f.found, f.why
	case vrrp.CheckBoth:
		return p.probeBoth(ctx)
	case CheckAPI:
		state, why := o.API.Probe(ctx)
		if state == health.Ready {
			return health.Passed, "the local API is ready"
		}
		return health.Failed, fmt.Sprintf("the local API is %s: %s", state, why)
	case vrrp.CheckMCS:
		if o.MachineConfig == nil {
			return health.Failed, "the cluster has no machine config servers"
		}
		return answers(ctx, o.MachineConfig, "the machine config server")
	case vrrp.CheckIngress:
		return p.probeIngress(ctx)
	case vrrp.CheckIngressReady:
		return answers(ctx, o.RouterReady, "the ingress router, for new connections")
	case vrrp.CheckDefaultIngress:
		return p.probeDefaultRouter(ctx)
	case vrrp.CheckDNS:
		if err := o.NameServer(ctx); err != nil {
			return health.Failed, fmt.Sprintf("the node's name server: %v", err)
		}
		return health.Passed, "the node's name server answers"
	case vrrp.CheckIronic:
		return p.probeIronic(ctx)
	default:
		return health.Untold, fmt.Sprintf("there is no check %q", check)
	}
}

func answers(ctx context.Context, server HTTP, what string) (health.Finding, string) {
	if _, err := server.Good(ctx); err != nil {
		return health.Failed, fmt.Sprintf("%s: %s", what, unanswered(err))
	}
	return health.Passed, what + " answers"
}

func (p *Prober) probeIronic(ctx context.Context) (health.Finding, string) {
	if p.options.Ironic == nil {
		return health.Failed, "the cluster's nodes share no address from which hosts boot"
	}
	if err := p.options.Ironic(ctx); err != nil {
		return health.Failed, "Ironic: " + unanswered(err)
	}
	return health.Passed, "Ironic answers"
}

// unanswered is why a server of this node did not answer. A port without a listener is the common
// case, and no fault if no server is to run there.
func unanswered(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "no process listens at its port"
	}
	return err.Error()
}

// probeIngress reports whether an ingress router runs here. OpenShift's has a port for that; of any
// other one it is only known that it answers HTTP at the node's port, with whatever status.
func (p *Prober) probeIngress(ctx context.Context) (health.Finding, string) {
	what, at, err := "the ingress router", "", error(nil)
	if p.options.OpenShift {
		_, err = p.options.Router.Good(ctx)
	} else {
		what, at = "an ingress controller", " at the ingress port"
		err = p.options.Router.Probe(ctx)
	}
	switch {
	case err == nil:
		return health.Passed, what + " answers" + at
	case errors.Is(err, syscall.ECONNREFUSED):
		return health.Refused, what + at + ": " + unanswered(err)
	default:
		return health.Failed, what + at + ": " + unanswered(err)
	}
}

func (p *Prober) probeDefaultRouter(ctx context.Context) (health.Finding, string) {
	pods, err := p.options.Pods(ctx)
	if err != nil {
		return health.Untold, err.Error()
	}
	for _, pod := range pods {
		if health.IsDefaultRouter(pod.Namespace, pod.Name) {
			return health.Passed, "a default router runs here"
		}
	}
	return health.Failed, "no default router runs here"
}
