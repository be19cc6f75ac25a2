package plan

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Encode writes what the cluster decided, and nothing that follows from it: a cluster.yaml in the
// form of JSON, which hosts read like any other and compile to the same plan. Keys are sorted,
// defaults are written out, settings of the elections only where the user made them. Equal plans
// give equal bytes.
//
// Other programs write this file too, by a template (package cluster/mco): so a field stands on a
// line of its own, and has a form that a template can write which takes no text apart and changes
// no letter. That is why there is the cluster's whole domain, and the platform as OpenShift spells
// it.
func Encode(p Plan) []byte {
	cluster := map[string]any{
		"apiVIPs":         texts(p.VIPs.API),
		"clusterDomain":   string(p.Cluster.Zone),
		"dnsRecords":      string(p.DNSRecords),
		"families":        string(p.Families),
		"images":          p.Images,
		"ingressVIPs":     texts(p.VIPs.Ingress),
		"kubeconfig":      p.Kubeconfig,
		"kubeletUnit":     p.KubeletUnit,
		"loadBalancer":    p.Balancer(),
		"machineNetworks": texts(p.MachineNetworks),
		"namespace":       p.Namespace,
		"nodeLabels":      map[string]string{"controlPlane": p.ControlPlaneLabel},
		"platform":        p.Platform.Type(),
		"topology":        string(p.Topology),
	}
	if p.Distribution != "" && p.Distribution != distributionOf(p.Platform) {
		cluster["distribution"] = string(p.Distribution)
	}
	if len(p.VIPs.DNS) > 0 {
		cluster["dnsVIP"] = p.VIPs.DNS[0].String()
	}
	if len(p.DNSClients) > 0 {
		cluster["dnsClients"] = texts(p.DNSClients)
	}
	if len(p.CertificateDirectories) > 0 {
		cluster["certificateDirectories"] = p.CertificateDirectories
	}
	if p.MDNS != "" {
		cluster["mdns"] = string(p.MDNS)
	}
	if p.Metrics != "" {
		cluster["metrics"] = string(p.Metrics)
	}
	if p.knobs.size != 0 {
		cluster["controlPlaneReplicas"] = p.knobs.size
	}
	if p.knobs.timing != "" {
		cluster["timing"] = p.knobs.timing
	}
	if p.knobs.mode != "" {
		cluster["vrrp"] = string(p.knobs.mode)
	}
	if p.knobs.clash != "" {
		cluster["onClash"] = string(p.knobs.clash)
	}
	if former := formerFields(p.knobs.former); len(former) > 0 {
		cluster["migrateFrom"] = former
	}
	if len(p.knobs.vrids) > 0 {
		cluster["vrids"] = p.knobs.vrids
	}
	if len(p.knobs.ports) > 0 {
		cluster["ports"] = p.knobs.ports
	}
	text := append([]byte{}, "{\n  \"apiVersion\": \"onprem-infra.io/v1alpha1\",\n  \"kind\": \"Cluster\",\n  \"spec\": {\n"...)
	return append(fields(text, "    ", cluster), "  }\n}\n"...)
}

// fields writes the fields of a map, sorted, one a line: lists on the field's own line, maps on
// lines of their own.
func fields[V any](text []byte, indent string, m map[string]V) []byte {
	keys := slices.Sorted(maps.Keys(m))
	for i, key := range keys {
		text = fmt.Appendf(text, "%s%s: ", indent, word(key))
		switch v := any(m[key]).(type) {
		case string:
			text = append(text, word(v)...)
		case []string:
			text = append(text, list(v)...)
		case map[string]string:
			text = nested(text, indent, v)
		case map[string]uint8:
			text = nested(text, indent, v)
		case map[string]uint16:
			text = nested(text, indent, v)
		default: // a number
			number, _ := json.Marshal(v) // none fails
			text = append(text, number...)
		}
		if i < len(keys)-1 {
			text = append(text, ',')
		}
		text = append(text, '\n')
	}
	return text
}

func nested[V any](text []byte, indent string, m map[string]V) []byte {
	if len(m) == 0 {
		return append(text, "{}"...)
	}
	return append(append(fields(append(text, "{\n"...), indent+"  ", m), indent...), '}')
}

func list(words []string) string {
	quoted := make([]string, len(words))
	for i, w := range words {
		quoted[i] = word(w)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// word is a text in JSON. All texts are of letters, digits and signs of ASCII, or the plan would
// not have been compiled.
func word(s string) string {
	text, _ := json.Marshal(s) // no text fails
	return string(text)
}

func texts[T fmt.Stringer](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = v.String()
	}
	return all
}

// Balancer is who balances the API, in the cluster's own words: OpenShift's are for its clusters.
func (p Plan) Balancer() string {
	if p.Distribution == spec.Kubernetes && p.LoadBalancer == spec.Managed {
		return spec.OwnManaged
	}
	return string(p.LoadBalancer)
}

// formerFields are those that differ.
func formerFields(f spec.Former) map[string]string {
	fields := map[string]string{}
	if f.Timing != "" {
		fields["timing"] = f.Timing
	}
	if f.VRRP != "" {
		fields["vrrp"] = string(f.VRRP)
	}
	return fields
}

// Header is the line of provenance, without a comment sign, for a file that was rendered on a host
// from cluster.json as it stands there.
func Header(clusterJSON []byte) string {
	return fmt.Sprintf("Rendered by onprem-infra from %s (sha256 %.6x); do not edit.", Path, sha256.Sum256(clusterJSON))
}
