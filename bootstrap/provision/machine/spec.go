package machine

import (
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
)

// spec is how Ironic reaches the host and boots it. The BMC's address was parsed when the plan
// was made, so it is valid here.
//
// Automated cleaning is off: it would erase the signatures of every disk of the host, also of those
// with data, and nothing that ran there before is trusted more for it. The image overwrites the
// partition table of the disk that was chosen, and of no other.
func (h Host) spec() node.Spec {
	a, err := bmc.Parse(h.Plan.BMC)
	if err != nil {
		panic("machine: the plan has an address that is none: " + err.Error())
	}
	s := node.Spec{Name: h.Plan.Name, Driver: "redfish", Info: map[string]any{
		"deploy_kernel": h.Kernel, "deploy_ramdisk": h.Ramdisk},
		Interfaces: map[string]string{"deploy_interface": "direct", "boot_interface": h.boot(),
			"network_interface": "noop", "bios_interface": "no-bios", "raid_interface": "no-raid",
			"inspect_interface": "agent", "firmware_interface": "no-firmware"},
		Properties: map[string]string{"capabilities": h.capabilities(a)}}
	if h.Plan.Kernel != "" {
		s.Info["kernel_append_params"] = "%default% " + h.Plan.Kernel
	}
	switch {
	case a.Protocol == bmc.IPMI:
		s.Driver = "ipmi"
		h.ipmi(s.Info, a)
	case strings.HasPrefix(a.Driver, "idrac-"):
		s.Driver = "idrac"
		for _, of := range []string{"management", "power", "vendor"} {
			s.Interfaces[of+"_interface"] = "idrac-redfish"
		}
		h.redfish(s.Info, a)
	default:
		h.redfish(s.Info, a)
	}
	return s
}

// boot is Ironic's boot interface. A host that boots by HTTP gets iPXE from the DHCP server, as one
// that boots by PXE does: redfish-https would have the firmware itself fetch an ISO over TLS, and
// unlike a BMC it verifies the server's certificate, which is self-signed.
func (h Host) boot() string {
	switch {
	case h.Plan.Boot == provision.VirtualMedia && strings.HasPrefix(h.Plan.Driver, "idrac-"):
		return "idrac-redfish-virtual-media"
	case h.Plan.Boot == provision.VirtualMedia:
		return "redfish-virtual-media"
	case h.Plan.Boot == provision.UEFIHTTP:
		return "http-ipxe"
	}
	return "ipxe"
}

// device is what a host boots its ramdisk from, by Ironic's name.
func (h Host) device() string {
	switch h.Plan.Boot {
	case provision.VirtualMedia:
		return "cdrom"
	case provision.UEFIHTTP:
		return "uefihttp"
	}
	return "pxe"
}

// again is a further boot of the ramdisk, for people.
func (h Host) again() string {
	switch h.Plan.Boot {
	case provision.VirtualMedia:
		return "virtual media again"
	case provision.UEFIHTTP:
		return "UEFI HTTP boot again"
	}
	return "PXE again"
}

func (h Host) capabilities(a bmc.Address) string {
	switch h.Plan.BootMode {
	case machine.Legacy:
		return "boot_mode:bios"
	case machine.UEFISecureBoot:
		if a.SecureBoot {
			return "boot_mode:uefi,secure_boot:true"
		}
	}
	return "boot_mode:uefi"
}

func (h Host) redfish(info map[string]any, a bmc.Address) {
	scheme := "https"
	if a.Plain {
		scheme = "http"
	}
	info["redfish_address"] = scheme + "://" + net.JoinHostPort(a.Host,
		strconv.Itoa(int(a.Port)))
	if a.Path != "" {
		info["redfish_system_id"] = a.Path
	}
	info["redfish_username"], info["redfish_password"] = h.Username, h.Password
	switch {
	case h.Plan.Verify == machine.VerifyOff:
		info["redfish_verify_ca"] = false
	case h.CA != "":
		info["redfish_verify_ca"] = h.CA
	default:
		info["redfish_verify_ca"] = true
	}
	if h.Plan.Media != "" {
		// The BMC fetches its medium from an address of its own family.
		info["external_http_url"] = h.Plan.Media
	}
}

func (h Host) ipmi(info map[string]any, a bmc.Address) {
	info["ipmi_address"], info["ipmi_port"] = a.Host, fmt.Sprint(a.Port)
	info["ipmi_username"], info["ipmi_password"] = h.Username, h.Password
	if a.Privilege != "" {
		info["ipmi_priv_level"] = a.Privilege
	}
}

// Driver is Ironic's hardware type for a host.
func Driver(h provision.Host) string { return Host{Plan: h}.spec().Driver }
