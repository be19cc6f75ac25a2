package spec

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// The names that identify a cluster.yaml.
const (
	apiGroup   = "onprem-infra.io/"
	apiVersion = apiGroup + "v1alpha1"
	kind       = "Cluster"
)

// clusterYAML reads our own format. It is strict: an unknown field is a finding.
func (r *reader) clusterYAML(root document.Map) draft {
	r.Known(root, "apiVersion", "kind", "metadata", "spec")
	metadata, spec := r.Map(root.Get("metadata")), r.Map(root.Get("spec"))
	r.Known(metadata, "name")
	r.Known(spec, "baseDomain", "clusterDomain", "platform", "distribution", "topology",
		"controlPlaneReplicas", "families", "machineNetworks", "apiVIPs", "ingressVIPs", "dnsVIP",
		"dnsClients",
		"loadBalancer", "dnsRecords", "mdns", "metrics", "images", "namespace", "kubeconfig", "certificateDirectories", "kubeletUnit", "nodeLabels", "timing", "vrrp", "onClash", "migrateFrom", "vrids", "ports")

	name, domain := r.names(metadata, spec)
	d := draft{
		name:     name,
		domain:   domain,
		families: r.Text(spec.Get("families")),
		topology: r.Text(spec.Get("topology")),
		replicas: r.Number(spec.Get("controlPlaneReplicas")),
		lists: lists{
			networks: r.networks(spec.Get("machineNetworks"),
				func(e document.Value) document.Value { return e }),
			clients: r.dnsClients(spec),
			api:     r.vips(spec.Get("apiVIPs")),
			ingress: r.vips(spec.Get("ingressVIPs")),
			dns:     r.dnsVIP(spec.Get("dnsVIP")),
		},
		loadBalancer: r.balancer(spec.Get("loadBalancer")),
		dnsRecords:   r.Text(spec.Get("dnsRecords")),
		images:       r.images(r.Map(spec.Get("images")), true),
		nodes:        r.nodes(spec),
		distribution: r.Text(spec.Get("distribution")),
		settings: settings{
			timing:  r.Text(spec.Get("timing")),
			vrrp:    r.Text(spec.Get("vrrp")),
			mdns:    r.Text(spec.Get("mdns")),
			clash:   r.Text(spec.Get("onClash")),
			metrics: r.Text(spec.Get("metrics")),
			former:  r.former(spec.Get("migrateFrom")),
			vrids:   r.numbers(r.Map(spec.Get("vrids"))),
			ports:   r.numbers(r.Map(spec.Get("ports"))),
		},
	}
	d.platform = r.anyPlatform(r.Text(spec.Get("platform")))
	return d
}

// anyPlatform reads the platform as an install-config or as OpenShift's own objects spell it.
func (r *reader) anyPlatform(s document.Scalar[string]) Platform {
	all := append(platforms(), string(None))
	if !s.Given {
		r.Errorf(s.At, "is missing: write one of %s", strings.Join(all, ", "))
	}
	if i := slices.IndexFunc(all,
		func(p string) bool {
			return s.OK &&
				(p == s.Value || Platform(p).Type() == s.Value)
		}); i >= 0 {
		return Platform(all[i])
	}
	r.oneOf(s, all...)
	return ""
}

// names are the cluster's name and its base domain, or those that clusterDomain is made of: a
// template that writes the file may be unable to split it.
func (r *reader) names(metadata, spec document.Map) (name, domain document.Scalar[string]) {
	name, domain = r.Text(metadata.Get("name")), r.Text(spec.Get("baseDomain"))
	together := spec.Get("clusterDomain")
	if together.Node == nil {
		return name, domain
	}
	whole := r.Text(together)
	if name.Given || domain.Given {
		r.Errorf(whole.At,
			"stands beside the name or the base domain, which it is made of: leave one or the "+
				"other")
	}
	name, domain = whole, whole
	name.Value, domain.Value, name.OK = strings.Cut(whole.Value, ".")
	if domain.OK = name.OK; whole.OK && !name.OK {
		r.Errorf(whole.At, "%s has no dot: write the cluster's name and the domain above it, "+
			"such as prod.example.com", document.Quote(whole.Value))
	}
	return name, domain
}

// balancer reads the load balancer's type, by either word for ours.
func (r *reader) balancer(v document.Value) document.Scalar[string] {
	s := r.Text(v)
	if s.Value == OwnManaged {
		s.Value = string(Managed)
	}
	return s
}

func (r *reader) numbers(o document.Map) map[string]document.Scalar[int] {
	numbers := map[string]document.Scalar[int]{}
	for _, name := range o.Names {
		if n := r.Number(o.Get(name)); n.Given {
			numbers[name] = n
		}
	}
	return numbers
}
