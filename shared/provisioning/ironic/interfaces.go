package ironic

import (
	"slices"
	"strings"
)

// interfaces are what Ironic loads, of what it has. Whatever is not loaded can neither be used by
// mistake nor fail at the start.
type interfaces struct {
	Types, Boots, BIOS, Deploy, Firmware, Management, Power, RAID, Vendor []string
}

// hardware is Ironic's hardware type for a driver, and whether that type speaks Redfish. The
// type is empty for a driver that Ironic has not.
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

// boot is the boot interface for a host.
func boot(kind string, b Boot, operator bool) string {
	switch {
	case b == VirtualMedia && kind == "idrac":
		return "idrac-redfish-virtual-media"
	case b == VirtualMedia:
		return "redfish-virtual-media"
	case b == UEFIHTTP && operator: // as metal3's operator names it, for hosts that it adopts
		return "redfish-https"
	case b == UEFIHTTP:
		return "http-ipxe"
	}
	return "ipxe"
}

// interfacesOf are those for the hosts. metal3's operator names interfaces that the bootstrap
// machine does not.
func interfacesOf(s Settings) interfaces {
	i := interfaces{BIOS: []string{"no-bios"}, Firmware: []string{"no-firmware"},
		Deploy: []string{"direct"}, RAID: []string{"no-raid"}, Vendor: []string{"no-vendor"}}
	if s.Operator {
		i.Deploy = []string{"direct", "custom-agent", "ramdisk"}
		i.RAID = append(i.RAID, "agent")
	}
	for _, h := range s.Hosts {
		kind, redfish := hardware(h.Driver)
		own := "ipmitool"
		switch {
		case kind == "idrac":
			own = "idrac-redfish"
			i.Vendor = append(i.Vendor, own)
		case redfish:
			own = "redfish"
		}
		i.Types, i.Boots = append(i.Types, kind), append(i.Boots, boot(kind, h.Boot, s.Operator))
		i.Management, i.Power = append(i.Management, own), append(i.Power, own)
		if redfish {
			i.BIOS, i.Firmware = append(i.BIOS, own), append(i.Firmware, "redfish")
		}
		if s.Operator {
			i.Vendor = append(i.Vendor, own)
			if redfish {
				i.RAID = append(i.RAID, own)
			}
		}
	}
	for _, all := range []*[]string{&i.Types, &i.Boots, &i.BIOS, &i.Firmware, &i.Management,
		&i.Power, &i.RAID, &i.Vendor} {
		slices.Sort(*all)
		*all = slices.Compact(*all)
	}
	return i
}
