package ironic

import (
	"slices"
	"strings"
)

// interfaces are what Ironic loads, of what it has. Whatever is not loaded can neither be used by
// mistake nor fail at the start.
type interfaces struct {
	Types, Boots, BIOS, Firmware, Management, Power []string
}

// hardware is Ironic's hardware type for a driver, and what that type has of its own. Empty for a
// driver that it has not.
//
// Ironic's ilo types speak HPE's own protocol; iLO 5 and later speak Redfish, as metal3 has it.
func hardware(driver string) (kind string, redfish bool) {
	maker, _, _ := strings.Cut(driver, "-")
	switch maker {
	case "ipmi", "libvirt":
		return "ipmi", false
	case "idrac":
		return "idrac", true
	case "redfish", "ilo5":
		return "redfish", true
	}
	return "", false
}

// boots are the boot interfaces for a host.
func boots(kind string, b Boot) []string {
	switch {
	case b == VirtualMedia && kind == "idrac":
		return []string{"idrac-redfish-virtual-media"}
	case b == VirtualMedia:
		return []string{"redfish-virtual-media"}
	case b == UEFIHTTP:
		// The BMC gives the firmware a URL, or the DHCP server does.
		return []string{"redfish-https", "http-ipxe"}
	}
	return []string{"ipxe"}
}

func interfacesOf(hosts []Host) (i interfaces) {
	for _, h := range hosts {
		kind, redfish := hardware(h.Driver)
		i.Types = append(i.Types, kind)
		i.Boots = append(i.Boots, boots(kind, h.Boot)...)
		if !redfish {
			i.BIOS, i.Firmware = append(i.BIOS, "no-bios"), append(i.Firmware, "no-firmware")
			i.Management = append(i.Management, "ipmitool")
			i.Power = append(i.Power, "ipmitool")
			continue
		}
		own := "redfish"
		if kind == "idrac" {
			own = "idrac-redfish"
		}
		i.BIOS, i.Firmware = append(i.BIOS, own), append(i.Firmware, "redfish")
		i.Management, i.Power = append(i.Management, own), append(i.Power, own)
	}
	for _, all := range []*[]string{&i.Types, &i.Boots, &i.BIOS, &i.Firmware, &i.Management,
		&i.Power} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	return i
}
