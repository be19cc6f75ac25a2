package cluster

import (
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// access is the name of each object that gives nodes a right.
const access = "onprem-infra-nodes"

// kubelets is the group of every kubelet. What runs on a node asks the API with its kubelet's credentials, so each right that it needs is one of
// this group: RBAC knows no group of control plane nodes alone.
const kubelets = "system:nodes"

// read is what a watch needs that lists once.
var read = []string{"get", "list", "watch"}

// Objects are the cluster's own: what must exist once, whatever nodes there are. Each can be applied by itself, in this order.
func Objects(p plan.Plan) []runtime.Object {
	objects := []runtime.Object{namespace(p)}
	objects = append(objects, seeNodes()...)
	objects = append(objects, keepNotices(p)...)
	if p.Platform != spec.None { // elsewhere there are no routers that OpenShift runs
		objects = append(objects, seeRouters()...)
	}
	return objects
}

// namespace lets pods use the host's network and files, and be placed on the CPUs that are set apart for the cluster's own work.
func namespace(p plan.Plan) runtime.Object {
	const level = "privileged"
	return &corev1.Namespace{
		TypeMeta: kind(corev1.SchemeGroupVersion.String(), "Namespace"),
		ObjectMeta: metav1.ObjectMeta{
			Name:        p.Namespace,
			Annotations: map[string]string{"workload.openshift.io/allowed": "management"},
			Labels: map[string]string{
				"pod-security.kubernetes.io/enforce": level, "pod-security.kubernetes.io/audit": level, "pod-security.kubernetes.io/warn": level,
			},
		},
	}
}

// seeNodes lets kubelets read all Nodes. An API that authorizes nodes by selector shows a kubelet its own Node alone.
func seeNodes() []runtime.Object {
	return []runtime.Object{
		&rbacv1.ClusterRole{
			TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: access},
			Rules: []rbacv1.PolicyRule{{APIGroups: []string{corev1.GroupName}, Resources: []string{"nodes"}, Verbs: read}},
		},
		&rbacv1.ClusterRoleBinding{
			TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "ClusterRoleBinding"), ObjectMeta: metav1.ObjectMeta{Name: access},
			Subjects: everyKubelet(), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: access},
		},
	}
}

// keepNotices lets kubelets read our two objects and keep the list of candidates. The right to create knows no names. The bootstrap machine's
// object is written with an administrator's credentials; where there is none a control plane node creates it, as that of a machine that is gone, so
// that no kubelet can create another.
func keepNotices(p plan.Plan) []runtime.Object {
	rule := func(verbs []string, names ...string) rbacv1.PolicyRule {
		return rbacv1.PolicyRule{APIGroups: []string{corev1.GroupName}, Resources: []string{"configmaps"}, ResourceNames: names, Verbs: verbs}
	}
	return allow(p.Namespace, rule(read, notice.Candidates, notice.Bootstrap), rule([]string{"update"}, notice.Candidates), rule([]string{"create"}))
}

// seeRouters lets kubelets read on which nodes the routers are ready.
func seeRouters() []runtime.Object {
	return allow(health.RouterNamespace, rbacv1.PolicyRule{APIGroups: []string{discoveryv1.GroupName}, Resources: []string{"endpointslices"}, Verbs: read})
}

// allow gives kubelets rights in a namespace.
func allow(namespace string, rules ...rbacv1.PolicyRule) []runtime.Object {
	about := metav1.ObjectMeta{Namespace: namespace, Name: access}
	return []runtime.Object{
		&rbacv1.Role{TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "Role"), ObjectMeta: about, Rules: rules},
		&rbacv1.RoleBinding{
			TypeMeta: kind(rbacv1.SchemeGroupVersion.String(), "RoleBinding"), ObjectMeta: about,
			Subjects: everyKubelet(), RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: access},
		},
	}
}

func everyKubelet() []rbacv1.Subject {
	return []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.GroupKind, Name: kubelets}}
}

func kind(version, name string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: version, Kind: name}
}
