package targets

import (
	"crypto/x509"
	"errors"
	"fmt"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// Planned are the targets of those hosts of a plan whose accounts a file has: this machine
// provisions them.
func Planned(hosts []provision.Host, file hostfile.File) ([]preflight.Target, error) {
	var ca *x509.CertPool
	if file.CA != "" {
		if ca = x509.NewCertPool(); !ca.AppendCertsFromPEM([]byte(file.CA)) {
			return nil, errors.New("the file of the hosts' secrets has a CA for BMCs that is no " +
				"certificate in PEM: make the machine's files anew")
		}
	}
	var all []preflight.Target
	for _, h := range hosts {
		secrets, ok := file.Of(h.Name)
		if !ok {
			continue
		}
		address, err := bmc.Parse(h.BMC)
		if err != nil {
			return nil, fmt.Errorf("host %s: its BMC: %w", h.Name, err)
		}
		t := one(spec.Host{Name: h.Name, BootMACAddress: h.MAC.String(),
			BootMode: h.BootMode, RootDisk: secrets.RootDisk,
			BMC: machine.BMC{Address: address, Verify: h.Verify},
		}, grammar.Account{Username: secrets.Username, Password: secrets.Password}, ca)
		t.Want.Ours = h.Phase == provision.Bootstrap
		all = append(all, t)
	}
	return all, nil
}
