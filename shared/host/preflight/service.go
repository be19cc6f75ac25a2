package preflight

import (
	"cmp"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/redfish"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
)

// reached judges whether a Redfish service answers.
func (j *judge) reached() bool {
	f, at := j.Redfish, j.Target.Address()
	switch f.Reach {
	case redfish.Reached:
		return true
	case redfish.Refused:
		j.add(CheckReach, Error, "enable Redfish on the BMC, or fix the port",
			"nothing listens at %s", at)
	case redfish.Busy:
		j.add(CheckReach, Error, "repeat this in a few minutes; if it stays so, restart the BMC",
			"the BMC at %s is busy: %s", at, f.Why)
	case redfish.Foreign:
		j.add(CheckReach, Error, "fix the address, or enable Redfish on the BMC",
			"no Redfish service answers at %s: %s", at, f.Why)
	default:
		j.unreachable(f.Why)
	}
	return false
}

// soon is how long before its end a certificate is reported.
const soon = 30 * 24 * time.Hour

func (j *judge) judgeTLS() {
	chain, mode := j.Redfish.Chain, j.Target.Service.Verify.Mode
	if chain == nil {
		j.add(CheckTLS, Warning, "use a scheme without +http",
			"the password crosses the network unencrypted")
		return
	}
	trust := j.trust(chain)
	switch {
	case !chain.Trusted && mode == wire.ByPin:
		j.add(CheckTLS, Error,
			"find out why; if the BMC's owner changed it, set verify: pin:"+chain.Pin,
			"the BMC presents another certificate than the pinned one, and got no password")
	case !chain.Trusted:
		j.add(CheckTLS, Error, trust,
			"the certificate is not trusted (%s), and the BMC got no password", chain.Problem)
	case mode == wire.Off:
		j.add(CheckTLS, Warning, trust+", and no longer switch the verification off",
			"the certificate is not verified: any host in the BMC's place gets the password")
	}
	switch left := chain.Until.Sub(j.now); {
	case left < 0 && (chain.Trusted || mode == wire.ByPin):
		j.add(CheckTLS, Warning, "renew the BMC's certificate",
			"the certificate expired on %s", chain.Until.Format(time.DateOnly))
	case left >= 0 && left < soon:
		j.add(CheckTLS, Warning, "renew the BMC's certificate",
			"the certificate expires on %s", chain.Until.Format(time.DateOnly))
	}
}

// trust is how a certificate becomes a trusted one, by why it is not. An authority makes none valid
// that has expired, or has another name.
func (j *judge) trust(chain *wire.Chain) string {
	at := strings.TrimPrefix(j.Target.Address(), "https://")
	switch {
	case j.now.Before(chain.From):
		return "set the clocks of the BMC and of this host right, or renew the BMC's certificate"
	case j.now.After(chain.Until):
		return "renew the BMC's certificate"
	case chain.Misnamed:
		return fmt.Sprintf("have the BMC's certificate name %s, or write a name that it has in "+
			"bmc.address: %s", at, cmp.Or(strings.Join(chain.Names, ", "), "it has none"))
	}
	if u, err := url.Parse(j.Target.Service.URL); err == nil && u.Port() == "" {
		at += ":443"
	}
	// Not a pin: Ironic verifies by authorities, of which a certificate that signs itself is one.
	return fmt.Sprintf("compare its SHA-256 %s at the BMC, and add it or its CA to bmcCA "+
		"(bmcVerifyCA of an install-config): 'openssl s_client -showcerts -connect %s </dev/null' "+
		"prints it", chain.Pin, at)
}

func (j *judge) judgeScheme() {
	vendor, scheme := strings.ToLower(j.Redfish.Root.Vendor), j.Target.scheme()
	dell := strings.Contains(vendor, "dell")
	switch {
	case vendor == "":
	case dell && scheme == "redfish-virtualmedia":
		j.add(CheckScheme, Error, "use idrac-virtualmedia",
			"the vendor is %s, where %s does not boot", j.Redfish.Root.Vendor, scheme)
	case !dell && strings.HasPrefix(scheme, "idrac-"):
		other := strings.Replace(scheme, "idrac-", "redfish-", 1)
		if other == "redfish-redfish" {
			other = "redfish"
		}
		j.add(CheckScheme, Error, "use "+other, "the vendor is %s, and %s is Dell's",
			j.Redfish.Root.Vendor, scheme)
	}
}

// loggedIn judges whether the BMC accepts the credentials.
func (j *judge) loggedIn() bool {
	f, user := j.Redfish, j.Target.Service.Username
	sessions := strings.Contains(f.Why, "SessionLimit")
	switch f.Login {
	case redfish.Accepted:
		return true
	case redfish.Rejected:
		j.add(CheckLogin, Error, "fix the user or the password; BMCs lock an account after a few",
			"the BMC rejects user %q: %s", user, f.Why)
	case redfish.Forbidden:
		j.add(CheckLogin, Error, "enable the account, and set its password if it is the factory's",
			"the BMC refuses user %q: %s", user, f.Why)
	case redfish.Withdrawn:
		j.add(CheckLogin, Error, "find out which program changes the BMC's accounts",
			"the BMC accepted user %q, and then no longer: %s", user, f.Why)
	case redfish.Failed:
		if sessions {
			j.add(CheckSessions, Error, "log out other users of the BMC, or restart it",
				"the BMC has no room for a login: %s", f.Why)
			return false
		}
		j.add(CheckLogin, Error, "restart the BMC, or update its firmware",
			"the BMC answers no Redfish to a login: %s", f.Why)
	default:
		j.add(CheckLogin, Unseen, "fix the certificate first", "the password was not sent")
	}
	return false
}

// drift is how wrong a BMC's clock may be: certificates and logs depend on it.
const drift = 5 * time.Minute

func (j *judge) judgeAccount() {
	if clock := j.Redfish.Clock; clock.Known && clock.Ahead.Abs() > drift {
		relation := "ahead"
		if clock.Ahead < 0 {
			relation = "behind"
		}
		j.add(CheckClock, Warning, "set an NTP server on the BMC",
			"the BMC's clock is %s %s", clock.Ahead.Abs().Round(time.Second), relation)
	}
	account := j.Redfish.Account
	remedy := "give the account the role Administrator"
	switch {
	case account.Locked:
		j.add(CheckRole, Error, "unlock the account", "the BMC reports the account as locked")
	case account.Role == "ReadOnly":
		j.add(CheckRole, Error, remedy, "the account may only read")
	case account.Role != "" && account.Role != "Administrator":
		j.add(CheckRole, Warning, remedy,
			"the account has the role %s, which may not suffice", account.Role)
	}
}

// judgeFirmware checks that a version is reported, and that of an iDRAC which is to insert media:
// of others, makers know which versions are broken.
func (j *judge) judgeFirmware() {
	m := j.Redfish.Manager
	switch least := m.Outdated(); {
	case m.Path == "":
	case m.Firmware == "":
		j.add(CheckFirmware, Unseen, "compare its version with the maker's notes at the BMC",
			"the BMC does not report the version of its firmware")
	case least != "" && j.Target.scheme() == "idrac-virtualmedia":
		j.add(CheckFirmware, Error, "update it to "+least+", or use idrac-redfish",
			"the firmware %q of the BMC is too old to insert virtual media by Redfish", m.Firmware)
	}
}

// crowd is how many open sessions are worth a warning: many BMCs have room for eight.
const crowd = 4

func (j *judge) judgeSessions() {
	if n := j.Redfish.Sessions; n >= crowd {
		j.add(CheckSessions, Warning, "log out other users of the BMC",
			"%d sessions are open, and BMCs have room for few", n)
	}
	if n := j.Redfish.Tasks; n > 0 {
		j.add(CheckSessions, Warning, "wait until they are done",
			"the BMC has %d tasks that are not done, and may refuse changes until then", n)
	}
}
