package probes

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Named are the checks by the names that people type, with what passes each of them.
var Named = map[string]struct {
	Check  vrrp.CheckName
	Passes string
}{
	"lb": {vrrp.CheckLB,
		"the balancer answers, and the redirect to it is there, as while a server is up"},
	"api": {CheckAPI,
		"this node's own API server is ready; no VIP depends on it alone"},
	"both": {vrrp.CheckBoth,
		"lb, or else api"},
	"mcs": {vrrp.CheckMCS,
		"this node's machine config server answers"},
	"ingress": {vrrp.CheckIngress,
		"an ingress router runs here, or drains"},
	"ingress-ready": {vrrp.CheckIngressReady,
		"an ingress router here takes new connections"},
	"default-ingress": {vrrp.CheckDefaultIngress,
		"a router of the default ingress controller runs here, as the kubelet reports"},
	"dns": {vrrp.CheckDNS,
		"this node's own name server answers; a DNS VIP depends on it"},
	"ironic": {vrrp.CheckIronic,
		"Ironic answers on this node; the provisioning address depends on it"},
}

// Find finds a check. Underscores count as hyphens: names in keepalived's configuration have
// those.
func Find(name string) (vrrp.CheckName, bool) {
	named, ok := Named[strings.ReplaceAll(name, "_", "-")]
	return named.Check, ok
}
