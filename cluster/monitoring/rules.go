package monitoring

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// The severities: critical is for what clients notice or are about to, warning for what may wait
// until the morning.
const (
	critical = "critical"
	warning  = "warning"
)

// alarm is a rule in few words. In expr, VIPS stands for what tells the cluster's VIPs from those
// of others.
type alarm struct {
	name, expr, wait, severity string
	what                       string // is wrong, with Prometheus's words for where
	do                         string
}

// onTheHost is where most answers are.
const onTheHost = "Run 'onprem-infra status' on the host, and 'onprem-infra doctor'."

// rules are all, with the thresholds that follow from the cluster's timing.
func rules(p plan.Plan) []rule {
	lists := [][]alarm{programs(), names()}
	if p.LoadBalancer == spec.Managed {
		lists = append([][]alarm{holders(), adverts(p), balancers()}, lists...)
	}
	var out []rule
	for _, list := range lists {
		for _, a := range list {
			out = append(out, a.rule(p))
		}
	}
	if p.LoadBalancer != spec.Managed {
		return out
	}
	for _, v := range p.VIPs.All() {
		r := alarm{"OnpremVIPUnwatched", fmt.Sprintf(`absent(onprem_vip_holder{vip="%s"})`, v), "10m", warning,
			"No host says anything of the VIP {{ $labels.vip }}.", "Prometheus reaches no monitor of it: look at its targets. The VIP itself may be well."}.rule(p)
		r.Labels["vip"] = v.String() // no two rules are alike
		out = append(out, r)
	}
	return out
}

func (a alarm) rule(p plan.Plan) rule {
	return rule{
		Alert: a.name, Expr: strings.ReplaceAll(a.expr, "VIPS", these(p.VIPs.All())), For: a.wait,
		Labels:      map[string]string{"severity": a.severity, "onprem_cluster": p.Cluster.Name},
		Annotations: map[string]string{"summary": a.what, "description": a.do},
	}
}

// seconds is a time as Prometheus writes numbers.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 4, 64) }

// holders are about who holds the VIPs. Scrapes of two hosts are not made at one instant, so what a
// hand-over brings about for a moment must last.
func holders() []alarm {
	return []alarm{
		{"OnpremVIPWithoutHolder", `max by (vip, kind) (onprem_vip_holder{VIPS}) == 0`, "30s", critical,
			"Nobody holds the {{ $labels.kind }} VIP {{ $labels.vip }}.",
			"No host that is asked says that it holds the VIP. See which state each has and why: 'onprem-infra status' on each control plane node."},
		{"OnpremVIPTwoHolders", `sum by (vip, kind) (onprem_vip_holder{VIPS}) > 1`, "1m", critical,
			"{{ $value }} hosts hold the {{ $labels.kind }} VIP {{ $labels.vip }}.",
			"The holders do not hear each other: look whether VRRP (IP protocol 112) passes between them, and whether all have the same peers. 'onprem-infra doctor' on each."},
		{"OnpremVIPStale", `(onprem_vip_address_present{VIPS} == 1) unless (onprem_vip_holder{VIPS} == 1)`, "1m", critical,
			"{{ $labels.instance }} has the address {{ $labels.vip }} and does not hold the VIP.",
			"Whoever reaches this host by the VIP is misled. Its supervisor takes such an address off; the log of the pod keepalived says why it could not."},
		{"OnpremVIPMoves", `sum by (vip, kind) (increase(onprem_vip_transitions_total{VIPS,state="master"}[15m])) > 5`, "", warning,
			"The {{ $labels.kind }} VIP {{ $labels.vip }} has moved {{ $value | humanize }} times in a quarter of an hour.",
			"The journal of each holder says why it had the VIP and lost it: 'onprem-infra status' on them."},
		{"OnpremGateClosed", `onprem_vip_gate_open == 0`, "30m", warning,
			"{{ $labels.instance }} has never seen the API work and stands for no API VIP.",
			"While it waits it is no successor of the holder. " + onTheHost},
	}
}

// adverts are about how the holders are heard.
func adverts(p plan.Plan) []alarm {
	advert, gap := p.Timing.Model.Advert, 2*longestGap(p)
	return []alarm{
		{"OnpremVIPGap", `max by (vip, kind) (increase(onprem_vip_gap_seconds_total{VIPS}[10m])) > ` + seconds(gap), "", warning,
			"For {{ $value | humanizeDuration }} of the last ten minutes nobody announced the {{ $labels.kind }} VIP {{ $labels.vip }}.",
			"A holder that is lost costs " + seconds(gap/2) + " s with this timing. The journals say who had it and why it moved: 'onprem-infra status' on them."},
		{"OnpremVIPClash", `max by (vip, kind, fault) (onprem_vip_clashes{VIPS,fault=~"foreign-router|two-holders|duplicate-address"}) > 0`, "30s", critical,
			"{{ $labels.fault }} disturbs the {{ $labels.kind }} VIP {{ $labels.vip }}.",
			"The log of the monitor names the host that does it, by address and MAC, and 'onprem-infra status' shows it. Against a foreign router with our ID choose another one (vrids)."},
		{"OnpremVIPMisheard", `max by (vip, kind, fault) (onprem_vip_clashes{VIPS,fault=~"stranger|version|interval|one-way"}) > 0`, "5m", warning,
			"{{ $labels.fault }}: a host announces the {{ $labels.kind }} VIP {{ $labels.vip }} otherwise than agreed.",
			"The log of the monitor names the host. All hosts of a cluster need the same timing, mode and peers."},
		{"OnpremAdvertsLate", `max by (vip, kind) (onprem_vip_advert_jitter_seconds{VIPS}) > ` + seconds(2*advert), "10m", warning,
			"Adverts for {{ $labels.vip }} come up to {{ $value | humanizeDuration }} late.",
			"One more that is missing moves the VIP for nothing. The holder, or the network to it, is too busy; the timing profile vm waits longer than lan."},
	}
}

// longestGap is how long nobody holds a VIP whose holder is lost: what its successor waits,
// computed for the worst of them.
func longestGap(p plan.Plan) time.Duration {
	for _, b := range p.Timing.Bounds {
		if b.Scenario == "power-loss" {
			return time.Duration(b.Ms) * time.Millisecond
		}
	}
	return 4 * p.Timing.Model.Advert
}

// programs are about the monitors and keepalived.
func programs() []alarm {
	return []alarm{
		{"OnpremMonitorGone", `count by (room) (onprem_build_info offset 1h) > count by (room) (onprem_build_info)`, "10m", warning,
			"Fewer programs of room {{ $labels.room }} answer than an hour ago.", "Look at Prometheus's targets, and at the pods of the nodes that are missing."},
		{"OnpremMonitorStands", `onprem_round_age_seconds > 60`, "1m", critical,
			"The loop of {{ $labels.room }} on {{ $labels.instance }} stands.", "kubelet starts such a monitor anew; its log says what it waited for."},
		{"OnpremMonitorFails", `rate(onprem_faults_total[5m]) > 0.05`, "10m", warning,
			"{{ $labels.room }} on {{ $labels.instance }} fails to {{ $labels.step }}.", "Its log says why, once for each way in which it fails. " + onTheHost},
		{"OnpremWatchOld", `onprem_watch_age_seconds > 900 or onprem_watch_synced == 0`, "15m", warning,
			"{{ $labels.room }} on {{ $labels.instance }} has heard nothing of {{ $labels.watch }} from the API.",
			"It goes on with what it knew. Look whether the API answers this node, and whether nodes have the rights that 'onprem-infra render --role=cluster' writes."},
		{"OnpremKeepalivedDown", `(onprem_keepalived_running == 0) unless (onprem_keepalived_leaving == 1)`, "1m", critical,
			"keepalived does not run on {{ $labels.instance }}.", "Or its parent does not answer. The log of the pod keepalived says why it ended. " + onTheHost},
		{"OnpremVIPsLeft", `onprem_keepalived_leaving == 1`, "30m", warning,
			"{{ $labels.instance }} has given its VIPs up by request, and has not come back.", "It is no successor of any holder. 'onprem-infra vip leave --undo' on the host takes the request back, and a reboot does."},
		{"OnpremKeepalivedEnds", `increase(onprem_keepalived_restarts_total[15m]) > 2`, "", warning,
			"keepalived ends again and again on {{ $labels.instance }}.", "The log of the pod keepalived says why."},
		{"OnpremKeepalivedRefuses", `onprem_keepalived_refused == 1`, "2m", warning,
			"keepalived on {{ $labels.instance }} refuses its configuration and goes on with the former one.", "'onprem-infra status' on the host shows what it says."},
		{"OnpremCheckAlternates", `increase(onprem_check_changes_total[15m]) > 10`, "", warning,
			"Check {{ $labels.check }} on {{ $labels.instance }} passes and fails by turns.", "The log of keepalived-monitor has a line for each change, with its reason."},
	}
}

// balancers are about HAProxy.
func balancers() []alarm {
	return []alarm{
		{"OnpremBalancerDown", `onprem_lb_running == 0`, "1m", critical,
			"HAProxy does not run on {{ $labels.instance }}.", "Connections to the API's VIP go to this node's own API server meanwhile. The log of the pod haproxy says why."},
		{"OnpremBalancerBypassed", `onprem_lb_redirect == 0`, "5m", warning,
			"Connections to the API's VIP go past HAProxy on {{ $labels.instance }}.", "HAProxy has no server that works, or does not answer. " + onTheHost},
		{"OnpremRedirectLost", `increase(onprem_lb_redirect_lost_total[15m]) > 3`, "", warning,
			"Somebody takes the redirect to HAProxy away on {{ $labels.instance }}, again and again.",
			"Meanwhile connections to the API's VIP go to this node's own API server alone. Look which program empties the host's packet filter, such as a firewall that reloads."},
		{"OnpremBackendDown", `max by (address) (onprem_lb_backend_up) == 0`, "2m", critical,
			"No balancer sends anything to the API server {{ $labels.address }}.", "Look at the API server of that node: its /readyz says what is not ready."},
	}
}

// names are about CoreDNS and multicast DNS.
func names() []alarm {
	return []alarm{
		{"OnpremNamesDown", `onprem_dns_running == 0`, "1m", critical,
			"CoreDNS does not run on {{ $labels.instance }}.", "The node resolves by what comes after it in resolv.conf. The log of the pod coredns says why."},
		{"OnpremNamesStale", `onprem_dns_stale_seconds > 30`, "1m", warning,
			"CoreDNS on {{ $labels.instance }} answers by a configuration that is not the last one.", "It may refuse the new one: the log of the pod coredns says so."},
		{"OnpremNamesWithoutUpstream", `onprem_dns_upstreams == 0`, "5m", warning,
			"{{ $labels.instance }} knows no name server beyond the cluster.", "NetworkManager's and systemd-resolved's files name none that is not this cluster's own. " + onTheHost},
		{"OnpremNameLost", `onprem_mdns_names{state="lost"} > 0`, "5m", warning,
			"Another host has the name of {{ $labels.instance }} in multicast DNS.", "The log of mdns-publisher says which one."},
	}
}
