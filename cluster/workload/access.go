package workload

import (
	"github.com/onprem-infra/onprem-infra/cluster/metal3"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// identity is the Secret of Ironic's identity, without data, and the account that may read and
// change this Secret and nothing else.
func identity(p plan.Plan) []object.Object {
	return append([]object.Object{
		object.Secret{Head: about(p, object.Core, "Secret", Identity), Data: map[string]string{}},
	}, granted(p, Ironic, object.Rule{APIGroups: []string{object.CoreGroup},
		Resources: []string{"secrets"}, ResourceNames: []string{Identity},
		Verbs: []string{"get", "update"}})...)
}

// watch lets Ironic's account read what the bootstrap machine publishes: its pod waits until that
// machine has given the provisioning address up.
func watch(p plan.Plan) []object.Object {
	if !provisions.Runs(p) {
		return nil
	}
	role, binding := rights(p, Ironic, object.Rule{APIGroups: []string{object.CoreGroup},
		Resources: []string{"configmaps"}, Verbs: []string{"get"},
		ResourceNames: []string{notice.Bootstrap, notice.Handover}})
	role.Metadata.Name = Ironic + "-handover"
	binding.Metadata.Name, binding.RoleRef.Name = role.Metadata.Name, role.Metadata.Name
	role.Metadata.Namespace = p.Flavour().Namespace
	binding.Metadata.Namespace = role.Metadata.Namespace
	return []object.Object{role, binding}
}

// granted is an account, and what it may do in the namespace.
func granted(p plan.Plan, name string, rules ...object.Rule) []object.Object {
	role, binding := rights(p, name, rules...)
	return []object.Object{
		object.ServiceAccount{Head: about(p, object.Core, "ServiceAccount", name),
			AutomountToken: new(false)}, role, binding,
	}
}

// rights are those of an account.
func rights(p plan.Plan, account string, rules ...object.Rule) (object.Role, object.Binding) {
	return object.Role{Head: about(p, object.RBAC, "Role", account), Rules: rules},
		object.Binding{Head: about(p, object.RBAC, "RoleBinding", account),
			RoleRef: object.RoleRef{APIGroup: object.RBACGroup, Kind: "Role", Name: account},
			Subjects: []object.Subject{{Kind: "ServiceAccount", Name: account,
				Namespace: metal3.Namespace(p)}}}
}

// service is where metal3's operator reaches Ironic, on whichever node that runs.
func service(p plan.Plan) object.Object {
	number := int32(p.Ports[port.Ironic])
	return object.Service{Head: about(p, object.Core, "Service", Ironic), Spec: object.ServiceSpec{
		Ports: []object.ServicePort{{Name: "ironic", Port: number, Protocol: "TCP",
			TargetPort: number}},
		Selector: map[string]string{"app": Ironic}}}
}

// silence has the namespace's pods receive and send nothing but what other policies allow. It does
// not concern Ironic, which is on the host's network.
func silence(p plan.Plan) object.Object {
	return object.NetworkPolicy{Head: about(p, object.Networking, "NetworkPolicy", "metal3"),
		Spec: object.NetworkPolicySpec{PolicyTypes: []string{"Ingress", "Egress"}}}
}
