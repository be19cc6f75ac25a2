package plan

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// Encode writes what the cluster decided, and nothing that follows from it: a cluster.yaml in the form of JSON, which hosts read like
// any other and compile to the same plan. Keys are sorted, defaults are written out, settings of the elections only where the user made
// them. Equal plans give equal bytes.
func Encode(p Plan) []byte {
	cluster := map[string]any{
		"apiVIPs":         p.VIPs.API,
		"baseDomain":      p.Cluster.Domain,
		"dnsRecords":      p.DNSRecords,
		"images":          p.Images,
		"kubeconfig":      p.Kubeconfig,
		"kubeletUnit":     p.KubeletUnit,
		"ingressVIPs":     p.VIPs.Ingress,
		"loadBalancer":    p.LoadBalancer,
		"machineNetworks": p.MachineNetworks,
		"namespace":       p.Namespace,
		"nodeLabels":      map[string]string{"controlPlane": p.ControlPlaneLabel},
		"platform":        p.Platform,
		"topology":        p.Topology,
	}
	if len(p.VIPs.DNS) > 0 {
		cluster["dnsVIP"] = p.VIPs.DNS[0]
	}
	if p.knobs.timing != "" {
		cluster["timing"] = p.knobs.timing
	}
	if p.knobs.mode != "" {
		cluster["vrrp"] = p.knobs.mode
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
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetIndent("", "  ")
	// Strings, numbers and addresses, and lists and maps of them: there is nothing that JSON could refuse, and memory takes every write.
	_ = enc.Encode(map[string]any{
		"apiVersion": "onprem-infra.io/v1alpha1",
		"kind":       "Cluster",
		"metadata":   map[string]any{"name": p.Cluster.Name},
		"spec":       cluster,
	})
	return text.Bytes()
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

// Header is the line of provenance, without a comment sign, for a file that was rendered on a host from cluster.json as it stands there.
func Header(clusterJSON []byte) string {
	return fmt.Sprintf("Rendered by onprem-infra from %s (sha256 %.6x); do not edit.", Path, sha256.Sum256(clusterJSON))
}
