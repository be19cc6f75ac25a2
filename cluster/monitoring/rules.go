package monitoring

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

//go:embed rules.yaml
var rulesText []byte

// alarm is a rule of rules.yaml.
type alarm struct{ Alert, Expr, For, Severity, Summary, Description string }

// rules are all rules, with thresholds by the cluster's timing.
func rules(p plan.Plan) (out []rule) {
	var texts struct{ Managed, All, Provisioned, Shared, Ironic, Routed, Proven []alarm }
	decode(rulesText, &texts)
	values := values(p)
	add := func(a alarm) {
		out = append(out, rule{
			Alert: a.Alert, Expr: values.Replace(a.Expr), For: a.For,
			Labels: map[string]string{"severity": a.Severity, "onprem_cluster": p.Cluster.Name},
			Annotations: map[string]string{
				"summary": a.Summary, "description": values.Replace(a.Description),
			},
		})
	}
	if p.LoadBalancer == spec.Managed {
		texts.All = append(slices.DeleteFunc(texts.Managed, elected(p)), texts.All...)
	}
	if p.BGP != nil {
		texts.All = append(texts.All, texts.Routed...)
	}
	if p.Provisioning != nil {
		texts.All = append(texts.All, texts.Provisioned...)
	}
	if len(p.VIPs.Provisioning) > 0 {
		texts.All = append(texts.All, texts.Shared...)
	}
	if p.BalancesIronic() {
		texts.All = append(texts.All, texts.Ironic...)
	}
	if p.Fallback != nil {
		texts.All = append(texts.All, texts.Proven...)
	}
	for _, a := range texts.All {
		add(a)
	}
	if p.LoadBalancer != spec.Managed {
		return out
	}
	for _, v := range slices.Concat(p.VIPs.API, p.VIPs.Ingress, p.VIPs.DNS) {
		add(alarm{
			Alert: "OnpremVIPUnwatched", For: "10m", Severity: "warning",
			Expr:    fmt.Sprintf(`absent(%s{vip="%s"})`, reported(p), v),
			Summary: "No host reports the VIP {{ $labels.vip }}.",
			Description: "Prometheus reaches no monitor of it: check its targets. " +
				"The VIP itself may be healthy.",
		})
		out[len(out)-1].Labels["vip"] = v.String() // no two rules are alike
	}
	return out
}

// elected matches alarms about elections of VIPs, if the cluster has none; otherwise no alarm.
func elected(p plan.Plan) func(alarm) bool {
	none := !p.ByVRRP() && len(p.VIPs.Provisioning) == 0
	return func(a alarm) bool {
		return none && strings.Contains(a.Expr, "onprem_vip_") &&
			!strings.Contains(a.Expr, "onprem_vip_gate_open")
	}
}

// reported is a metric that each host reports of each VIP.
func reported(p plan.Plan) string {
	if p.ByVRRP() {
		return "onprem_vip_holder"
	}
	return "onprem_bgp_wanted"
}

// misread is a regular expression of the faults by which hosts read adverts differently.
var misread = fmt.Sprintf(
	"%s|%s|%s|%s", clash.UnknownRouter, clash.Version, clash.Interval, clash.OneWay,
)

// values replaces the words in capitals of rules.yaml.
func values(p plan.Plan) *strings.Replacer {
	advert, gap := p.Timing.Model.Advert, longestGap(p)
	return strings.NewReplacer("VIPS", these(p.VIPs.All()),
		"SERVED", these(slices.Concat(p.VIPs.API, p.VIPs.Ingress, p.VIPs.DNS)),
		"BOOTS", these(p.VIPs.Provisioning), "MISREAD", strconv.Quote(misread),
		"TWO_ADVERTS", seconds(2*advert), "LONGEST_GAP", seconds(gap), "TWICE_THE_GAP",
		seconds(2*gap),
		"ON_THE_HOST", "Run 'onprem-infra status' on the host, and 'onprem-infra doctor'.")
}

// seconds is a duration in Prometheus's format.
func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'g', 4, 64) }

// longestGap is the bound of the time without a holder after the holder is lost.
func longestGap(p plan.Plan) time.Duration {
	for _, b := range p.Timing.Bounds {
		if b.Scenario == "power-loss" {
			return time.Duration(b.Ms) * time.Millisecond
		}
	}
	return 4 * p.Timing.Model.Advert
}

// decode reads an embedded file.
func decode(text []byte, to any) {
	if err := yaml.Unmarshal(text, to); err != nil {
		panic("monitoring: " + err.Error())
	}
}
