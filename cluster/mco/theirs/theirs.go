// Package theirs has the names of the Machine Config Operator's own templates that ours replace.
package theirs

import "path"

const (
	Layer  = "on-prem" // the operator's directory for the platforms that we serve
	Common = "common"  // its directory for all roles
)

// Superseded are the operator's templates, as of its release 4.22, that ours replace under other
// names. An empty template leaves each out. If routed, those of its speakers are among them, which
// announce VIPs by BGP in later releases.
func Superseded(routed bool) []string {
	var all []string
	add := func(dir string, names ...string) {
		for _, name := range names {
			all = append(all, path.Join("/templates", dir, name))
		}
	}
	files := path.Join(Common, Layer, "files")
	add(files, "configure-ip-forwarding.yaml", "coredns-corefile.yaml", "coredns.yaml",
		"keepalived-script-default-ingress.yaml", "keepalived.yaml", "resolv-prepender.yaml",
		"wait-for-br-ex-up.yaml", "wait-for-node-ip.yaml")
	// The VRRP mode of its monitors, which ours do not read. It has moved from one platform to all,
	// with different names in different releases.
	add(files, "keepalived-flip-mode.yaml", "baremetal-keepalived-flip-mode.yaml")
	add(path.Join(Common, "baremetal/files"), "baremetal-keepalived-flip-mode.yaml")
	add(path.Join(Common, "vsphere/units"), "nodeip-configuration-vsphere-upi.service.yaml")
	// An arbiter has those of a control plane node, with the scripts of keepalived, which it does
	// not run.
	for _, role := range []string{"master/00-master", "arbiter/00-arbiter"} {
		add(path.Join(role, Layer, "files"), "haproxy-haproxy.yaml", "keepalived-keepalived.yaml",
			"keepalived-mcs-script.yaml", "keepalived-script-both.yaml", "keepalived-script.yaml")
	}
	add(path.Join("worker/00-worker", Layer, "files"), "keepalived-keepalived.yaml")
	if routed {
		add(path.Join("master/00-master", Layer, "files"), "0000-frr-k8s.yaml",
			"0010-kube-vip-api.yaml", "0011-kube-vip-api-secondary.yaml", "frr-k8s-conf.yaml",
			"frr-k8s-peers.yaml", "frr-k8s-startup-daemons.yaml", "frr-k8s-startup-vtysh.yaml")
		add(path.Join("master/00-master", Layer, "units"), "frr-k8s-hostpath.service.yaml")
		add(files, "0020-kube-vip-ingress.yaml", "0021-kube-vip-ingress-secondary.yaml")
	}
	return all
}
