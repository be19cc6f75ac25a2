package mco

import (
	"cmp"
	"path"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// The operator identifies templates by file name alone. A template of ours that replaces one of the
// operator's has the same name, so that there is one of them if the tree is laid over the
// operator's. If two templates made one unit the operator would merge them, and the later name
// would win.

// operatorNames are the names of the operator's templates for those files and units of ours that
// have another name there.
var operatorNames = map[string]string{
	"99-" + symbol(shortName) + ".conf": "NetworkManager-onprem.conf.yaml",
	"01-ipv6.conf":                      "NetworkManager-ipv6.conf.yaml",
	"30-resolv-prepender":               "NetworkManager-resolv-prepender.yaml",

	"wait-for-br-ex-up.service": "wait-for-br-ex-up.yaml",
	"wait-for-node-ip.service":  "wait-for-primary-ip.yaml", // by its former name
	// The operator's template with the unit's name is left out.
	"nodeip-configuration-vsphere-upi.service": "nodeip-configuration-vsphere-upi.conf.yaml",
}

// fileTemplate is the name of a file's template.
func fileTemplate(file string) string {
	name := strings.TrimSuffix(path.Base(file), ".yaml") + ".yaml"
	if path.Base(path.Dir(file)) == "disabled-manifests" {
		name = "disabled-" + path.Base(file)
	}
	return cmp.Or(operatorNames[path.Base(file)], name)
}

// unitTemplate is the name of a unit's template. One that only adds to a unit of the host is named
// after the addition.
func unitTemplate(u asset.Unit) string {
	if u.Name == "kubelet.service" && len(u.Contents) == 0 {
		return "kubelet.service-wait-resolv.yaml"
	}
	return cmp.Or(operatorNames[u.Name], u.Name+".yaml")
}
