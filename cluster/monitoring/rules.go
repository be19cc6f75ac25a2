package monitoring

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// The severities: critical if clients notice or soon will, warning if it may wait until the
// morning.
const (
	critical = "critical"
	warning  = "warning"
)

// alarm is a rule in short. In expr, VIPS stands for the matcher of the cluster's VIPs.
type alarm struct {
	name, expr, wait, severity string
	what                       string // is wrong, with Prometheus's labels for where
	do                         string
}

// onTheHost is the remedy of many alarms.
const onTheHost = "Run 'onprem-infra status' on the host, and 'onprem-infra doctor'."

// rules are all rules, with thresholds by the cluster's timing.
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
			"No host reports the VIP {{ $labels.vip }}.", "Prometheus reaches no monitor of it: check its targets. The VIP itself may be healthy."}.rule(p)
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

// seconds is a duration in Prometheus's format.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 4, 64) }

// holders are about the holders of the VIPs. Scrapes of two hosts are not simultaneous, so a
// condition that a handover causes for a moment must last.
func holders() []alarm {
	return []alarm{
		{"OnpremVIPWithoutHolder", `max by (vip, kind) (onprem_vip_holder{VIPS}) == 0`, "30s", critical,
			"No host holds the {{ $labels.kind }} VIP {{ $labels.vip }}.",
			"No scraped host reports that it holds the VIP. Check the state of each and its reason: 'onprem-infra status' on each control plane node."},
		{"OnpremVIPTwoHolders", `sum by (vip, kind) (onprem_vip_holder{VIPS}) > 1`, "1m", critical,
			"{{ $value }} hosts hold the {{ $labels.kind }} VIP {{ $labels.vip }}.",
			"The holders do not receive each other's adverts: check that VRRP (IP protocol 112) passes between them, and that all have the same peers. 'onprem-infra doctor' on each."},
		{"OnpremVIPStale", `(onprem_vip_address_present{VIPS} == 1) unless (onprem_vip_holder{VIPS} == 1)`, "1m", critical,
			"{{ $labels.instance }} has the address {{ $labels.vip }} and does not hold the VIP.",
			"Clients that reach this host by the VIP get wrong answers. Its supervisor removes such an address; the log of the pod keepalived has the reason why it could not."},
		{"OnpremVIPMoves", `sum by (vip, kind) (increase(onprem_vip_transitions_total{VIPS,state="master"}[15m])) > 5`, "", warning,
			"The {{ $labels.kind }} VIP {{ $labels.vip }} has moved {{ $value | humanize }} times in a quarter of an hour.",
			"The journal of each holder has the reason why it took over and lost the VIP: 'onprem-infra status' on them."},
		{"OnpremGateClosed", `onprem_vip_gate_open == 0`, "30m", warning,
			"{{ $labels.instance }} has never seen a healthy API and is not eligible for an API VIP.",
			"Meanwhile it cannot take over from the holder. " + onTheHost},
	}
}

// misread are the faults by which hosts read adverts differently.
var misread = fmt.Sprintf(
	"%s|%s|%s|%s", clash.UnknownRouter, clash.Version, clash.Interval, clash.OneWay,
)

// adverts are about the adverts that hosts receive.
func adverts(p plan.Plan) []alarm {
	advert, gap := p.Timing.Model.Advert, 2*longestGap(p)
	return []alarm{
		{"OnpremVIPGap", `max by (vip, kind) (increase(onprem_vip_gap_seconds_total{VIPS}[10m])) > ` + seconds(gap), "", warning,
			"For {{ $value | humanizeDuration }} of the last ten minutes no host advertised the {{ $labels.kind }} VIP {{ $labels.vip }}.",
			"A holder that is lost costs " + seconds(gap/2) + " s with this timing. The journals have the holders and the reasons: 'onprem-infra status' on the hosts."},
		{"OnpremVIPClash", `max by (vip, kind, fault) (onprem_vip_clashes{VIPS,fault=~"foreign-router|two-holders|duplicate-address"}) > 0`, "30s", critical,
			"{{ $labels.fault }} disturbs the {{ $labels.kind }} VIP {{ $labels.vip }}.",
			"The log of the monitor names the host by address and MAC, and 'onprem-infra status' shows it. If a foreign router has our VRID choose another one (vrids)."},
		{"OnpremVIPMisheard", "max by (vip, kind, fault) (onprem_vip_clashes{VIPS,fault=~" + strconv.Quote(misread) + "}) > 0", "5m", warning,
			"{{ $labels.fault }}: a host advertises the {{ $labels.kind }} VIP {{ $labels.vip }} with other settings.",
			"The log of the monitor names the host. All hosts of a cluster need the same timing, mode and peers."},
		{"OnpremAdvertsLate", `max by (vip, kind) (onprem_vip_advert_jitter_seconds{VIPS}) > ` + seconds(2*advert), "10m", warning,
			"Adverts for {{ $labels.vip }} are up to {{ $value | humanizeDuration }} late.",
			"One more lost advert moves the VIP without need. The holder, or the network to it, is too busy; the timing profile vm waits longer than lan."},
	}
}

// longestGap is the bound of the time without a holder after the holder is lost.
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
			"Fewer programs of room {{ $labels.room }} answer than an hour ago.", "Check Prometheus's targets, and the pods of the missing nodes."},
		{"OnpremMonitorStands", `onprem_round_age_seconds > 60`, "1m", critical,
			"The loop of {{ $labels.room }} on {{ $labels.instance }} hangs.", "kubelet restarts such a monitor; its log has what it waited for."},
		{"OnpremMonitorFails", `rate(onprem_faults_total[5m]) > 0.05`, "10m", warning,
			"{{ $labels.room }} on {{ $labels.instance }} fails to {{ $labels.step }}.", "Its log has the reason, once for each error. " + onTheHost},
		{"OnpremWatchOld", `onprem_watch_age_seconds > 900 or onprem_watch_synced == 0`, "15m", warning,
			"{{ $labels.room }} on {{ $labels.instance }} has received nothing about {{ $labels.watch }} from the API.",
			"It continues with what it knew. Check that the API answers this node, and that nodes have the rights that 'onprem-infra render --role=cluster' writes."},
		{"OnpremKeepalivedDown", `(onprem_keepalived_running == 0) unless (onprem_keepalived_leaving == 1)`, "1m", critical,
			"keepalived does not run on {{ $labels.instance }}.", "Or its supervisor does not answer. The log of the pod keepalived has the reason. " + onTheHost},
		{"OnpremVIPsLeft", `onprem_keepalived_leaving == 1`, "30m", warning,
			"{{ $labels.instance }} has released its VIPs by request, and has not come back.", "It cannot take over from any holder. 'onprem-infra vip leave --undo' on the host, or a reboot, cancels the request."},
		{"OnpremKeepalivedEnds", `increase(onprem_keepalived_restarts_total[15m]) > 2`, "", warning,
			"keepalived exits again and again on {{ $labels.instance }}.", "The log of the pod keepalived has the reason."},
		{"OnpremKeepalivedRefuses", `onprem_keepalived_refused == 1`, "2m", warning,
			"keepalived on {{ $labels.instance }} refuses its configuration and continues with the former one.", "'onprem-infra status' on the host shows its error."},
		{"OnpremCheckAlternates", `increase(onprem_check_changes_total[15m]) > 10`, "", warning,
			"Check {{ $labels.check }} on {{ $labels.instance }} alternates between passing and failing.", "The log of keepalived-monitor has a line for each change, with its reason."},
	}
}

// balancers are about HAProxy.
func balancers() []alarm {
	return []alarm{
		{"OnpremBalancerDown", `onprem_lb_running == 0`, "1m", critical,
			"HAProxy does not run on {{ $labels.instance }}.", "Connections to the API's VIP go to this node's own API server meanwhile. The log of the pod haproxy has the reason."},
		{"OnpremBalancerBypassed", `onprem_lb_redirect == 0`, "5m", warning,
			"Connections to the API's VIP bypass HAProxy on {{ $labels.instance }}.", "HAProxy has no healthy server, or does not answer. " + onTheHost},
		{"OnpremRedirectLost", `increase(onprem_lb_redirect_lost_total[15m]) > 3`, "", warning,
			"Another program removes the redirect to HAProxy on {{ $labels.instance }} again and again.",
			"Meanwhile connections to the API's VIP go to this node's own API server alone. Find the program that empties the host's packet filter, such as a firewall that reloads."},
		{"OnpremBackendDown", `max by (address) (onprem_lb_backend_up) == 0`, "2m", critical,
			"No balancer sends connections to the API server {{ $labels.address }}.", "Check the API server of that node: its /readyz lists what is not ready."},
	}
}

// names are about CoreDNS and multicast DNS.
func names() []alarm {
	return []alarm{
		{"OnpremNamesDown", `onprem_dns_running == 0`, "1m", critical,
			"CoreDNS does not run on {{ $labels.instance }}.", "The node resolves by the next name servers in resolv.conf. The log of the pod coredns has the reason."},
		{"OnpremNamesStale", `onprem_dns_stale_seconds > 30`, "1m", warning,
			"CoreDNS on {{ $labels.instance }} answers by an old configuration.", "It may refuse the new one: check the log of the pod coredns."},
		{"OnpremNamesWithoutUpstream", `onprem_dns_upstreams == 0`, "5m", warning,
			"{{ $labels.instance }} knows no name server outside the cluster.", "The files of NetworkManager and systemd-resolved name only this cluster's own. " + onTheHost},
		{"OnpremNameLost", `onprem_mdns_names{state="lost"} > 0`, "5m", warning,
			"Another host has the name of {{ $labels.instance }} in multicast DNS.", "The log of mdns-publisher names it."},
	}
}
