// Package openshift lists the dependencies of systemd units on OpenShift's nodes, to test the order
// of ours.
//
// The units are those of the Machine Config Operator's templates and of the operating system that
// are ordered by the network, the node's addresses, kubelet, CRI-O, Open vSwitch or resolv.conf.
// Only names and dependencies are listed. If releases from 4.16 on differ, or a release and its
// operating system, a unit has several forms.
package openshift

// Unit is one unit's dependencies, each a list of unit names separated by spaces.
type Unit struct {
	Name string

	After, Before, Wants, Requires, PartOf string // of the section Unit
	// of the section Install, where the unit is enabled
	WantedBy, RequiredBy string

	Form     string // if there are several of the name
	Platform string // with the unit, in lower case; empty for all
	Extra    bool   // it comes with an extension or a procedure, not with every node
	DropIn   bool   // it adds to a unit of the system
	Stays    bool   // it remains active after its program has exited
	When     string // a condition for OSTree or a hypervisor
}

// Units by which the operator orders its units.
const (
	waitOnline   = "NetworkManager-wait-online.service"
	online       = "network-online.target"
	dependencies = "kubelet-dependencies.target"
	updated      = "firstboot-osupdate.target"
	multiUser    = "multi-user.target"
	ostree       = "ConditionPathExists=/run/ostree-booted"
)

// Facts are all units in all forms, those of the operating system first.
func Facts() []Unit { return append(system(), templates()...) }

// system are units of Red Hat CoreOS, by package.
func system() []Unit {
	return []Unit{
		// NetworkManager.
		{Name: "NetworkManager.service", After: "network-pre.target dbus.service", Before: "network.target",
			Wants: "network.target", WantedBy: multiUser, Stays: true},
		{Name: waitOnline, After: "NetworkManager.service", Before: online, Requires: "NetworkManager.service",
			WantedBy: online, Stays: true},
		{Name: "NetworkManager-dispatcher.service"},
		// CRI-O. Newer systems have no crio-wipe.
		{Name: "crio.service", After: online, Before: "kubelet.service", Wants: online,
			WantedBy: multiUser, Stays: true},
		{Name: "crio-wipe.service", Before: "crio.service", WantedBy: multiUser, Stays: true},
		// Open vSwitch.
		{Name: "openvswitch.service", After: "network-pre.target", Before: "network.target network.service",
			Requires: "ovsdb-server.service ovs-vswitchd.service", PartOf: "network.target",
			WantedBy: multiUser, Stays: true},
		{Name: "ovsdb-server.service", After: "syslog.target network-pre.target",
			Before: "network.target network.service", Wants: "ovs-delete-transient-ports.service",
			PartOf: "openvswitch.service", Stays: true},
		{Name: "ovs-vswitchd.service", After: "ovsdb-server.service network-pre.target systemd-udev-settle.service",
			Before: "network.target network.service", Requires: "ovsdb-server.service",
			PartOf: "openvswitch.service", Stays: true},
		{Name: "ovs-delete-transient-ports.service", After: "ovsdb-server.socket", Before: "ovs-vswitchd.service",
			Stays: true},
		// Others that the operator's units name.
		{
			Name: "rpc-statd.service", After: "network-online.target nss-lookup.target",
			Wants: online, Stays: true,
		},
		{Name: "chrony-wait.service", After: "chronyd.service", Before: "time-sync.target",
			Wants: "time-sync.target", Stays: true},
		{Name: "chronyd.service", WantedBy: multiUser, Stays: true},
		{Name: "kdump.service", After: "network.target network-online.target remote-fs.target basic.target",
			WantedBy: multiUser, Stays: true},
		{Name: "ostree-finalize-staged.service", Stays: true},
		{Name: "afterburn.service", Platform: "openstack", Stays: true},
		{Name: "vmtoolsd.service", Platform: "vsphere", WantedBy: multiUser, Stays: true},
		{
			Name: "ipsec.service", After: online, Wants: online, WantedBy: multiUser, Extra: true,
			Stays: true,
		},
		{Name: "openvswitch-ipsec.service", After: "openvswitch.service", Requires: "openvswitch.service",
			WantedBy: multiUser, Extra: true, Stays: true},
	}
}
