package spec

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/image"
	"github.com/onprem-infra/onprem-infra/shared/spec/installer"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/platform"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spec/setting"
	"github.com/onprem-infra/onprem-infra/shared/spec/shape"
)

// The names that identify a cluster.yaml.
const (
	apiGroup   = "onprem-infra.io/"
	apiVersion = apiGroup + "v1alpha1"
	kind       = "Cluster"
)

// clusterYAML reads our own format. It is strict: an unknown field is a finding.
func clusterYAML(r *document.Reader, root document.Map) draft {
	r.Known(root, "apiVersion", "kind", "metadata", "spec")
	metadata, spec := r.Map(root.Get("metadata")), r.Map(root.Get("spec"))
	images := r.Map(spec.Get("images"))
	r.Known(metadata, "name")
	r.Known(spec, "baseDomain", "clusterDomain", "platform", "distribution", "topology",
		"controlPlaneReplicas", "families", "machineNetworks", "apiVIPs", "ingressVIPs", "dnsVIP",
		"dnsClients", "loadBalancer", "dnsRecords", "mdns", "metrics", "images", "namespace",
		"kubeconfig", "certificateDirectories", "kubeletUnit", "nodeLabels", "timing", "vrrp",
		"onClash", "migrateFrom", "vrids", "ports", "provisioning", "hosts", "vipManagement",
		"bgp", "timingProof")
	r.Known(images, image.Keys()...)

	d := draft{
		families: r.Text(spec.Get("families")),
		shape: shape.Draft{Topology: r.Text(spec.Get("topology")),
			Pools: installer.Pools{ControlPlane: r.Number(spec.Get("controlPlaneReplicas"))}},
		loadBalancer: r.Text(spec.Get("loadBalancer")),
		dnsRecords:   r.Text(spec.Get("dnsRecords")),
		images:       image.Read(r, images),
		nodes:        name.ReadNodes(r, spec),
		distribution: r.Text(spec.Get("distribution")),
		settings:     setting.Read(r, spec),
		Addresses: network.Addresses{
			Platform: readPlatform(r, r.Text(spec.Get("platform"))),
			Machines: network.ReadNetworks(r, spec.Get("machineNetworks")),
			Clients:  network.ReadNetworks(r, spec.Get("dnsClients")),
			API:      network.ReadVIPs(r, spec.Get("apiVIPs")),
			Ingress:  network.ReadVIPs(r, spec.Get("ingressVIPs")),
			DNS:      network.ReadVIP(r, spec.Get("dnsVIP")),
		},
	}
	d.name, d.domain = name.Read(r, metadata, spec)
	d.provisioning = provisioning.ReadOwn(r, spec.Get("provisioning"))
	d.hosts = machine.Read(r, spec.Get("hosts"), false)
	d.routing = routing.Read(r, spec)
	if d.loadBalancer.Value == OwnManaged {
		d.loadBalancer.Value = string(Managed)
	}
	return d
}

// readPlatform reads the platform as an install-config or as OpenShift's own objects spell it.
func readPlatform(r *document.Reader, s document.Scalar[string]) Platform {
	all := append(platform.Installed(), string(None))
	if !s.Given {
		r.Errorf(s.At, "is missing: write one of %s", strings.Join(all, ", "))
	}
	i := slices.IndexFunc(all, func(p string) bool {
		return s.OK && (p == s.Value || Platform(p).Type() == s.Value)
	})
	if i < 0 {
		r.OneOf(s, all...)
		return ""
	}
	return Platform(all[i])
}
