package workload

import (
	"fmt"
	"net/netip"
	"path"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

const (
	// operatorUser is the user of upstream's own manifest.
	operatorUser = 65532
	// operatorHealth is the operator's own default.
	operatorHealth = 9440
	// credentials is the directory in which the operator expects Ironic's account, in one named
	// ironic (METAL3_AUTH_ROOT_DIR of baremetal-operator).
	credentials = "/opt/metal3/auth"
	apiService  = 443 // of the Service kubernetes
)

// operator is metal3's operator, with what it may do. It watches its own namespace alone.
func operator(p plan.Plan, ca string) []object.Object {
	all := append(granted(p, Operator, rules()...), reach(p))
	asks := func(path string) *pod.Probe {
		return &pod.Probe{Port: operatorHealth, Path: path, Every: 2 * every, Timeout: answer,
			Failures: 6}
	}
	started := asks("/healthz")
	started.Failures = 30
	own := pod.Mount{Path: path.Join(credentials, "ironic"), Volume: pod.Volume{Name: "ironic",
		Secret: Identity, Keys: []string{"username", "password", "tls.crt"}}}
	return append(all, pod.Deployment(pod.Workload{
		Name: Operator, Namespace: metal3.Namespace(p),
		Labels:      map[string]string{object.ManagedBy: object.Program},
		Annotations: revision(p, ca), ControlPlane: p.ControlPlaneLabel, Away: away,
		User:    operatorUser,
		Account: Operator, Grace: 10 * time.Second,
		Containers: []pod.Container{{
			Name: "operator", Image: p.Images[spec.BaremetalOperatorImage],
			Command: []string{"/baremetal-operator", "--namespace=" + metal3.Namespace(p),
				"--enable-leader-election", "--webhook-port=0"},
			Env: variables(p),
			Mounts: []pod.Mount{account, own,
				{Volume: pod.Volume{Name: "tmp"}, Path: "/tmp", Writable: true}},
			Startup: started, Liveness: asks("/healthz"), Readiness: asks("/readyz"),
		}},
	}))
}

// variables are those of upstream's documentation. Ironic fetches the ramdisk from the server
// beside it, by the address that hosts use.
func variables(p plan.Plan) map[string]string {
	at := "http://" + netip.AddrPortFrom(p.Provisioning.IP, p.Ports[port.ProvisioningHTTP]).String()
	images := at + "/" + path.Base(layout.Images) + "/"
	return map[string]string{
		"DEPLOY_KERNEL_URL":  images + path.Base(layout.AgentKernel),
		"DEPLOY_RAMDISK_URL": images + path.Base(layout.AgentInitramfs),
		"IRONIC_ENDPOINT": fmt.Sprintf("https://%s.%s.svc:%d/v1/", Ironic, metal3.Namespace(p),
			p.Ports[port.Ironic]),
		"IRONIC_CACERT_FILE":   path.Join(credentials, "ironic", "tls.crt"),
		"IRONIC_INSECURE":      "false",
		"METAL3_AUTH_ROOT_DIR": credentials,
		"POD_NAMESPACE":        metal3.Namespace(p),
		"WATCH_NAMESPACE":      metal3.Namespace(p),
	}
}

// rules are what the operator does in its namespace: it owns what it makes of hosts, reads and
// labels Secrets that hosts name, and elects a leader among its pods. The kinds are those of its
// releases of today; a rule for one that the cluster does not have gives nothing.
func rules() []object.Rule {
	const all, finalizers, status = "", "/finalizers", "/status"
	of := func(suffix string, kinds ...string) (list []string) {
		for _, k := range kinds {
			list = append(list, k+suffix)
		}
		return list
	}
	kinds := []string{"baremetalhosts", "bmceventsubscriptions", "dataimages", "firmwareschemas",
		"hardwaredata", "hostclaims", "hostfirmwarecomponents", "hostfirmwaresettings",
		"preprovisioningimages"}
	metal := func(resources []string, verbs ...string) object.Rule {
		return object.Rule{APIGroups: []string{object.Metal3Group}, Resources: resources,
			Verbs: verbs}
	}
	return []object.Rule{
		metal(of(all, kinds...), "create", "delete", "get", "list", "patch", "update", "watch"),
		metal(of(finalizers, kinds...), "update"),
		metal(of(status, kinds...), "get", "patch", "update"),
		metal([]string{"hostupdatepolicies"}, "get", "list", "update", "watch"),
		metal([]string{"baremetalswitches", "hostdeploypolicies", "hostnetworkattachments"},
			"get", "list", "watch"),
		{APIGroups: []string{object.CoreGroup}, Resources: []string{"secrets"},
			Verbs: []string{"get", "list", "update", "watch"}},
		{APIGroups: []string{object.CoreGroup}, Resources: []string{"events"},
			Verbs: []string{"create", "patch", "update"}},
		{APIGroups: []string{object.LeaseGroup}, Resources: []string{"leases"},
			Verbs: []string{"create", "get", "list", "patch", "update", "watch"}},
	}
}

// reach is what the operator may reach: names, the API and Ironic, which is on the host's network.
// kubelet's probes come from the node, which no policy keeps out.
func reach(p plan.Plan) object.Object {
	ports := []object.PolicyPort{{Port: 53, Protocol: "UDP"}, {Port: 53, Protocol: "TCP"}}
	for _, number := range []uint16{apiService, p.Ports[port.API], p.Ports[port.Ironic]} {
		ports = append(ports, object.PolicyPort{Port: int32(number), Protocol: "TCP"})
	}
	return object.NetworkPolicy{Head: about(p, object.Networking, "NetworkPolicy", Operator),
		Spec: object.NetworkPolicySpec{Egress: []object.Egress{{Ports: ports}},
			PodSelector: object.Selector{MatchLabels: map[string]string{"app": Operator}},
			PolicyTypes: []string{"Ingress", "Egress"}}}
}
