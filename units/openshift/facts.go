// Package openshift knows the systemd units of OpenShift's nodes around ours, as far as they order
// themselves: those of the Machine Config Operator's templates and of the operating system that
// order themselves against the network, the node's addresses, kubelet, CRI-O, Open vSwitch or
// resolv.conf.
//
// They are facts, names and dependencies, and no text of the operator's. Where releases from 4.16
// on differ, or a release and its operating system do, a unit stands in each of its forms.
package openshift

// Unit is one unit's dependencies, each a list of unit names separated by spaces.
type Unit struct {
	Name string

	After, Before, Wants, Requires, PartOf string // of the section Unit
	WantedBy, RequiredBy                   string // of the section Install, where the unit is enabled

	Form     string // told apart by it where there are several of the name
	Platform string // of which alone the unit is, in lower case, empty for all
	Extra    bool   // it comes with an extension or a procedure, not with every node
	DropIn   bool   // it adds to a unit of the name that the system brings
	Stays    bool   // it remains active after its program has ended
	When     string // a condition that a machine without OSTree or a hypervisor does not meet
}

// Words of the operator's own for where a unit belongs.
const (
	waitOnline   = "NetworkManager-wait-online.service"
	online       = "network-online.target"
	dependencies = "kubelet-dependencies.target"
	updated      = "firstboot-osupdate.target"
	multiUser    = "multi-user.target"
	ostree       = "ConditionPathExists=/run/ostree-booted"
)

// Facts are all units in all of their forms, those of the operating system first.
func Facts() []Unit { return append(system(), templates()...) }

// system are units of Red Hat's CoreOS, of the packages that they come with.
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
		// The rest of what the operator's units name.
		{Name: "rpc-statd.service", After: "network-online.target nss-lookup.target", Wants: online, Stays: true},
		{Name: "chrony-wait.service", After: "chronyd.service", Before: "time-sync.target",
			Wants: "time-sync.target", Stays: true},
		{Name: "chronyd.service", WantedBy: multiUser, Stays: true},
		{Name: "kdump.service", After: "network.target network-online.target remote-fs.target basic.target",
			WantedBy: multiUser, Stays: true},
		{Name: "ostree-finalize-staged.service", Stays: true},
		{Name: "afterburn.service", Platform: "openstack", Stays: true},
		{Name: "vmtoolsd.service", Platform: "vsphere", WantedBy: multiUser, Stays: true},
		{Name: "ipsec.service", After: online, Wants: online, WantedBy: multiUser, Extra: true, Stays: true},
		{Name: "openvswitch-ipsec.service", After: "openvswitch.service", Requires: "openvswitch.service",
			WantedBy: multiUser, Extra: true, Stays: true},
	}
}
