package mco

import (
	"path"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// The operator identifies templates by file name alone. A template of ours that replaces one of the
// operator's has the same name, so that there is one of them if the tree is laid over the
// operator's. If two templates made one unit the operator would merge them, and the later name
// would win.

// fileTemplate is the name of a file's template.
func fileTemplate(file string) string {
	switch {
	case file == "/etc/NetworkManager/conf.d/99-"+symbol(shortName)+".conf":
		return "NetworkManager-onprem.conf.yaml"
	case file == "/etc/NetworkManager/conf.d/01-ipv6.conf":
		return "NetworkManager-ipv6.conf.yaml"
	case file == "/etc/NetworkManager/dispatcher.d/30-resolv-prepender":
		return "NetworkManager-resolv-prepender.yaml"
	case path.Base(path.Dir(file)) == "disabled-manifests":
		return "disabled-" + path.Base(file)
	}
	return strings.TrimSuffix(path.Base(file), ".yaml") + ".yaml"
}

// unitTemplate is the name of a unit's template. One that only adds to a unit of the host is named
// after the addition.
func unitTemplate(u asset.Unit) string {
	switch {
	case u.Name == "wait-for-br-ex-up.service":
		return "wait-for-br-ex-up.yaml"
	case u.Name == "wait-for-node-ip.service":
		return "wait-for-primary-ip.yaml" // by its former name
	case u.Name == "nodeip-configuration-vsphere-upi.service":
		// the operator's template with the unit's name is left out
		return "nodeip-configuration-vsphere-upi.conf.yaml"
	case u.Name == "kubelet.service" && len(u.Contents) == 0:
		return "kubelet.service-wait-resolv.yaml"
	}
	return u.Name + ".yaml"
}

// superseded are the operator's templates, as of its release 4.22, that ours replace under other
// names. An empty template leaves each out.
func superseded() []string {
	var all []string
	add := func(dir string, names ...string) {
		for _, name := range names {
			all = append(all, path.Join("/templates", dir, name))
		}
	}
	files := path.Join(common, layer, "files")
	add(files, "configure-ip-forwarding.yaml", "coredns-corefile.yaml", "coredns.yaml", "keepalived-script-default-ingress.yaml",
		"keepalived.yaml", "resolv-prepender.yaml", "wait-for-br-ex-up.yaml", "wait-for-node-ip.yaml")
	// The VRRP mode of its monitors, which ours do not read. It has moved from one platform to all,
	// with different names in different releases.
	add(files, "keepalived-flip-mode.yaml", "baremetal-keepalived-flip-mode.yaml")
	add(path.Join(common, "baremetal/files"), "baremetal-keepalived-flip-mode.yaml")
	add(path.Join(common, "vsphere/units"), "nodeip-configuration-vsphere-upi.service.yaml")
	// An arbiter has those of a control plane node, with keepalived's scripts, which it does not
	// run.
	for _, role := range []string{"master/00-master", "arbiter/00-arbiter"} {
		add(path.Join(role, layer, "files"), "haproxy-haproxy.yaml", "keepalived-keepalived.yaml",
			"keepalived-mcs-script.yaml", "keepalived-script-both.yaml", "keepalived-script.yaml")
	}
	add(path.Join("worker/00-worker", layer, "files"), "keepalived-keepalived.yaml")
	return all
}
