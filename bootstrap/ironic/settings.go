package ironic

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
)

// heartbeat is how often a ramdisk reports at least. Each change of a host waits for a report, with
// Ironic's own default up to two minutes.
const heartbeat = 30 * time.Second

// Settings are those of the Ironic of a bootstrap machine: for the hosts of its phase alone.
//
// The last argument is where the boot loader of virtual media reads its configuration, if a host
// boots that way.
func Settings(p plan.Plan, grub string) (ironic.Settings, error) {
	s := ironic.Settings{Paths: ironic.Machine(), Times: times(p.Provisioning.Deadlines),
		GRUB: grub}
	for _, h := range p.Provisioning.OfPhase(provision.Bootstrap) {
		s.Hosts = append(s.Hosts, ironic.Host{Driver: h.Driver, Boot: boot(h.Boot)})
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
	s.Bound = p.Provisioning.Own().IsValid()
	s.HTTP = netip.AddrPortFrom(s.API.Addr(), p.Ports[port.ProvisioningHTTP])
	return s, s.Validate()
}

// media reports whether a host of this machine's phase boots by virtual media.
func media(p plan.Plan) bool {
	return slices.ContainsFunc(p.Provisioning.OfPhase(provision.Bootstrap),
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
