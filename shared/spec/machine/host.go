// Package machine reads the hosts of a cluster description (their cards, BMCs and disks), and holds
// them to the rules that metal3 and OpenShift's installer hold them to.
package machine

import (
	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Host is a machine that a cluster description lists. Zero values mean "not set".
type Host struct {
	Name            string
	Role            string // master, worker, arbiter
	BootMACAddress  string // of the card that boots, as it is written
	BMC             BMC
	BootMode        string // UEFI, UEFISecureBoot, legacy
	BootModeAt      document.Place
	RootDisk        RootDisk
	HardwareProfile string // of an install-config only
	// Network is a state of nmstate as YAML. It may hold passwords, of 802.1X for example.
	Network secret.Text
}

// BMC is how a host is switched on. The zero value is a host that is not provisioned.
type BMC struct {
	Address bmc.Address
	// Username and Password stand in an install-config.
	Username, Password secret.Text
	Credentials        string // the file that has them, of a cluster.yaml
	Verify             string // ca, off, or pin: and the SHA-256 of its certificate
	// AddressAt, CredentialsAt and VerifyAt are the places of what is written. A cluster.yaml
	// without credentials has the place where they are missing.
	AddressAt, CredentialsAt, VerifyAt document.Place
}

// RootDisk is the hints for the disk that a host is installed on. It must match all that are set.
type RootDisk = rootdisk.Hints

// MAC is the address of the card that boots; the zero value if there is none.
func (h Host) MAC() mac.MAC {
	m, _ := mac.ParseCard(h.BootMACAddress)
	return m
}

// Provisioned reports whether the hosts of a cluster are to be provisioned: one of them has a BMC.
func Provisioned(hosts []Host) bool {
	for _, h := range hosts {
		if h.BMC.Address != (bmc.Address{}) {
			return true
		}
	}
	return false
}

// The roles of hosts, as the installer spells them.
const (
	Master  = "master"
	Arbiter = "arbiter"
	Worker  = "worker"
)

// The boot modes; none means UEFI.
const (
	UEFI           = "UEFI"
	UEFISecureBoot = "UEFISecureBoot"
	Legacy         = "legacy"
)

// How the certificate of a BMC is verified; none means VerifyCA.
const (
	VerifyCA  = "ca"
	VerifyOff = "off"
	VerifyPin = "pin:" // and a SHA-256 in hexadecimal digits
)
