package spec

import (
	"slices"
	"strings"
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
	r.fields(spec, "baseDomain", "platform", "topology", "controlPlaneReplicas", "machineNetworks", "apiVIPs", "ingressVIPs", "dnsVIP",
		"loadBalancer", "dnsRecords", "images", "namespace", "kubeconfig", "kubeletUnit", "nodeLabels", "timing", "vrrp", "migrateFrom", "vrids", "ports")

	d := draft{
		name:         r.text(metadata.get("name")),
		domain:       r.text(spec.get("baseDomain")),
		topology:     r.text(spec.get("topology")),
		replicas:     r.number(spec.get("controlPlaneReplicas")),
		networks:     r.networks(spec.get("machineNetworks"), func(e value) value { return e }),
		api:          r.vips(spec.get("apiVIPs")),
		ingress:      r.vips(spec.get("ingressVIPs")),
		dns:          r.dnsVIP(spec.get("dnsVIP")),
		loadBalancer: r.text(spec.get("loadBalancer")),
		dnsRecords:   r.text(spec.get("dnsRecords")),
		images:       r.images(r.object(spec.get("images")), true),
		nodes:        r.nodes(spec),
		settings: settings{
			timing: r.text(spec.get("timing")),
			vrrp:   r.text(spec.get("vrrp")),
			former: r.former(spec.get("migrateFrom")),
			vrids:  r.numbers(r.object(spec.get("vrids"))),
			ports:  r.numbers(r.object(spec.get("ports"))),
		},
	}
	all := append(installed(), string(None))
	platform := r.text(spec.get("platform"))
	if r.oneOf(platform, all...); !platform.given {
		r.errorf(platform.at, "is missing: write one of %s", strings.Join(all, ", "))
	}
	if slices.Contains(all, platform.value) {
		d.platform = Platform(platform.value)
	}
	return d
}

// fields reports every field of a map that is none of the known ones.
func (r *reader) fields(o object, known ...string) {
	for _, name := range o.order {
		i := slices.IndexFunc(known, func(k string) bool { return alike(k, name) })
		switch {
		case slices.Contains(known, name):
		case i >= 0:
			r.errorf(o.key(name), "there is no such field: spell it %s", known[i])
		default:
			r.errorf(o.key(name), "there is no such field: remove it, or use one of %s", strings.Join(known, ", "))
		}
	}
}

// alike tells whether two field names differ in case and underscores only.
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
