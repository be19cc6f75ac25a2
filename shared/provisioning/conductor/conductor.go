// Package conductor decides the settings of a phase's Ironic, as they follow from the plan of a
// cluster: where it answers, which hosts it can install, and how long it waits.
package conductor

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// heartbeat is how often a ramdisk reports at least. Each change of a host waits for a report, with
// Ironic's own default up to two minutes.
const heartbeat = 30 * time.Second

// Settings are those of the Ironic of a phase. That of the bootstrap machine knows the hosts of its
// phase alone; that of the cluster knows all of them, as it switches control plane nodes too.
//
// The last argument is where the boot loader of virtual media reads its configuration, if a host of
// the phase boots that way.
func Settings(p plan.Plan, phase provision.Phase, grub string) (ironic.Settings, error) {
	s, err := settings(p, phase)
	if err != nil {
		return ironic.Settings{}, err
	}
	s.GRUB = grub
	return s, s.Validate()
}

// OnNode are the settings of the cluster's Ironic on a node that BMCs reach at an address, from
// which they fetch virtual media; invalid if no host boots that way. The last argument is as that
// of Settings.
func OnNode(p plan.Plan, node netip.Addr, grub string) (ironic.Settings, error) {
	s, err := settings(p, provision.Cluster)
	if err != nil {
		return ironic.Settings{}, err
	}
	if s.GRUB = grub; node.IsValid() {
		s.Media = netip.AddrPortFrom(node, p.Ports[port.VirtualMedia])
	}
	return s, s.Validate()
}

// settings are those that follow from the plan alone.
func settings(p plan.Plan, phase provision.Phase) (ironic.Settings, error) {
	s := ironic.Settings{Paths: ironic.Machine(), Times: times(p.Provisioning.Deadlines),
		Operator: phase == provision.Cluster}
	for _, h := range p.Provisioning.Hosts {
		own := h.Phase == phase
		if own || s.Operator && h.BMC != "" {
			s.Hosts = append(s.Hosts, ironic.Host{Driver: h.Driver, Boot: boot(h.Boot),
				Adopted: !own})
		}
		if !own {
			continue
		}
		var err error
		if s.API, err = address(h.Ironic); err != nil {
			return ironic.Settings{}, fmt.Errorf("host %q: Ironic's URL: %w", h.Name, err)
		}
		if h.Media == "" {
			continue
		}
		if s.Media, err = address(h.Media); err != nil {
			return ironic.Settings{}, fmt.Errorf("host %q: the URL of media: %w", h.Name, err)
		}
	}
	if own := p.Provisioning.IP; s.Operator && own.IsValid() {
		s.API = netip.AddrPortFrom(own, p.Ports[port.Ironic]) // also without a host to install
		s.Paths.Data = layout.Database
	}
	s.Bound = !s.Operator && p.Provisioning.Own().IsValid()
	s.Six = slices.ContainsFunc(p.MachineNetworks,
		func(n netip.Prefix) bool { return n.Addr().Is6() })
	s.HTTP = netip.AddrPortFrom(s.API.Addr(), p.Ports[port.ProvisioningHTTP])
	return s, nil
}

// Media reports whether a host of a phase boots by virtual media.
func Media(p plan.Plan, phase provision.Phase) bool {
	return slices.ContainsFunc(p.Provisioning.OfPhase(phase),
		func(h provision.Host) bool { return h.Boot == provision.VirtualMedia })
}

func boot(b provision.Boot) ironic.Boot {
	switch b {
	case provision.UEFIHTTP:
		return ironic.UEFIHTTP
	case provision.VirtualMedia:
		return ironic.VirtualMedia
	}
	return ironic.PXE
}

// address is the server of a URL of the plan, which has no names in it.
func address(text string) (netip.AddrPort, error) {
	u, err := url.Parse(text)
	if err != nil {
		return netip.AddrPort{}, err
	}
	return netip.ParseAddrPort(strings.TrimSuffix(u.Host, "/"))
}

func times(deadlines []provision.Deadline) ironic.Times {
	t := ironic.Times{Heartbeat: heartbeat}
	for _, d := range deadlines {
		switch d.Step {
		case "call-back":
			t.CallBack = time.Duration(d.Seconds) * time.Second
		case "boot-retry":
			t.Retry = time.Duration(d.Seconds) * time.Second
		}
	}
	return t
}
