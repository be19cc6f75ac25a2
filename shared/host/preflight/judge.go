package preflight

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Check is the name of a check, for programs.
type Check string

// The names of the checks. judgeRedfish has the order in which a host is judged.
const (
	CheckReach        Check = "bmc-reach"     // the BMC answers
	CheckTLS          Check = "bmc-tls"       // its certificate is trusted, and stays valid
	CheckLogin        Check = "bmc-login"     // it accepts the credentials
	CheckClock        Check = "bmc-clock"     // its clock is right
	CheckRole         Check = "bmc-role"      // the account may change the machine
	CheckFirmware     Check = "bmc-firmware"  // its firmware is stated, and not too old
	CheckSystem       Check = "bmc-system"    // the address names a machine
	CheckScheme       Check = "bmc-scheme"    // the address has the scheme that the make needs
	CheckTwin         Check = "bmc-twin"      // no two hosts are one machine
	CheckSessions     Check = "sessions"      // the BMC has room for a login, and no task
	CheckPower        Check = "power"         // the machine is off, if it is to be deployed
	CheckBootMode     Check = "boot-mode"     // it starts by UEFI or BIOS, as wanted
	CheckSecureBoot   Check = "secure-boot"   // secure boot is as wanted
	CheckBootMAC      Check = "boot-mac"      // the boot MAC is one of its ports
	CheckVirtualMedia Check = "virtual-media" // a slot is there, and empty
	CheckMemory       Check = "memory"        // the ramdisk fits
	CheckRootDisk     Check = "root-disk"     // the hints choose one disk
)

// All are the names of all checks, in the order above.
func All() []Check {
	return []Check{CheckReach, CheckTLS, CheckLogin, CheckClock, CheckRole, CheckFirmware,
		CheckSystem, CheckScheme, CheckTwin, CheckSessions, CheckPower, CheckBootMode,
		CheckSecureBoot, CheckBootMAC, CheckVirtualMedia, CheckMemory, CheckRootDisk}
}

// Severity is how much a finding matters.
type Severity string

// The severities. Unseen is no fault of the host: the facts are missing.
const (
	Error   Severity = "error"
	Warning Severity = "warning"
	Unseen  Severity = "unseen"
)

// Vantage is where the facts come from: another host may reach BMCs that this one does not.
const Vantage = "from this host"

// Finding is one thing that is wrong with a host, or cannot be seen.
type Finding struct {
	Check    Check    `json:"check"`
	Severity Severity `json:"severity"`
	Host     string   `json:"host"`
	Place    string   `json:"place,omitempty"`
	Text     string   `json:"seen"` // what is wrong
	Remedy   string   `json:"do"`
	Vantage  string   `json:"vantage"`
}

// String is the finding for people.
func (f Finding) String() string {
	words := fmt.Sprintf("%s %s: %s: %s", f.Check, f.Host, f.Text, f.Remedy)
	if f.Place != "" {
		words = f.Place + ": " + words
	}
	return words + " (" + f.Vantage + ")"
}

// judge gathers the findings of one host.
type judge struct {
	Facts
	now   time.Time
	found []Finding
}

func (j *judge) add(check Check, severity Severity, remedy, form string, values ...any) {
	j.found = append(j.found, Finding{
		Check: check, Severity: severity, Host: j.Target.Host, Place: j.Target.Place,
		Text: fmt.Sprintf(form, values...), Remedy: remedy, Vantage: Vantage,
	})
}

// Judge finds what is wrong with hosts, by what was seen at a time. The findings have the order
// of the hosts and, for each, that in which it is judged.
func Judge(seen []Facts, now time.Time) []Finding {
	var all []Finding
	for i, facts := range seen {
		j := &judge{Facts: facts, now: now}
		switch {
		case facts.Ping != nil:
			j.judgePing()
		case facts.Redfish != nil:
			j.judgeRedfish(seen[:i])
		}
		all = append(all, j.found...)
	}
	return all
}

func (j *judge) judgePing() {
	switch pong := j.Ping; {
	case pong.Refused:
		j.add(CheckReach, Error, "enable IPMI over LAN on the BMC, or fix the address",
			"nothing answers IPMI at %s", j.Target.IPMI)
	case !pong.Seen:
		j.unreachable(pong.Why)
	case !pong.IPMI:
		j.add(CheckReach, Warning, "enable IPMI over LAN on the BMC",
			"the BMC at %s answers a ping, and reports no IPMI", j.Target.IPMI)
	default:
		j.add(CheckLogin, Unseen, "use a redfish scheme if the BMC has one",
			"a ping of IPMI shows no more than that the BMC is there")
	}
}

func (j *judge) unreachable(why string) {
	j.add(CheckReach, Unseen, "run the checks on a host that reaches the BMC",
		"the BMC at %s does not answer: %s", j.Target.Address(), why)
}

// judgeRedfish judges a host with the hosts before it.
func (j *judge) judgeRedfish(before []Facts) {
	if !j.reached() {
		return
	}
	j.judgeTLS()
	j.judgeScheme()
	if !j.loggedIn() {
		return
	}
	j.judgeAccount()
	if !j.hasSystem() {
		return
	}
	j.judgeFirmware()
	j.judgeTwins(before)
	j.judgeSessions()
	j.judgePower()
	j.judgeBootMode()
	j.judgeSecureBoot()
	j.judgeBootMAC()
	j.judgeMedia()
	j.judgeMemory()
	j.judgeDisk()
}

// hasSystem is whether the address names a machine that could be read.
func (j *judge) hasSystem() bool {
	f, wanted := j.Redfish, j.Target.Service.System
	switch {
	case f.System != nil:
		return true
	case len(f.Systems) == 0:
		j.add(CheckSystem, Error, "check the BMC's licence and firmware", "the BMC lists no system")
	case wanted == "":
		j.add(CheckSystem, Error, "append the path of this host's system to the BMC's address",
			"the BMC has several systems: %s", strings.Join(f.Systems, ", "))
	case slices.Contains(f.Systems, strings.TrimRight(wanted, "/")):
		j.add(CheckSystem, Error, "restart the BMC, or update its firmware",
			"%s cannot be read: %s", wanted, strings.Join(f.Unread, "; "))
	default:
		j.add(CheckSystem, Error, "use "+strings.Join(f.Systems, " or "),
			"the BMC has no system %s", wanted)
	}
	return false
}
