// Package workload makes the objects by which Ironic runs in a cluster of any Kubernetes, with the
// server of what hosts fetch and with metal3's operator, and the files that Ironic reads there.
//
// Ironic is a Deployment of ours and not an object of upstream's Ironic operator: that one starts a
// DHCP server beside Ironic, while here the server follows the address that the nodes share.
package workload

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// The names of the objects. Those of Ironic have one name, whatever their kind.
var (
	Ironic   = object.AnyHosts().Ironic
	Operator = object.AnyHosts().Operator
	// Identity is the Secret with Ironic's certificate and the account of its API. It is applied
	// empty: so no program needs the right to make Secrets.
	Identity = Ironic
)

// The files of the ConfigMap, in the directory of the cluster description.
const (
	description = "cluster.json"
	// BMCCA has certificates in PEM by which BMCs are verified; absent for those of Ironic's image.
	BMCCA = "bmc-ca.crt"
)

// Runs reports whether Ironic runs in the cluster by these objects.
func Runs(p plan.Plan) bool { return metal3.Runs(p) }

// Needs are the images of these objects. The ramdisk may be two files in place of an image.
func Needs(p plan.Plan) []plan.Need {
	files := p.Images[spec.IronicAgentKernel] != "" || p.Images[spec.IronicAgentInitramfs] != ""
	return []plan.Need{
		{Key: spec.RuntimeCfgImage, Needed: true},
		{Key: spec.IronicAgentImage, Needed: !files},
		{Key: spec.IronicAgentKernel, Needed: files},
		{Key: spec.IronicAgentInitramfs, Needed: files},
		{Key: spec.OSImage, Needed: true},
	}
}

// Objects are the objects in the order of application, behind the namespace and before the hosts;
// none if Ironic does not run in the cluster. ca has the certificates in PEM by which BMCs are
// verified; empty for those of Ironic's image.
func Objects(p plan.Plan, ca string) []object.Object {
	if !Runs(p) {
		return nil
	}
	all := append(identity(p), watch(p)...)
	all = append(all, configuration(p, ca), service(p), silence(p), ironic(p, ca))
	if p.Images[spec.BaremetalOperatorImage] != "" {
		all = append(all, operator(p, ca)...)
	}
	return all
}

// about is the head of an object in the namespace of the hosts.
func about(p plan.Plan, version, kind, name string) object.Head {
	return object.Head{APIVersion: version, Kind: kind, Metadata: object.Meta{Name: name,
		Namespace: metal3.Namespace(p),
		Labels:    map[string]string{object.ManagedBy: object.Program}}}
}

// configuration is what the pod's programs know of the cluster: the file that nodes have, without
// credentials.
func configuration(p plan.Plan, ca string) object.Object {
	data := map[string]string{description: string(plan.Encode(p))}
	if ca != "" {
		data[BMCCA] = ca
	}
	return object.ConfigMap{Head: about(p, object.Core, "ConfigMap", Ironic), Data: data}
}

// revision is an annotation that changes if pods have to read their configuration again.
func revision(p plan.Plan, ca string) map[string]string {
	sum := sha256.Sum256(append(plan.Encode(p), ca...))
	return map[string]string{"onprem-infra.io/configuration": hex.EncodeToString(sum[:8])}
}
