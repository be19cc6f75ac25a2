package metrics

import (
	"net/netip"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// What a host says of each VIP in whose election it may take part. The label kind is api, ingress
// or dns.
var (
	VIPHolder      = vipFamily("onprem_vip_holder", Gauge, "1 when this host holds the VIP, as its keepalived says.")
	VIPState       = vipFamily("onprem_vip_state", Gauge, "1 for the state of this host's VRRP instance, 0 for the others: init, backup, master, fault.", "state")
	VIPPresent     = vipFamily("onprem_vip_address_present", Gauge, "1 when this host's kernel has the VIP's address.")
	VIPPriority    = vipFamily("onprem_vip_priority", Gauge, "This host's effective priority in the VIP's election; absent where it takes no part.")
	VIPPart        = vipFamily("onprem_vip_priority_part", Gauge, "What counts towards the priority now: base, rank, holder, bootstrap and each check by its name.", "part")
	VIPTransitions = vipFamily("onprem_vip_transitions_total", Counter, "Changes of the instance's state, by the state that it came to.", "state")
	VIPGaps        = vipFamily("onprem_vip_gaps_total", Counter, "How often the VIP was taken anew, of which this host heard the former holder's last word and the next one's first.")
	VIPGapTotal    = vipFamily("onprem_vip_gap_seconds_total", Counter, "Time between the last word of a holder and the first of the next one, as this host heard them.")
	VIPGapLast     = vipFamily("onprem_vip_gap_last_seconds", Gauge, "The last one of these times.")
	AdvertAge      = vipFamily("onprem_vip_advert_age_seconds", Gauge, "Time since another host's last advert for the VIP was heard here; absent on its holder.")
	AdvertJitter   = vipFamily("onprem_vip_advert_jitter_seconds", Gauge, "By how much an advert came later than announced, at most, in the last minute or two.")
	Clashes        = vipFamily("onprem_vip_clashes", Gauge, "Hosts that disturb the VIP's election as heard here, by what is wrong; the log names them.", "fault")
)

// What a host says of its checks, and of keepalived.
var (
	Check        = Family{"onprem_check_passes", Gauge, "1 when the check passes on this node.", []string{"check"}}
	CheckChanges = Family{"onprem_check_changes_total", Counter, "How often the check began or ceased to pass.", []string{"check"}}
	GateOpen     = Family{"onprem_vip_gate_open", Gauge, "1 when this node has seen the API work once and so takes part in the election of its VIP.", nil}
	Running      = Family{"onprem_keepalived_running", Gauge, "1 while keepalived runs.", nil}
	Restarts     = Family{"onprem_keepalived_restarts_total", Counter, "How often keepalived was started again after it ended by itself.", nil}
	Reloads      = Family{"onprem_keepalived_reloads_total", Counter, "How often another configuration came into force while the program watched.", nil}
	Refused      = Family{"onprem_keepalived_refused", Gauge, "1 while keepalived does not take the configuration that is wanted.", nil}
	Leaving      = Family{"onprem_keepalived_leaving", Gauge, "1 while this host gives its VIPs up by request, or has.", nil}
	NodesKnown   = Family{"onprem_nodes", Gauge, "Nodes that the API has named to this program.", []string{"role"}}
)

func vipFamily(name string, t Type, help string, more ...string) Family {
	return Family{name, t, help, append([]string{"vip", "kind"}, more...)}
}

func ofVIPs() []Family {
	return []Family{VIPHolder, VIPState, VIPPresent, VIPPriority, VIPPart, VIPTransitions, VIPGaps, VIPGapTotal, VIPGapLast, AdvertAge, AdvertJitter, Clashes}
}

func ofChecks() []Family {
	return []Family{Check, CheckChanges, GateOpen, Running, Restarts, Reloads, Refused, Leaving, NodesKnown}
}

// States are those of an instance, in the order in which they are written.
func States() []supervised.State {
	return []supervised.State{supervised.Init, supervised.Backup, supervised.Master, supervised.Fault}
}

func clashKinds() []clash.Kind {
	return []clash.Kind{clash.Foreign, clash.UnknownRouter, clash.Version, clash.Interval, clash.OneWay, clash.Holders, clash.Duplicate}
}

// VIP is one VIP as a host sees it.
type VIP struct {
	Address netip.Addr
	Kind    vrrp.Kind
	State   supervised.State // empty where this host takes no part
	Present bool

	Priority    int
	Parts       []Part
	Transitions map[supervised.State]uint64
	Adverts     Adverts
	Clashes     map[clash.Kind]int
}

// Part is what adds to a priority now.
type Part struct {
	Name string
	Adds int
}

// Elections are what a host does in the elections of its VIPs.
type Elections struct {
	At     time.Time // of the look: ages count until then
	VIPs   []VIP
	Checks []CheckState

	Gate     string // open, closed, or empty where there is none
	Daemon   *Daemon
	Controls int  // control plane nodes that the API has named
	Others   int  // other nodes
	Named    bool // it has named any at all
	Received bool // this host receives adverts; if not, nothing is reported of them
}

// CheckState is a check of a node.
type CheckState struct {
	Name    vrrp.CheckName
	Passes  bool
	Changes uint64
}

// Daemon is keepalived.
type Daemon struct {
	Running, Refused, Leaving bool
	Restarts, Reloads         uint64
}

// Onto writes it down.
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
