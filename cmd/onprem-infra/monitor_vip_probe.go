//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/localhost"
	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/host/podresources"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// nodeProber looks at what runs on this node. No look starts a process, and none asks another host.
type nodeProber struct {
	present func() (bool, error) // the redirect
	pods    func(ctx context.Context) ([]podresources.Pod, error)

	look lbLook

	balancer, stats, mcs, router, ready *probe.HTTP
	routers                             bool // those of OpenShift; elsewhere router is whatever answers at the ingress port
	api                                 *probe.API
	at                                  func(server string) *probe.API  // HOST:PORT
	dns                                 func(ctx context.Context) error // whether the node's own name server answers
}

func newNodeProber(p plan.Plan, access *kube.Access) *nodeProber {
	// A control plane node has no ingress router, and its checks ask for one all the time. One that
	// comes is seen a second later.
	dial, seldom := new(localhost.Knocker).Dial, (&localhost.Knocker{Rest: 900 * time.Millisecond}).Dial
	local := func(name, path string) *probe.HTTP {
		return probe.NewHTTP(fmt.Sprintf("http://localhost:%d%s", p.Ports[name], path), dial)
	}
	ingress := func(name, path string) *probe.HTTP {
		return probe.NewHTTP(fmt.Sprintf("http://localhost:%d%s", p.Ports[name], path), seldom)
	}
	rules, filter := redirect.Of(p.VIPs.API, p.MachineNetworks, p.Ports), new(nft.Memo)
	router, routers := ingress(port.IngressHTTP, "/"), p.Flavour().Routers
	if routers {
		router = ingress(port.RouterStats, "/healthz")
	}
	n := &nodeProber{
		look:    lbLook{turn: make(chan struct{}, 1)},
		present: func() (bool, error) { return filter.Present(rules) },
		pods: func(ctx context.Context) ([]podresources.Pod, error) {
			return podresources.List(ctx, podresources.Socket)
		},
		// Not at the port that is open to others: they could fill it, and the balancer would count
		// as dead.
		balancer: local(port.LBStats, "/haproxy_ready"), stats: local(port.LBStats, "/haproxy_stats;csv"),
		router: router, routers: routers, ready: ingress(port.RouterStats, "/healthz/ready"),
		api: probe.NewAPI(fmt.Sprintf("localhost:%d", p.Ports[port.API]), access.Client),
		at:  func(server string) *probe.API { return probe.NewAPI(server, access.Client) },
		dns: ownDNS(p, local(port.CoreDNSHealth, "/health")),
	}
	if p.Flavour().MachineConfig {
		n.mcs = probe.NewUntrusted(fmt.Sprintf("https://localhost:%d/healthz", p.Ports[port.MachineConfig]), dial)
	}
	return n
}

// Probe makes one check once.
func (n *nodeProber) Probe(ctx context.Context, check vrrp.CheckName) (health.Finding, string) {
	switch check {
	case vrrp.CheckLB:
		f := n.lb(ctx)
		return f.found, f.why
	case vrrp.CheckBoth:
		return n.both(ctx)
	case checkAPI:
		state, why := n.api.Probe(ctx)
		if state == health.Ready {
			return health.Passed, "the local API is ready"
		}
		return health.Failed, fmt.Sprintf("the local API is %s: %s", state, why)
	case vrrp.CheckMCS:
		if n.mcs == nil {
			return health.Failed, "the cluster has no machine config servers"
		}
		return answers(ctx, n.mcs, "the machine config server")
	case vrrp.CheckIngress:
		return n.ingress(ctx)
	case vrrp.CheckIngressReady:
		return answers(ctx, n.ready, "the ingress router, for new connections")
	case vrrp.CheckDefaultIngress:
		return n.defaultRouter(ctx)
	case vrrp.CheckDNS:
		if err := n.dns(ctx); err != nil {
			return health.Failed, fmt.Sprintf("the node's name server: %v", err)
		}
		return health.Passed, "the node's name server answers"
	default:
		return health.Untold, fmt.Sprintf("there is no check %q", check)
	}
}

// ownDNS asks the node's name server for what it knows by itself, so that no other server is
// judged. Where the cluster's records are others' it knows nothing so, and is asked for its health.
func ownDNS(p plan.Plan, health *probe.HTTP) func(ctx context.Context) error {
	if p.DNSRecords == spec.External {
		return func(ctx context.Context) error {
			_, err := health.Good(ctx)
			return err
		}
	}
	server := netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), p.Ports[port.DNS])
	return func(ctx context.Context) error { return probe.DNS(ctx, server, "api-int."+string(p.Cluster.Zone)) }
}

func answers(ctx context.Context, server *probe.HTTP, what string) (health.Finding, string) {
	if _, err := server.Good(ctx); err != nil {
		return health.Failed, fmt.Sprintf("%s: %s", what, unanswered(err))
	}
	return health.Passed, what + " answers"
}

// unanswered is why a server of this node did not answer. That nobody listens where it should is
// the common case, and no fault where none is to run.
func unanswered(err error) string {
	if errors.Is(err, syscall.ECONNREFUSED) {
		return "nobody listens at its port"
	}
	return err.Error()
}

// ingress is whether an ingress router lives here. OpenShift's says so at a port of its own; of any
// other one nothing is known but that it answers HTTP at the node's port, with whatever status.
func (n *nodeProber) ingress(ctx context.Context) (health.Finding, string) {
	if n.routers {
		return answers(ctx, n.router, "the ingress router")
	}
	if err := n.router.Probe(ctx); err != nil {
		return health.Failed, fmt.Sprintf("an ingress controller at the ingress port: %s", unanswered(err))
	}
	return health.Passed, "an ingress controller answers at the ingress port"
}

// finding is what a look found.
type finding struct {
	found health.Finding
	why   string
}

// lbLook is a look at the balancer. Two checks make it at the same pace: what the one has just
// found is good for the other too.
type lbLook struct {
	turn chan struct{} // one slot: who has it looks
	at   time.Time     // of its end
	last finding
}

// fresh is how old a look may be that counts for another one: far below every pace.
const fresh = 50 * time.Millisecond

// lb is the balancer and the way to it, as found now or a moment ago.
func (n *nodeProber) lb(ctx context.Context) finding {
	select {
	case n.look.turn <- struct{}{}:
		defer func() { <-n.look.turn }()
	case <-ctx.Done():
		return finding{health.Failed, "the balancer: no answer in time"}
	}
	if time.Since(n.look.at) >= fresh {
		found, why := n.balances(ctx)
		n.look.at, n.look.last = time.Now(), finding{found, why}
	}
	return n.look.last
}

// balances looks at the balancer and the way to it. Whether the redirect is there is not known when
// nobody can say so: that is no sign of its absence.
func (n *nodeProber) balances(ctx context.Context) (health.Finding, string) {
	if found, why := answers(ctx, n.balancer, "the balancer"); found != health.Passed {
		return found, why
	}
	switch present, err := n.present(); {
	case err != nil:
		return health.Untold, fmt.Sprintf("look for the redirect to the balancer: %v", err)
	case !present:
		return health.Failed, "nothing leads to the balancer: its redirect is not there"
	default:
		return health.Passed, "the balancer answers, and the redirect leads to it"
	}
}

// both is the balancer, or this node's own API server in its place. A balancer that hangs must
// leave time to ask the other, which serves while connections go past it.
func (n *nodeProber) both(ctx context.Context) (health.Finding, string) {
	answer := make(chan finding, 1)
	go func() { answer <- n.lb(ctx) }()
	late := time.NewTimer(share(ctx))
	defer late.Stop()
	var balancer finding
	heard := true
	select {
	case balancer = <-answer:
	case <-late.C:
		heard = false
	}
	if balancer.found == health.Passed {
		return balancer.found, balancer.why
	}
	state, said := n.api.Probe(ctx)
	if state == health.Ready {
		return health.Passed, "the local API is ready"
	}
	if !heard {
		balancer = <-answer // its time is ctx's
	}
	if balancer.found == health.Passed {
		return balancer.found, balancer.why
	}
	return balancer.found, fmt.Sprintf("%s; the local API is %s: %s", balancer.why, state, said)
}

// share is how long a look waits for the first of two answers before it asks for the second too.
func share(ctx context.Context) time.Duration {
	end, ok := ctx.Deadline()
	if !ok {
		return time.Second
	}
	return time.Until(end) / 3
}

func (n *nodeProber) defaultRouter(ctx context.Context) (health.Finding, string) {
	pods, err := n.pods(ctx)
	if err != nil {
		return health.Untold, err.Error()
	}
	for _, p := range pods {
		if health.IsDefaultRouter(p.Namespace, p.Name) {
			return health.Passed, "a default router runs here"
		}
	}
	return health.Failed, "no default router runs here"
}

// Served says whether a server behind the balancer has told a check that it is ready: HAProxy calls
// its servers up before the first one, and those too that tell strangers nothing. These are asked
// with the kubelet's credentials.
func (n *nodeProber) Served(ctx context.Context) (bool, string) {
	text, err := n.stats.Good(ctx)
	if err != nil {
		return false, fmt.Sprintf("ask the balancer for its statistics: %v", err)
	}
	stats, err := haproxy.ParseStats(text)
	if err != nil {
		return false, err.Error()
	}
	if haproxy.Ready(stats) {
		return true, "an API server has passed a check of the balancer"
	}
	if reserved := haproxy.Reserved(stats); len(reserved) > 0 {
		return n.trusted(ctx, reserved)
	}
	return false, "no API server has passed a check of the balancer"
}

// trusted asks API servers that tell strangers nothing, all at once, so that one which hangs hides
// no other.
func (n *nodeProber) trusted(ctx context.Context, servers []netip.AddrPort) (bool, string) {
	ctx, cancel := context.WithTimeout(ctx, health.Balancer().Timeout)
	defer cancel() // of those that have not answered yet
	answers := make(chan health.API, len(servers))
	for _, s := range servers {
		go func() {
			state, _ := n.at(s.String()).Probe(ctx)
			answers <- state
		}()
	}
	for range servers {
		if <-answers == health.Ready {
			return true, "an API server that tells strangers nothing says that it is ready"
		}
	}
	return false, "the API servers tell strangers nothing, and asked with the kubelet's credentials none says that it is ready"
}

// checkAPI is this node's own API server alone. No VIP depends on it: it is for people to ask.
const checkAPI vrrp.CheckName = "api"

// checkNames are the checks by the names that people type.
var checkNames = map[string]vrrp.CheckName{
	"lb": vrrp.CheckLB, "api": checkAPI, "both": vrrp.CheckBoth, "mcs": vrrp.CheckMCS,
	"ingress": vrrp.CheckIngress, "ingress-ready": vrrp.CheckIngressReady, "default-ingress": vrrp.CheckDefaultIngress,
	"dns": vrrp.CheckDNS,
}

// checkMeans says what passes each of them.
var checkMeans = map[string]string{
	"lb":              "the balancer answers, and the redirect to it is there, as while a server is up",
	"api":             "this node's own API server is ready; no VIP depends on it alone",
	"both":            "lb, or else api",
	"mcs":             "this node's machine config server answers",
	"ingress":         "an ingress router lives here; one that drains does",
	"ingress-ready":   "an ingress router here takes new connections",
	"default-ingress": "a router of the default ingress controller runs here, as the kubelet says",
	"dns":             "this node's own name server answers; a DNS VIP depends on it",
}

// checkNamed finds a check. Underscores are hyphens: in keepalived's configuration the names have
// those.
func checkNamed(name string) (vrrp.CheckName, bool) {
	check, ok := checkNames[strings.ReplaceAll(name, "_", "-")]
	return check, ok
}
