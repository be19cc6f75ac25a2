// Package metal3 makes the objects by which a cluster's operators know its hosts: those that the
// bootstrap machine has provisioned, and those that the cluster is to provision. OpenShift has such
// operators; in a cluster of any Kubernetes metal3 runs beside our own Ironic.
package metal3

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

// roleLabel is the label by which OpenShift's installer counts the hosts of the control plane.
const roleLabel = "installer.openshift.io/role"

// Given is what the objects have beside the plan, which has no secrets.
type Given struct {
	// Hosts are those of the description, as spec.Parse returns them, with their accounts.
	Hosts []spec.Host
	// CA are certificates in PEM by which BMCs are verified; empty for those of the machine.
	CA string
	// InfraID begins the names of the Machines of OpenShift's installer, which metadata.json has.
	// Without it hosts of the control plane belong to no Machine. Only OpenShift has Machines.
	InfraID string
}

// Knows reports whether the plan provisions hosts of a cluster that has such operators.
func Knows(p plan.Plan) bool {
	return p.Provisioning != nil && (p.Flavour().Machines || Runs(p))
}

// Runs reports whether Ironic runs in the cluster by our own objects: on a control plane node, all
// of which share the address at which hosts reach it.
func Runs(p plan.Plan) bool { return p.NodeRuns(role.Master).Boots }

// Place is where a cluster has the objects of its hosts.
func Place(p plan.Plan) object.Place { return p.Flavour().Hosts() }

// Namespace is that of these objects.
func Namespace(p plan.Plan) string { return Place(p).Namespace }

// WrongHosts is the error of Objects for hosts of the plan of which no object can be made. Each
// list may be empty, but not all of them.
type WrongHosts struct {
	Absent    []string // those that Given does not have
	NoAccount []string // whose account is in a file that the caller has not read
	Pinned    []string // whose BMC is known by a digest, which Ironic cannot verify
	// Media are those that boot by virtual media and whose BMC is of another IP family than that of
	// others: Ironic gives one address of its node to all.
	Media []string
	// Legacy are those of the cluster that would boot such a medium by legacy firmware.
	Legacy []string
	// HTTP are those of the cluster whose firmware would fetch such a medium: it does not know
	// the certificate of the server.
	HTTP []string
}

func (w WrongHosts) Error() string {
	var all []string
	for _, fault := range []struct {
		names       []string
		before, fix string
	}{
		{w.Absent, "the description of these hosts is missing: ", "give the hosts that " +
			"spec.Parse has returned"},
		{w.NoAccount, "the account of the BMC is missing for ", "have the description name a " +
			"file of it, and read that file"},
		{w.Pinned, "the BMC is known by the digest of its certificate (pin:) for ", "Ironic " +
			"verifies by authorities alone: put the certificate or its CA into bmcCA, and leave " +
			"verify out"},
		{w.Media, "the BMC fetches virtual media from the node on which Ironic runs, of which " +
			"all get one address, and is of another IP family than other hosts' for ", "use an " +
			"address of one family in bmc.address, or one by which the host boots by PXE, such " +
			"as redfish://"},
		{w.Legacy, "Ironic makes no virtual media that legacy firmware boots, for ", "choose the " +
			"boot mode UEFI, or a bmc.address by which the host boots by PXE, such as redfish://"},
		{w.HTTP, "the firmware fetches from Ironic over TLS, and does not know its certificate, " +
			"for ", "use a bmc.address by which the host boots by PXE, such as redfish://, or by " +
			"virtual media, such as redfish-virtualmedia://"},
	} {
		if len(fault.names) > 0 {
			all = append(all, fault.before+strings.Join(fault.names, ", ")+": "+fault.fix)
		}
	}
	return strings.Join(all, "; ")
}

// Objects are the objects, in the order of application; none if the plan provisions no hosts, or if
// the cluster has no such operators. Those of kind Secret are secret. The error is WrongHosts.
func Objects(p plan.Plan, g Given) ([]object.Object, error) {
	if !Knows(p) {
		return nil, nil
	}
	openShift := p.Flavour().Machines
	var all []object.Object
	if openShift {
		all = append(all, operator(*p.Provisioning))
	}
	if openShift && g.CA != "" {
		all = append(all, object.ConfigMap{
			Head: about(Namespace(p), object.Core, "ConfigMap", "bmc-verify-ca"),
			Data: map[string]string{"verify_ca.crt": g.CA}})
	}
	var wrong WrongHosts
	_, wrong.Media = NodeMedia(p)
	nth := map[string]int{}
	for _, planned := range p.Provisioning.Hosts {
		i := slices.IndexFunc(g.Hosts, func(h spec.Host) bool { return h.Name == planned.Name })
		if i < 0 {
			wrong.Absent = append(wrong.Absent, planned.Name)
			continue
		}
		described := g.Hosts[i]
		if described.BMC.Password.Empty() {
			wrong.NoAccount = append(wrong.NoAccount, planned.Name)
		}
		if strings.HasPrefix(planned.Verify, machine.VerifyPin) {
			wrong.Pinned = append(wrong.Pinned, planned.Name)
		}
		if !openShift && planned.Phase == provision.Cluster &&
			planned.Boot == provision.VirtualMedia && planned.BootMode == machine.Legacy {
			wrong.Legacy = append(wrong.Legacy, planned.Name)
		}
		if !openShift && planned.Phase == provision.Cluster && planned.Boot == provision.UEFIHTTP {
			wrong.HTTP = append(wrong.HTTP, planned.Name)
		}
		n := nth[planned.Role]
		nth[planned.Role]++
		// Without OpenShift only the pause keeps metal3's operator from switching the power of a
		// control plane host that the bootstrap machine still installs.
		waits := planned.Phase == provision.Cluster || !openShift
		own := host(Namespace(p), planned, described, waits)
		if openShift {
			adopt(own, planned, g.machine(planned, n))
		}
		all = append(all, own...)
	}
	if wrong.Error() != "" {
		return nil, wrong
	}
	return all, nil
}

// HostObjects are the objects of one host, for a cluster that runs: the host is not paused. There
// are none for a host that the plan does not have. Faults of other hosts do not count.
func HostObjects(p plan.Plan, g Given, name string) (own []object.Object, err error) {
	if !Knows(p) {
		return nil, nil
	}
	one := *p.Provisioning
	one.Hosts = slices.DeleteFunc(slices.Clone(one.Hosts), func(h provision.Host) bool {
		return h.Name != name
	})
	p.Provisioning, g.CA = &one, ""
	all, err := Objects(p, g)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		switch h := o.(type) {
		case object.Provisioning:
			continue
		case object.BareMetalHost:
			delete(h.Metadata.Annotations, object.Paused)
		}
		own = append(own, o)
	}
	return own, nil
}

func about(namespace, version, kind, name string) object.Head {
	return object.Head{APIVersion: version, Kind: kind, Metadata: object.Meta{
		Name: name, Namespace: namespace,
		Labels: map[string]string{object.ManagedBy: object.Program},
	}}
}

// operator is the one object of its kind, whose name is fixed. It waits for the handover: before
// it, the operator's Ironic would run beside the bootstrap machine's, and its DHCP server would
// answer all hosts.
func operator(p provision.Plan) object.Object {
	s := object.ProvisioningSpec{AdditionalNTPServers: p.NTP,
		ProvisioningNetwork: map[provisioning.Mode]string{provisioning.Managed: "Managed",
			provisioning.Unmanaged: "Unmanaged", provisioning.Disabled: "Disabled"}[p.Network]}
	if p.Network != provisioning.Disabled {
		s.ProvisioningIP, s.ProvisioningNetworkCIDR = p.IP.String(), p.CIDR.String()
		s.ProvisioningInterface = p.Interface
		for _, h := range p.OfPhase(provision.Bootstrap) {
			s.ProvisioningMACAddresses = append(s.ProvisioningMACAddresses, h.MAC.String())
		}
		// BMCs are not on the provisioning network.
		s.VirtualMediaViaExternalNetwork = slices.ContainsFunc(p.OfPhase(provision.Cluster),
			func(h provision.Host) bool { return h.Boot == provision.VirtualMedia })
	}
	if d := p.DHCP; d != nil && p.Network == provisioning.Managed {
		s.ProvisioningDHCPRange = d.First.String() + "," + d.Last.String()
		if d.Gateway.IsValid() {
			s.ProvisioningNetworkGateway = d.Gateway.String()
		}
	}
	head := about("", object.Metal3, "Provisioning", object.Operator)
	head.Metadata.Annotations = map[string]string{object.OperatorPaused: object.UntilHandover}
	return object.Provisioning{Head: head, Spec: s}
}

// machine is the Machine that a host of the control plane belongs to, the n-th of its role. Without
// it the Machine controller would choose any available host for that Machine, such as a worker's.
func (g Given) machine(h provision.Host, n int) *object.Reference {
	if h.Phase != provision.Bootstrap || g.InfraID == "" {
		return nil
	}
	return &object.Reference{APIVersion: object.Machine, Kind: "Machine",
		Namespace: object.MachineNamespace, Name: fmt.Sprintf("%s-%s-%d", g.InfraID, h.Role, n)}
}

// adopt sets what only OpenShift has: the installer's label for the role, and the host's Machine.
func adopt(own []object.Object, planned provision.Host, of *object.Reference) {
	h, ok := own[len(own)-1].(object.BareMetalHost)
	if !ok {
		return
	}
	h.Metadata.Labels[roleLabel] = "control-plane"
	if planned.Role == machine.Worker {
		h.Metadata.Labels[roleLabel] = planned.Role
	}
	h.Spec.ConsumerRef = of
	own[len(own)-1] = h
}

// host is a BareMetalHost, after its Secrets. If it waits, it is paused until the handover.
func host(namespace string, planned provision.Host, described spec.Host, waits bool) (
	all []object.Object) {
	h := object.BareMetalHost{
		Head: about(namespace, object.Metal3, "BareMetalHost", planned.Name),
		Spec: object.BareMetalHostSpec{Online: true,
			ExternallyProvisioned: planned.Phase == provision.Bootstrap,
			BootMode:              planned.BootMode, RootDeviceHints: hints(described.RootDisk)}}
	if planned.MAC.IsCard() {
		h.Spec.BootMACAddress = planned.MAC.String()
	}
	if waits {
		h.Metadata.Annotations = map[string]string{object.Paused: object.UntilHandover}
	}
	if planned.BMC != "" {
		account := object.Secret{
			Head: about(namespace, object.Core, "Secret", object.AccountOf(planned.Name)),
			Data: map[string]string{"username": encoded(described.BMC.Username),
				"password": encoded(described.BMC.Password)}}
		h.Spec.BMC = &object.BMC{Address: planned.BMC, CredentialsName: account.Metadata.Name,
			DisableCertificateVerification: planned.Verify == machine.VerifyOff}
		all = append(all, account)
	}
	if !described.Network.Empty() {
		network := object.Secret{
			Head: about(namespace, object.Core, "Secret", object.NetworkOf(planned.Name)),
			Data: map[string]string{"nmstate": encoded(described.Network)}}
		h.Spec.NetworkDataName = network.Metadata.Name
		all = append(all, network)
	}
	return append(all, h)
}

// UserData is the Secret from which metal3 reads the document by which a host joins a cluster of
// any Kubernetes.
func UserData(host string, document secret.Text) object.Secret {
	return object.Secret{
		Head: about(object.HostNamespace, object.Core, "Secret", object.UserDataOf(host)),
		Data: map[string]string{"userData": encoded(document)}}
}

func encoded(text secret.Text) string {
	return base64.StdEncoding.EncodeToString([]byte(text.Reveal()))
}

// hints are those of metal3, which have the same names.
func hints(h machine.RootDisk) *object.RootDeviceHints {
	if h.None() {
		return nil
	}
	return &object.RootDeviceHints{DeviceName: h.DeviceName, HCTL: h.HCTL,
		MinSizeGigabytes: h.MinSizeGigabytes, Model: h.Model, Rotational: h.Rotational,
		SerialNumber: h.SerialNumber, Vendor: h.Vendor, WWN: h.WWN,
		WWNVendorExtension: h.WWNVendorExtension, WWNWithExtension: h.WWNWithExtension}
}
