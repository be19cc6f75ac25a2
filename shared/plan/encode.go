package plan

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/distribution"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Parse is the plan of a host's cluster.json at a path. An error names the first field that is
// wrong, and not the file: callers know where it is. Warnings are for those who write such a file.
func Parse(path string, text []byte) (Plan, error) {
	described, findings := spec.Parse(path, text, spec.Knobs{})
	for _, f := range findings {
		if f.Severity == spec.Error {
			return Plan{}, fmt.Errorf("%s: %s", f.Path, f.Text)
		}
	}
	return Compile(described)
}

// Encode writes the cluster description, and nothing that follows from it: a cluster.yaml in the
// form of JSON, which hosts read like any other and compile to the same plan. Keys are sorted,
// defaults are written out, settings of the elections only where the user made them. Equal plans
// give equal bytes.
//
// Other programs write this file too, by a template (package cluster/mco). So each field is on one
// line, in a form that a template can write without splitting or changing a text: the cluster's
// whole domain, and the platform as OpenShift spells it.
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
	if p.Distribution != "" && p.Distribution != distribution.Of(p.Platform) {
		cluster["distribution"] = string(p.Distribution)
	}
	for key, text := range map[string]string{
		"mdns": string(p.MDNS), "metrics": string(p.Metrics),
		"timing": p.knobs.timing, "vrrp": string(p.knobs.mode), "onClash": string(p.knobs.clash),
	} {
		if text != "" {
			cluster[key] = text
		}
	}
	if len(p.VIPs.DNS) > 0 {
		cluster["dnsVIP"] = p.VIPs.DNS[0].String()
	}
	given := func(n int, field string, value any) {
		if n > 0 {
			cluster[field] = value
		}
	}
	former := formerFields(p.knobs.former)
	given(len(p.DNSClients), "dnsClients", texts(p.DNSClients))
	given(len(p.CertificateDirectories), "certificateDirectories", p.CertificateDirectories)
	given(p.knobs.size, "controlPlaneReplicas", p.knobs.size)
	given(len(former), "migrateFrom", former)
	given(len(p.knobs.vrids), "vrids", p.knobs.vrids)
	given(len(p.knobs.ports), "ports", p.knobs.ports)
	given(len(p.knobs.proof), "timingProof", p.knobs.proof)
	routed.AddFields(cluster, p.Described)
	if p.Provisioning != nil {
		cluster["provisioning"], cluster["hosts"] = p.Provisioning.Fields()
	}
	text, _ := json.MarshalIndent(map[string]any{ // none of these types fails
		"apiVersion": "onprem-infra.io/v1alpha1", "kind": "Cluster", "spec": cluster,
	}, "", "  ")
	return append(list.ReplaceAllFunc(text, func(lines []byte) []byte {
		return []byte("[" + strings.Join(strings.Fields(string(lines[1:len(lines)-1])), " ") + "]")
	}), '\n')
}

// list is a list of texts in indented JSON: spec.Check refuses elements with a blank or a
// bracket. The list of hosts, which no template writes, stays on several lines.
var list = regexp.MustCompile(`\[\n[^]{]*\]`)

func texts[T fmt.Stringer](values []T) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = v.String()
	}
	return all
}

// Balancer is the load balancer's type, by OpenShift's word in OpenShift's clusters only.
func (p Plan) Balancer() string {
	if p.Distribution == spec.Kubernetes && p.LoadBalancer == spec.Managed {
		return spec.OwnManaged
	}
	return string(p.LoadBalancer)
}

// formerFields are the fields of migrateFrom: the settings that differ from the new ones.
func formerFields(f spec.Former) map[string]string {
	fields := map[string]string{}
	if f.Timing != "" {
		fields["timing"] = f.Timing
	}
	if f.VRRP != "" {
		fields["vrrp"] = string(f.VRRP)
	}
	if f.Management != "" {
		fields["vipManagement"] = string(f.Management)
	}
	return fields
}

// Header is the line of provenance, without a comment sign, for a file that is rendered on a host
// from its cluster.json.
func Header(clusterJSON []byte) string {
	return fmt.Sprintf("Rendered by onprem-infra from %s (sha256 %.6x); do not edit.", Path,
		sha256.Sum256(clusterJSON))
}
