package metrics

import (
	"net/netip"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// What a host reports of each VIP that it may be eligible for. The label kind is api, ingress or
// dns.
var (
	VIPHolder = vipGauge("onprem_vip_holder",
		"1 when this host holds the VIP, as its keepalived reports.")
	VIPState = vipGauge("onprem_vip_state",
		"1 for the state of this host's VRRP instance, 0 for the others: init, backup, master, "+
			"fault.", "state")
	VIPPresent = vipGauge("onprem_vip_address_present",
		"1 when this host's kernel has the VIP's address.")
	VIPPriority = vipGauge("onprem_vip_priority",
		"This host's effective priority in the VIP's VRRP group; absent where it is no candidate.")
	VIPPart = vipGauge("onprem_vip_priority_part",
		"Parts of the priority that count now: base, rank, holder, bootstrap and each check by "+
			"its name.", "part")
	VIPTransitions = vipCounter("onprem_vip_transitions_total",
		"Changes of the instance's state, by the new state.", "state")
	VIPGaps = vipCounter("onprem_vip_gaps_total",
		"Takeovers of the VIP of which this host received the former holder's last advert and "+
			"the next holder's first.")
	VIPGapTotal = vipCounter("onprem_vip_gap_seconds_total",
		"Time between the last advert of a holder and the first of the next one, as this host "+
			"received them.")
	VIPGapLast = vipGauge("onprem_vip_gap_last_seconds", "The last such time.")
	AdvertAge  = vipGauge("onprem_vip_advert_age_seconds",
		"Time since this host received another host's last advert for the VIP; absent on its "+
			"holder.")
	AdvertJitter = vipGauge("onprem_vip_advert_jitter_seconds",
		"Largest delay of an advert behind its interval in the last minute or two.")
	Clashes = vipGauge("onprem_vip_clashes",
		"Hosts that disturb the VIP's VRRP group as received here, by what is wrong; the log "+
			"names them.", "fault")
)

// What a host reports of its checks, and of keepalived.
var (
	Check        = gauge("onprem_check_passes", "1 when the check passes on this node.", "check")
	CheckChanges = counter("onprem_check_changes_total", "How often the check's result changed.",
		"check")
	GateOpen = gauge("onprem_vip_gate_open",
		"1 when this node has observed a ready API server once, and so is eligible for the API "+
			"VIP.")
	Running  = gauge("onprem_keepalived_running", "1 while keepalived runs.")
	Restarts = counter("onprem_keepalived_restarts_total",
		"How often keepalived was restarted after it had exited by itself.")
	Reloads = counter("onprem_keepalived_reloads_total",
		"How often keepalived's running configuration changed while this program ran.")
	Refused = gauge("onprem_keepalived_refused",
		"1 while keepalived refuses the wanted configuration.")
	FellBack = gauge("onprem_timing_fell_back",
		"1 while this host has a slower timing than the cluster's, as adverts were later than was "+
			"proven.")
	Late = gauge("onprem_timing_late",
		"1 while adverts are later than was proven, and nodes wait to change to a slower timing.")
	Leaving = gauge("onprem_keepalived_leaving",
		"1 while this host releases its VIPs by request, and after that.")
	ClientsKnown = gauge("onprem_vip_clients_known",
		"Connections to the VIP that its holder has reported to this host.", "vip")
	ClientsEnded = counter("onprem_vip_clients_ended_total",
		"Connections that a former holder of the VIP left, and that this host ended when it took "+
			"the VIP over.", "vip")
	NodesKnown = gauge("onprem_nodes", "Nodes that the API has listed to this program.", "role")
)

func vipGauge(name, help string, more ...string) Family {
	return gauge(name, help, append([]string{"vip", "kind"}, more...)...)
}

func vipCounter(name, help string, more ...string) Family {
	return counter(name, help, append([]string{"vip", "kind"}, more...)...)
}

// States are the states of an instance, in the order in which they are written.
func States() []supervised.State {
	return []supervised.State{supervised.Init, supervised.Backup, supervised.Master,
		supervised.Fault}
}

func clashKinds() []clash.Kind {
	return []clash.Kind{clash.Foreign, clash.UnknownRouter, clash.Version, clash.Interval,
		clash.OneWay, clash.Holders, clash.Duplicate}
}

// VIP is one VIP as a host sees it.
type VIP struct {
	Address netip.Addr
	Kind    vrrp.Kind
	State   supervised.State // empty where this host is no candidate
	Present bool

	Priority    int
	Parts       []Part
	Transitions map[supervised.State]uint64
	Adverts     Adverts
	Clashes     map[clash.Kind]int
}

// Part is a part of a priority.
type Part struct {
	Name string
	Adds int
}

// Elections are a host's state in the VRRP groups of its VIPs.
type Elections struct {
	At     time.Time // of the observation: ages count until then
	VIPs   []VIP
	Checks []CheckState

	Gate     string // open, closed, or empty where there is none
	Proof    *Proof // nil if the cluster's timing needs none
	Daemon   *Daemon
	Controls int  // control plane nodes that the API has listed
	Others   int  // other nodes
	Named    bool // the API has listed the nodes
	Received bool // this host receives adverts; if not, nothing is reported of them
}

// CheckState is a check of a node.
type CheckState struct {
	Name    vrrp.CheckName
	Passes  bool
	Changes uint64
}

// Proof is how hosts keep to the proof of their timing.
type Proof struct{ Late, FellBack bool }

// Daemon is keepalived.
type Daemon struct {
	Running, Refused, Leaving bool
	Restarts, Reloads         uint64
}

// Onto adds the metrics to a page.
func (e Elections) Onto(p *Page) {
	for _, v := range e.VIPs {
		v.onto(p, e.At, e.Received)
	}
	for _, c := range e.Checks {
		p.Flag(Check, c.Passes, string(c.Name))
		p.Add(CheckChanges, float64(c.Changes), string(c.Name))
	}
	if e.Gate != "" {
		p.Flag(GateOpen, e.Gate == "open")
	}
	if e.Proof != nil {
		p.Flag(Late, e.Proof.Late)
		p.Flag(FellBack, e.Proof.FellBack)
	}
	if d := e.Daemon; d != nil {
		p.Flag(Running, d.Running)
		p.Add(Restarts, float64(d.Restarts))
		p.Add(Reloads, float64(d.Reloads))
		p.Flag(Refused, d.Refused)
		p.Flag(Leaving, d.Leaving)
	}
	if e.Named {
		p.Add(NodesKnown, float64(e.Controls), "control-plane")
		p.Add(NodesKnown, float64(e.Others), "other")
	}
}

func (v VIP) onto(p *Page, now time.Time, received bool) {
	about := []string{v.Address.String(), string(v.Kind)}
	with := func(word string) []string { return append(about[:2:2], word) }
	p.Flag(VIPHolder, v.State == supervised.Master, about...)
	for _, s := range States() {
		p.Flag(VIPState, v.State == s, with(strings.ToLower(string(s)))...)
	}
	p.Flag(VIPPresent, v.Present, about...)
	if v.State != "" {
		p.Add(VIPPriority, float64(v.Priority), about...)
		for _, part := range v.Parts {
			p.Add(VIPPart, float64(part.Adds), with(part.Name)...)
		}
	}
	for _, s := range States() {
		p.Add(VIPTransitions, float64(v.Transitions[s]), with(strings.ToLower(string(s)))...)
	}
	if !received {
		return
	}
	v.Adverts.onto(p, now, about)
	for _, k := range clashKinds() {
		p.Add(Clashes, float64(v.Clashes[k]), with(string(k))...)
	}
}
