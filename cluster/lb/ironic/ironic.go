// Package ironic decides to which pods the balancer passes the connections for the cluster's
// Ironic, and whether the API VIP's ports lead to the balancer.
package ironic

import (
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/endpoint"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/redirect"
)

// Memory holds where Ironic is, by slot, for a monitor that starts while the API is away. It is
// gone after a reboot: the pod may be elsewhere by then.
const Memory = string(haproxy.Run) + "/ironic.json"

const private fs.FileMode = 0o600

// Host is the machine as this room needs it.
type Host interface {
	Read(path string) ([]byte, error) // nil for a file that is not there
	Write(path string, text []byte, mode fs.FileMode) (changed bool, err error)
}

// Pods are the endpoints of Ironic's Service, as the API last listed them; synced is false before
// that.
type Pods interface {
	Known() (all []endpoint.Endpoint, synced bool)
}

// Daemon is HAProxy.
type Daemon interface {
	// ServesIronic reports whether the running configuration has Ironic's frontends, whether a pod
	// is ready or not; false if HAProxy does not run. An error means that the probe timed out.
	ServesIronic(ctx context.Context) (bool, error)
}

// Filter is the packet filter. The rules of Ironic are apart from others.
type Filter interface {
	EnsureIronic(redirect.Rules) (changed bool, err error)
	RemoveIronic() error // with all that belongs to the rules
}

// Seen is what the decision depends on.
type Seen struct {
	Endpoints []endpoint.Endpoint
	Synced    bool
	Before    haproxy.Ironic // by slot
	Recalled  bool           // Before is where Ironic was when the API last reported it
	Serves    bool           // HAProxy has its frontends
	Late      bool           // the probe for that timed out
	Fault     error          // why what is remembered could not be read
}

// Wanted is what is desired of Ironic's connections.
type Wanted struct {
	Servers haproxy.Ironic // by slot
	Rules   redirect.Rules
	Known   bool         // the API has reported where Ironic is, or that it is nowhere
	Alive   []netip.Addr // of pods whose sessions go on; nil if the API does not report that now
	Fault   error        // what is reported, and stops nothing
}

// Options are what a Room needs.
type Options struct {
	Plan   plan.Plan
	Host   Host
	Pods   Pods // nil while the API cannot be asked
	Daemon Daemon
	Filter Filter
}

// Room is the part of the balancer's monitor for Ironic. It does nothing in a cluster that does not
// balance Ironic, but for Sweep.
type Room struct {
	Options
	slots    haproxy.Ironic
	loaded   bool
	recalled bool // slots are what the API reported, in this boot
	on       redirect.Latch
}

// New makes the room. Nothing happens before its first step.
func New(o Options) *Room { return &Room{Options: o} }

// Observe reads what the decision depends on. late means that another probe of HAProxy timed out
// in this round: then HAProxy is not probed again.
func (r *Room) Observe(ctx context.Context, late bool) (seen Seen) {
	if !r.Plan.BalancesIronic() {
		return seen
	}
	if seen.Late = late; r.Daemon != nil && !late {
		var err error
		seen.Serves, err = r.Daemon.ServesIronic(ctx)
		seen.Late = err != nil
	}
	if r.Pods != nil {
		seen.Endpoints, seen.Synced = r.Pods.Known()
	}
	seen.Fault = r.recall()
	seen.Before, seen.Recalled = r.slots, r.recalled
	return seen
}

// recall reads where Ironic was, once.
func (r *Room) recall() error {
	if r.loaded {
		return nil
	}
	text, err := r.Host.Read(Memory)
	if err != nil {
		return fmt.Errorf("read where Ironic was in an earlier run: %w", err)
	}
	var slots haproxy.Ironic
	if len(text) > 0 && json.Unmarshal(text, &slots) == nil { // a broken file is none
		r.slots, r.recalled = slots, true
	}
	r.loaded = true
	return nil
}

// Decide passes connections to pods that are ready and do not end. hosts are the addresses of
// the control plane's nodes, where Ironic runs; nil if they are not known. A kubelet can report a
// pod with any labels, so pods of other hosts do not count. As long as the API has not reported
// where pods and hosts are, connections go where they went, or nowhere: then the VIP's ports are
// left to whatever else serves them on the host. The text is empty in a cluster that does not
// balance Ironic.
func (r *Room) Decide(s Seen, hosts []netip.Addr) (Wanted, string) {
	if !r.Plan.BalancesIronic() {
		return Wanted{}, ""
	}
	s.Synced = s.Synced && hosts != nil
	service := r.Plan.Flavour().Ironic
	pods := slices.DeleteFunc(slices.Clone(s.Endpoints), func(e endpoint.Endpoint) bool {
		// A server at a VIP would be the balancer itself.
		return !slices.Contains(hosts, e.Address) || slices.Contains(r.Plan.VIPs.All(), e.Address)
	})
	api, media := s.Before.API, s.Before.VirtualMedia // remembered ones are validated too
	w := Wanted{Known: s.Synced || s.Recalled, Fault: s.Fault}
	if s.Synced {
		api, media = service.API.Usable(pods), service.VirtualMedia.Usable(pods)
		w.Alive = endpoint.Alive(pods)
	}
	w.Servers = haproxy.Ironic{API: haproxy.PlaceAt(s.Before.API, api),
		VirtualMedia: haproxy.PlaceAt(s.Before.VirtualMedia, media)}
	why := "the VIP's connections to it go through HAProxy"
	switch on := r.on.Take(s.Serves, s.Late, r.Plan.Timing.Model.Redirect.Fall); {
	case on && w.Known:
		w.Rules = redirect.Ironic(r.Plan.VIPs.API, r.Plan.Ports)
	case on:
		why = "the VIP's connections to it stay as they are"
	default:
		why = "HAProxy does not serve it, and the VIP's connections to it stay as they are"
	}
	return w, where(w, s.Synced) + ": " + why
}

// where is where Ironic is, for the log.
func where(w Wanted, synced bool) string {
	used := func(all []netip.AddrPort) string {
		return loop.List(slices.DeleteFunc(slices.Clone(all),
			func(s netip.AddrPort) bool { return !s.IsValid() }))
	}
	text := "Ironic at " + used(w.Servers.API) + ", virtual media at " +
		used(w.Servers.VirtualMedia)
	switch {
	case !w.Known:
		return "the API has not reported where Ironic is"
	case !synced:
		return text + ", as an earlier run knew"
	}
	return text
}

// Apply replaces the kernel's rules for Ironic by these.
func (r *Room) Apply(rules redirect.Rules) error {
	if !r.Plan.BalancesIronic() {
		return nil
	}
	if _, err := r.Filter.EnsureIronic(rules); err != nil {
		return fmt.Errorf("redirect the VIP's connections to Ironic: %w", err)
	}
	return nil
}

// Remember keeps what the API has reported.
func (r *Room) Remember(w Wanted) error {
	if !w.Known {
		return nil
	}
	r.slots, r.recalled = w.Servers, true
	text, _ := json.Marshal(r.slots) // sockets always encode
	if _, err := r.Host.Write(Memory, append(text, '\n'), private); err != nil {
		return fmt.Errorf("remember where Ironic is: %w", err)
	}
	return nil
}

// Sweep removes Ironic's rules if the cluster no longer balances Ironic.
func (r *Room) Sweep() error {
	if r.Plan.BalancesIronic() {
		return nil
	}
	return r.Filter.RemoveIronic()
}
