package machine

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// profiles are the hardware profiles that metal3 still has.
func profiles() []string {
	return []string{"default", "unknown", "libvirt", "dell", "dell-raid", "openstack", "empty"}
}

// checkBoot checks that the driver and the firmware of a host can boot it as it is described.
func (m host) checkBoot(r *document.Report, around Around) {
	r.OneOf(m.bootMode, UEFI, UEFISecureBoot, Legacy)
	if m.profile.Value != "" {
		r.OneOf(m.profile, profiles()...)
	}
	a := m.bmc.address
	legacy := m.bootMode.Value == Legacy
	switch {
	case a == bmc.Address{}:
	case m.bootMode.Value == UEFISecureBoot && !a.SecureBoot:
		r.Errorf(m.bootMode.At, "the driver %s cannot switch secure boot: write %s, or use a "+
			"driver of Redfish", a.Driver, UEFI)
	case legacy && a.UEFIHTTP:
		r.Errorf(m.bootMode.At, "legacy firmware does not boot by HTTP, as the driver %s has "+
			"it: write %s, or use redfish-virtualmedia://", a.Driver, UEFI)
	case legacy && a.NeedsNetwork && around.IPv6 && !around.NoNetwork:
		r.Errorf(m.bootMode.At, "legacy firmware has no PXE over IPv6, of which the provisioning "+
			"network is: write %s, or use a driver of virtual media", UEFI)
	}
	if a.NeedsNetwork && around.NoNetwork {
		r.Errorf(m.bmc.text.At, "the driver %s boots by PXE, and there is no provisioning "+
			"network: use one of %s", a.Driver, strings.Join(bmc.Without(), ", "))
	}
	if around.Fenced && m.role.Value == Master && a.Protocol == bmc.IPMI {
		r.Errorf(m.bmc.text.At, "nodes are not fenced by IPMI: write the address of a Redfish "+
			"service, such as redfish+https://...")
	}
}

// Counts are how many hosts of each role a cluster has; -1 if that is not written.
type Counts struct{ Masters, Arbiters, Workers int }

// Fill gives each host without a role the one that the installer gives it: control plane nodes
// first, then arbiters, and workers of the rest.
func Fill(roles []string, counts Counts) []string {
	filled := slices.Clone(roles)
	for _, r := range []struct {
		role string
		n    int
	}{{Master, counts.Masters}, {Arbiter, counts.Arbiters}, {Worker, len(roles)}} {
		have := 0
		for _, role := range filled {
			if role == r.role {
				have++
			}
		}
		for i := range filled {
			if filled[i] == "" && have < r.n {
				filled[i], have = r.role, have+1
			}
		}
	}
	return filled
}

// Filled are Values in which provisioned hosts without a role have the one that checkRoles
// reported.
func (h Hosts) Filled(counts Counts) []Host {
	hosts := h.Values()
	if !h.Provisioned {
		return hosts
	}
	roles := make([]string, len(hosts))
	for i, v := range hosts {
		roles[i] = v.Role
	}
	for i, role := range Fill(roles, counts) {
		hosts[i].Role = role
	}
	return hosts
}

// checkRoles reports roles that are filled in, and hosts that are too few or too many. Too few are
// no error: the agent-based installer takes such a file.
func (h Hosts) checkRoles(r *document.Report, around Around) {
	counts := around.Counts
	roles := make([]string, len(h.all))
	for i, m := range h.all {
		roles[i] = m.role.Value
	}
	filled, masters := Fill(roles, counts), 0
	have := map[string]int{}
	for i, m := range h.all {
		have[filled[i]]++
		if roles[i] == "" && (m.role.OK || !m.role.Given) {
			r.Warnf(m.role.At, "is missing: the host %s is taken as a %s, as by the installer: "+
				"write role: %[2]s", document.Quote(m.name.Value), filled[i])
		}
		if filled[i] != Master {
			continue
		}
		if masters++; around.Sized && masters > counts.Masters {
			r.Warnf(m.at, "the control plane has %d nodes before it in the list, and no more "+
				"replicas: %s is spare; write more replicas, or remove the host", counts.Masters,
				document.Quote(m.name.Value))
		}
	}
	if !h.InstallConfig {
		// A cluster.yaml may list workers alone: the others were installed in another way.
		if n := have[Master]; around.Sized && n > 0 && n < counts.Masters {
			r.Warnf(h.At, "there are fewer hosts of the role master than controlPlaneReplicas, "+
				"%d and %d: list the others, or write the right number", n, counts.Masters)
		}
		return
	}
	for _, c := range []struct {
		role string
		want int
	}{{Master, counts.Masters}, {Arbiter, counts.Arbiters}, {Worker, counts.Workers}} {
		if n := have[c.role]; n < c.want {
			r.Warnf(h.At, "there are fewer hosts of the role %s than replicas, %d and %d, and "+
				"only the agent-based installer takes that: list the others", c.role, n, c.want)
		}
	}
}
