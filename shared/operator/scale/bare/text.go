package bare

import (
	"encoding/json"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/object"
)

// Leaves is the annotation of a Node that Cordon has marked; its value is the host's name. Without
// it a Node that is Ready is not deleted for a host whose disk is not written.
const Leaves = "onprem-infra.io/leaves"

// Text is what a step does, or waits for, to a host.
func (s Step) Text(host string) string {
	if s.Waits != "" {
		return "wait for " + s.Waits
	}
	switch s.Action {
	case Create:
		return fmt.Sprintf("create host %s, with its Secrets", host)
	case Resume:
		return fmt.Sprintf("let metal3 begin with host %s", host)
	case Deploy:
		return fmt.Sprintf("have metal3 write %s to host %s, with the document by which it joins",
			s.Image.URL, host)
	case Renew:
		return fmt.Sprintf("replace the document by which host %s joins", host)
	case Note:
		if s.Node == "" {
			return fmt.Sprintf("forget which node host %s was", host)
		}
		return fmt.Sprintf("note that node %s is host %s", s.Node, host)
	case Cordon:
		return fmt.Sprintf("cordon node %s, so that no pod comes to it", s.Node)
	case Evict:
		return fmt.Sprintf("evict %d pods from node %s, as their PodDisruptionBudgets allow",
			len(s.Pods), s.Node)
	case Wipe:
		return fmt.Sprintf("have metal3 wipe host %s: it gets no image, and no power", host)
	case Off:
		return fmt.Sprintf("switch host %s off", host)
	case Unlist:
		return fmt.Sprintf("delete node %s", s.Node)
	case Delete:
		return fmt.Sprintf("delete host %s, and the Secrets %s, %s and %s", host,
			object.AccountOf(host), object.NetworkOf(host), object.UserDataOf(host))
	}
	return "done"
}

// Command is how kubectl does a step; empty for one that waits, and for Create, whose objects
// "render --role=cluster" writes. FILE stands for the document by which a host joins.
func (s Step) Command(host string) string {
	const kubectl = "kubectl --namespace " + object.HostNamespace + " "
	patch := func(spec map[string]any) string {
		text, err := json.Marshal(map[string]any{"spec": spec})
		if err != nil {
			panic("bare: a map of texts cannot fail to be written: " + err.Error())
		}
		return kubectl + "patch bmh " + host + " --type=merge --patch='" + string(text) + "'"
	}
	switch s.Action {
	case Resume:
		return kubectl + "annotate bmh " + host + " " + object.Paused + "-"
	case Deploy:
		secret := object.UserDataOf(host)
		return kubectl + "create secret generic " + secret + " --from-file=userData=FILE && " +
			patch(Deployed(host, s.Image))
	case Renew:
		return kubectl + "create secret generic " + object.UserDataOf(host) +
			" --from-file=userData=FILE --dry-run=client -o yaml | kubectl apply -f -"
	case Note:
		if s.Node == "" {
			return kubectl + "annotate bmh " + host + " " + object.NodeOf + "-"
		}
		return kubectl + "annotate --overwrite bmh " + host + " " + object.NodeOf + "=" + s.Node
	case Cordon:
		return "kubectl cordon " + s.Node + " && kubectl annotate node " + s.Node + " " + Leaves +
			"=" + host
	case Evict:
		return "kubectl drain " + s.Node + " --ignore-daemonsets --delete-emptydir-data"
	case Wipe:
		return patch(Wiped())
	case Off:
		return patch(map[string]any{"online": false})
	case Unlist:
		return "kubectl delete node " + s.Node
	case Delete:
		return kubectl + "delete bmh " + host + " && " + kubectl +
			"delete secrets --ignore-not-found " + object.AccountOf(host) + " " +
			object.NetworkOf(host) + " " + object.UserDataOf(host)
	}
	return ""
}

// Deployed are the fields of a BareMetalHost by which metal3 writes its disk.
func Deployed(host string, i object.Image) map[string]any {
	image := map[string]any{"url": i.URL, "format": i.Format, "checksum": i.Checksum,
		"checksumType": i.ChecksumType}
	return map[string]any{"online": true, "image": image, "userData": map[string]any{
		"name": object.UserDataOf(host), "namespace": object.HostNamespace}}
}

// Wiped are those by which metal3 wipes it, as its automatedCleaningMode orders, and leaves it off:
// a system that stays on the disk would join again.
func Wiped() map[string]any {
	return map[string]any{"online": false, "image": nil, "userData": nil, "customDeploy": nil}
}
