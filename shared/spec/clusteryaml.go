package spec

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/near"
)

// The names that tell a cluster.yaml.
const (
	apiGroup   = "onprem-infra.io/"
	apiVersion = apiGroup + "v1alpha1"
	kind       = "Cluster"
)

// clusterYAML reads our own format. It is strict: a field that nobody reads is a finding.
func (r *reader) clusterYAML(root object) draft {
	r.fields(root, "apiVersion", "kind", "metadata", "spec")
	metadata, spec := r.object(root.get("metadata")), r.object(root.get("spec"))
	r.fields(metadata, "name")
	r.fields(spec, "baseDomain", "clusterDomain", "platform", "distribution", "topology", "controlPlaneReplicas", "families", "machineNetworks", "apiVIPs", "ingressVIPs", "dnsVIP", "dnsClients",
		"loadBalancer", "dnsRecords", "mdns", "metrics", "images", "namespace", "kubeconfig", "certificateDirectories", "kubeletUnit", "nodeLabels", "timing", "vrrp", "onClash", "migrateFrom", "vrids", "ports")

	name, domain := r.names(metadata, spec)
	d := draft{
		name:         name,
		domain:       domain,
		families:     r.text(spec.get("families")),
		topology:     r.text(spec.get("topology")),
		replicas:     r.number(spec.get("controlPlaneReplicas")),
		networks:     r.networks(spec.get("machineNetworks"), func(e value) value { return e }),
		clients:      r.dnsClients(spec),
		api:          r.vips(spec.get("apiVIPs")),
		ingress:      r.vips(spec.get("ingressVIPs")),
		dns:          r.dnsVIP(spec.get("dnsVIP")),
		loadBalancer: r.balancer(spec.get("loadBalancer")),
		dnsRecords:   r.text(spec.get("dnsRecords")),
		images:       r.images(r.object(spec.get("images")), true),
		nodes:        r.nodes(spec),
		distribution: r.text(spec.get("distribution")),
		settings: settings{
			timing:  r.text(spec.get("timing")),
			vrrp:    r.text(spec.get("vrrp")),
			mdns:    r.text(spec.get("mdns")),
			clash:   r.text(spec.get("onClash")),
			metrics: r.text(spec.get("metrics")),
			former:  r.former(spec.get("migrateFrom")),
			vrids:   r.numbers(r.object(spec.get("vrids"))),
			ports:   r.numbers(r.object(spec.get("ports"))),
		},
	}
	d.platform = r.anyPlatform(r.text(spec.get("platform")))
	return d
}

// anyPlatform reads the platform as an install-config or as OpenShift's own objects spell it.
func (r *reader) anyPlatform(s said[string]) Platform {
	all := append(installed(), string(None))
	if !s.given {
		r.errorf(s.at, "is missing: write one of %s", strings.Join(all, ", "))
	}
	if i := slices.IndexFunc(all, func(p string) bool { return s.ok && (p == s.value || Platform(p).Type() == s.value) }); i >= 0 {
		return Platform(all[i])
	}
	r.oneOf(s, all...)
	return ""
}

// names are the cluster's name and its base domain, or those that clusterDomain is made of: who
// fills a file in by a template may have no way to take it apart.
func (r *reader) names(metadata, spec object) (name, domain said[string]) {
	name, domain = r.text(metadata.get("name")), r.text(spec.get("baseDomain"))
	together := spec.get("clusterDomain")
	if together.node == nil {
		return name, domain
	}
	whole := r.text(together)
	if name.given || domain.given {
		r.errorf(whole.at, "stands beside the name or the base domain, which it is made of: leave one or the other")
	}
	name, domain = whole, whole
	name.value, domain.value, name.ok = strings.Cut(whole.value, ".")
	if domain.ok = name.ok; whole.ok && !name.ok {
		r.errorf(whole.at, "%s has no dot: write the cluster's name and the domain above it, such as prod.example.com", quote(whole.value))
	}
	return name, domain
}

// balancer reads who balances the API, whichever word the user has for us.
func (r *reader) balancer(v value) said[string] {
	s := r.text(v)
	if s.value == OwnManaged {
		s.value = string(Managed)
	}
	return s
}

// fields reports every field of a map that is none of the known ones.
func (r *reader) fields(o object, known ...string) {
	for _, name := range o.order {
		i := slices.IndexFunc(known, func(k string) bool { return alike(k, name) })
		switch {
		case slices.Contains(known, name):
		case i >= 0:
			r.errorf(o.key(name), "there is no such field: spell it %s", known[i])
		case near.Word(name, known) != "":
			r.errorf(o.key(name), "there is no such field: spell it %s where that is meant, or remove it", near.Word(name, known))
		default:
			r.errorf(o.key(name), "there is no such field: remove it, or use one of %s", strings.Join(known, ", "))
		}
	}
}

// alike reports whether two field names differ in case and underscores only.
func alike(a, b string) bool {
	plain := func(s string) string { return strings.ReplaceAll(s, "_", "") }
	return strings.EqualFold(plain(a), plain(b))
}

func (r *reader) numbers(o object) map[string]said[int] {
	numbers := map[string]said[int]{}
	for _, name := range o.order {
		if n := r.number(o.get(name)); n.given {
			numbers[name] = n
		}
	}
	return numbers
}
