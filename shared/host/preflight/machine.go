package preflight

import (
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish"
)

// judgeTwins compares a machine with those before it: two addresses may lead to one machine.
func (j *judge) judgeTwins(before []Facts) {
	own := j.Redfish.System
	for _, other := range before {
		if other.Redfish == nil || other.Redfish.System == nil {
			continue
		}
		s := other.Redfish.System
		same := ""
		switch {
		case j.Target.Address() == other.Target.Address() && own.Path == s.Path:
			same = "system " + own.Path
		case genuine(own.UUID) && strings.EqualFold(own.UUID, s.UUID):
			same = "UUID " + own.UUID
		case genuine(own.Serial) && own.Serial == s.Serial && own.Manufacturer == s.Manufacturer:
			same = "serial number " + own.Serial
		}
		if same != "" {
			j.add(CheckTwin, Error, "fix the BMC's address of one of both",
				"%s and %s are one machine: both have %s", other.Target.Host, j.Target.Host, same)
			return
		}
	}
}

// genuine is whether an identifier is a machine's own, and no placeholder of its maker.
func genuine(id string) bool {
	id = strings.ToLower(id)
	for _, made := range []string{"to be filled", "default string", "serial number", "none"} {
		if strings.Contains(id, made) {
			return false
		}
	}
	return strings.Trim(id, "0-. ") != "" && strings.Trim(id, "f-") != ""
}

func (j *judge) judgePower() {
	switch power := j.Redfish.System.Power; {
	case power == "":
		j.add(CheckPower, Unseen, "restart the BMC", "the BMC reports no power state")
	case power != "On" && power != "Off":
		j.add(CheckPower, Warning, "wait until the machine is on or off",
			"the power state changes: it is %s", power)
	case power == "On" && !j.Target.Want.Running:
		j.add(CheckPower, Warning, "make sure that it is free",
			"the machine is on: its deployment switches it off and overwrites its root disk")
	case power == "Off" && j.Target.Want.Running:
		j.add(CheckPower, Warning, "find out why", "the machine is off, and part of the cluster")
	}
}

func (j *judge) judgeBootMode() {
	boot, want := j.Redfish.System.Boot, "UEFI"
	if strings.EqualFold(j.Target.Want.BootMode, "legacy") {
		want = "Legacy"
	}
	switch {
	case len(boot.Modes) > 0 && !slices.Contains(boot.Modes, want):
		j.add(CheckBootMode, Error, "set a boot mode that it has",
			"the machine cannot start by %s, only by %s", want, strings.Join(boot.Modes, " or "))
	case boot.Mode == "":
		j.add(CheckBootMode, Unseen, "check the firmware's setup", "the BMC reports no boot mode")
	case boot.Mode != want:
		j.add(CheckBootMode, Warning, "change it while the machine is off: some BMCs refuse it on",
			"the machine starts by %s, and %s is wanted", boot.Mode, want)
	}
	if boot.Enabled == "Continuous" && boot.Target != "" && boot.Target != "None" {
		j.add(CheckBootMode, Warning, "clear the boot override",
			"the machine starts from %s at each boot", boot.Target)
	}
}

func (j *judge) judgeSecureBoot() {
	on, want := j.Redfish.System.SecureBoot, j.Target.Want.BootMode == "UEFISecureBoot"
	switch {
	case on == nil && want:
		j.add(CheckSecureBoot, Unseen, "check the firmware's setup",
			"the BMC does not report secure boot")
	case on != nil && want && !*on:
		j.add(CheckSecureBoot, Warning, "switch it on, or leave it to Ironic", "secure boot is off")
	case on != nil && !want && *on:
		j.add(CheckSecureBoot, Warning, "switch it off, or set bootMode: UEFISecureBoot",
			"secure boot is on, and an unsigned ramdisk does not start")
	}
}

func (j *judge) judgeBootMAC() {
	mac := j.Target.Want.BootMAC
	if mac == "" {
		return
	}
	var ports []string
	for _, port := range j.Redfish.System.Ports {
		if bareMAC(port.MAC) == bareMAC(mac) {
			if port.Link == "LinkDown" {
				j.add(CheckBootMAC, Warning, "connect the port, or use another one's address",
					"the port with %s has no link", mac)
			}
			return
		}
		ports = append(ports, describe(port))
	}
	if len(ports) == 0 {
		j.add(CheckBootMAC, Unseen, "compare it at the machine", "the BMC reports no ports")
		return
	}
	j.add(CheckBootMAC, Error, "use one of: "+strings.Join(ports, ", "),
		"the machine has no port with %s", mac)
}

func describe(port redfish.Port) string {
	if port.Link == "" {
		return port.MAC
	}
	return fmt.Sprintf("%s (%s)", port.MAC, port.Link)
}

func bareMAC(mac string) string {
	return strings.ToLower(strings.NewReplacer(":", "", "-", "", ".", "").Replace(mac))
}

func (j *judge) judgeMedia() {
	media, needed := j.Redfish.Manager.Media, j.Target.virtualMedia()
	at := slices.IndexFunc(media, redfish.Slot.CD)
	switch {
	case needed && len(media) == 0:
		j.add(CheckVirtualMedia, Unseen, "check the BMC's licence",
			"the BMC reports no virtual media")
	case needed && at < 0:
		j.add(CheckVirtualMedia, Error, "use a scheme that boots by PXE",
			"no slot of virtual media takes a CD")
	case needed && !media[at].Insert:
		j.add(CheckVirtualMedia, Error, "check the BMC's licence and attach mode",
			"the BMC offers no way to insert media into %s", media[at].Path)
	}
	for _, slot := range media {
		if slot.Inserted {
			j.add(CheckVirtualMedia, Warning, "eject it, and read back that it is gone",
				"%s has media inserted: %s", slot.Path, slot.Image)
		}
	}
}

// RamdiskGiB is the memory that Ironic's ramdisk needs.
const RamdiskGiB = 4

func (j *judge) judgeMemory() {
	need, fix := float64(RamdiskGiB), "add memory"
	if of := j.Target.Want.MemoryGiB; of > need {
		need, fix = of, "add memory, or use a raw image"
	}
	switch have := j.Redfish.System.MemoryGiB; {
	case have == 0:
		j.add(CheckMemory, Unseen, "check it at the machine", "the BMC reports no memory")
	case have < need:
		j.add(CheckMemory, Error, fix,
			"the machine has %.1f GiB, and its deployment needs at least %.1f", have, need)
	}
}
