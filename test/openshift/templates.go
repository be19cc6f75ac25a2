package openshift

import "slices"

// templates are the units of the operator's templates, for all roles of the five on-premise
// platforms.
func templates() []Unit {
	return slices.Concat(addresses(), names(), []Unit{
		// Targets.
		{Name: dependencies, Requires: "basic.target network-online.target",
			Wants: waitOnline + " crio-wipe.service rpc-statd.service chrony-wait.service"},
		{Name: updated, Requires: "basic.target", WantedBy: "default.target"},

		// The first boot. The pull before an update waits for the network in one of three ways.
		{Name: "machine-config-daemon-pull.service", Form: "after " + online,
			Wants:      "crio-wipe.service network-online.target",
			After:      "crio-wipe.service network-online.target",
			RequiredBy: "machine-config-daemon-firstboot.service", Stays: true, When: ostree},
		{Name: "machine-config-daemon-pull.service", Form: "after NetworkManager",
			Wants:      "crio-wipe.service " + waitOnline,
			After:      "crio-wipe.service network.service " + waitOnline,
			RequiredBy: "machine-config-daemon-firstboot.service", Stays: true, When: ostree},
		{Name: "machine-config-daemon-pull.service", Form: "after nmstate",
			Wants:      "crio-wipe.service nmstate.service " + waitOnline,
			After:      "crio-wipe.service network.service nmstate.service " + waitOnline,
			RequiredBy: "machine-config-daemon-firstboot.service", Stays: true, When: ostree},
		{Name: "machine-config-daemon-firstboot.service", After: "machine-config-daemon-pull.service",
			Before: dependencies, RequiredBy: updated + " " + dependencies, Stays: true, When: ostree},

		// Kubelet and its dependencies.
		{Name: "kubelet.service", After: dependencies + " ostree-finalize-staged.service",
			Requires: "crio.service " + dependencies, WantedBy: multiUser, Stays: true},
		{Name: "kubelet.service", DropIn: true, After: "kubens.service"},
		{Name: "crio.service", DropIn: true, After: "kubens.service " + dependencies,
			Requires: dependencies},
		{Name: "kubens.service", Stays: true},
		{Name: "kubelet-auto-node-size.service", After: "network-online.target " + updated,
			Before: dependencies, Wants: online, RequiredBy: dependencies, Stays: true},
		{
			Name: "kubelet-selinux-bools.service", Before: dependencies, WantedBy: dependencies,
			Stays: true,
		},
		{Name: "kubelet-cleanup.service", Before: "kubelet.service", WantedBy: multiUser},
		{Name: "crio-dedup.service", After: "network-online.target " + updated, Before: "crio.service",
			Wants: online, RequiredBy: "crio.service", Stays: true},
		{Name: "capi-bootrstrap-sentinel-file.service", After: "kubelet.service crio.service",
			WantedBy: multiUser},
		{Name: "ovs-kubelet-recovery.service", After: "local-fs.target"},

		// IPsec is an extension.
		{Name: "ipsec.service", DropIn: true, Extra: true, After: "ovs-configuration.service",
			Before: "crio.service"},
		{Name: "openvswitch-ipsec.service", DropIn: true, Extra: true, After: "ipsec.service",
			Before: "crio.service"},
		{Name: "configure-ipsec-connect.service", Extra: true, After: "ovs-configuration.service",
			Before: "ipsec.service", WantedBy: "ipsec.service"},
		{Name: "wait-for-ipsec-connect.service", Extra: true, After: "openvswitch-ipsec.service",
			Before: dependencies + " node-valid-hostname.service", WantedBy: "ipsec.service"},
	})
}

// addresses are the units that configure a node's addresses and its bridge.
func addresses() []Unit {
	return []Unit{
		{Name: "NetworkManager-clean-initrd-state.service", Before: "network-pre.target", Wants: "network-pre.target",
			WantedBy: online},
		{Name: `etc-NetworkManager-system\x2dconnections\x2dmerged.mount`, Extra: true,
			After: "systemd-tmpfiles-setup.service", Before: "NetworkManager.service"},

		// The choice of the node's addresses, which ours replaces.
		{Name: "nodeip-configuration.service", Form: "after the update", Wants: waitOnline,
			After: waitOnline + " " + updated, Before: dependencies + " ovs-configuration.service",
			RequiredBy: dependencies},
		{Name: "nodeip-configuration.service", Form: "before the update", Wants: waitOnline, After: waitOnline,
			Before: dependencies + " ovs-configuration.service", RequiredBy: dependencies},
		// With VIPs the unit exists and is not enabled.
		{Name: "nodeip-configuration-vsphere-upi.service", Platform: "vsphere", Wants: waitOnline,
			After: waitOnline + " " + updated, Before: dependencies + " ovs-configuration.service",
			Form: "after the update", RequiredBy: dependencies},
		{Name: "nodeip-configuration-vsphere-upi.service", Platform: "vsphere", Wants: waitOnline,
			After: waitOnline, Before: dependencies + " ovs-configuration.service",
			Form: "before the update", RequiredBy: dependencies},

		// The cluster's network configuration: after the node's addresses, and before the network
		// is up.
		{Name: "nmstate-configuration.service", Requires: "openvswitch.service", Wants: waitOnline,
			After: waitOnline + " openvswitch.service network.service nodeip-configuration.service",
			Before: "nmstate.service ovs-configuration.service node-valid-hostname.service " +
				"kubelet.service crio.service " + dependencies,
			WantedBy: online},
		{Name: "nmstate.service", After: waitOnline, Before: online, Wants: waitOnline,
			Requires: "NetworkManager.service", WantedBy: "NetworkManager.service", Stays: true},
		{Name: "ovs-configuration.service", Requires: "openvswitch.service", Wants: waitOnline,
			After: "kdump.service openvswitch.service network.service nodeip-configuration.service " +
				waitOnline + " " + updated,
			Before: dependencies + " node-valid-hostname.service", RequiredBy: dependencies},
		{Name: "mtu-migration.service", Extra: true, Requires: "openvswitch.service ovs-configuration.service",
			Wants:  waitOnline,
			After:  waitOnline + " openvswitch.service network.service ovs-configuration.service",
			Before: dependencies + " node-valid-hostname.service", RequiredBy: dependencies},
		{Name: "wait-for-node-ip.service", After: "nmstate.service", Before: dependencies, Requires: "nmstate.service",
			WantedBy: online},
		{Name: "wait-for-br-ex-up.service", After: "ovs-configuration.service", Before: "node-valid-hostname.service",
			Wants: "ovs-configuration.service", RequiredBy: "node-valid-hostname.service"},
	}
}

// names are the units that set a node's name and its name servers.
func names() []Unit {
	return []Unit{
		{Name: "node-valid-hostname.service", After: waitOnline, Before: dependencies, RequiredBy: dependencies,
			WantedBy: multiUser, Stays: true},
		{Name: "vsphere-hostname.service", Platform: "vsphere", Requires: "vmtoolsd.service", After: "vmtoolsd.service",
			Before:   "kubelet.service node-valid-hostname.service NetworkManager.service",
			WantedBy: multiUser, When: "ConditionVirtualization=vmware"},
		{Name: "afterburn-hostname.service", Platform: "openstack", After: waitOnline,
			Before: "network-online.target node-valid-hostname.service", WantedBy: online, Stays: true},
		{Name: "openstack-hostname.service", Platform: "openstack", Wants: "afterburn.service",
			After:    waitOnline + " afterburn.service",
			Before:   "network-online.target node-valid-hostname.service",
			WantedBy: "node-valid-hostname.service", Stays: true},
		{Name: "openstack-kubelet-nodename.service", Platform: "openstack", Wants: "wait-for-br-ex-up.service",
			After: waitOnline + " wait-for-br-ex-up.service", Before: dependencies, WantedBy: dependencies},
		{Name: "on-prem-resolv-prepender.service", After: "crio-wipe.service"},
		{Name: "on-prem-resolv-prepender.path", WantedBy: multiUser},
	}
}
