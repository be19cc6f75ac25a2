// Package targets makes the targets of package preflight of the hosts of a cluster description.
package targets

import (
	"cmp"
	"crypto/x509"
	"fmt"
	"net"
	"strconv"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// Of are the targets of the hosts that have a BMC. accounts has one for each host, in the same
// order; ca is nil for this host's own certificates.
func Of(hosts []spec.Host, accounts []grammar.Account, ca *x509.CertPool) []preflight.Target {
	var all []preflight.Target
	for i, h := range hosts {
		if h.BMC.Address == (bmc.Address{}) {
			continue
		}
		t := one(h, accounts[i], ca)
		t.Place = fmt.Sprintf("hosts[%d]", i)
		all = append(all, t)
	}
	return all
}

func one(h spec.Host, account grammar.Account, ca *x509.CertPool) preflight.Target {
	a := h.BMC.Address
	at := net.JoinHostPort(a.Host, strconv.Itoa(int(a.Port)))
	t := preflight.Target{Host: h.Name, Scheme: a.Driver, Want: preflight.Want{
		BootMAC: h.MAC().String(), BootMode: cmp.Or(h.BootMode, machine.UEFI),
		Disk: h.RootDisk}}
	if a.Protocol == bmc.IPMI {
		t.IPMI = at
		return t
	}
	url := "https://" + at
	if a.Plain {
		t.Scheme, url = t.Scheme+"+http", "http://"+at
	}
	t.Service = redfish.Service{System: a.Path, Options: wire.Options{URL: url,
		Username: account.Username.Reveal(), Password: account.Password.Reveal,
		Verify: verify(h.BMC.Verify, ca)}}
	return t
}

// verify is how a BMC's certificate is verified, by the words of a description.
func verify(words string, ca *x509.CertPool) wire.Verify {
	pin, pinned := strings.CutPrefix(words, machine.VerifyPin)
	switch {
	case pinned:
		return wire.Verify{Mode: wire.ByPin, Pin: pin}
	case words == machine.VerifyOff:
		return wire.Verify{Mode: wire.Off}
	}
	return wire.Verify{Mode: wire.ByCA, Pool: ca}
}
