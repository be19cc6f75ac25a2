package targets

import (
	"crypto/x509"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish/wire"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// TestOf holds which address, verification and boot mode are asked for, by what a description has.
func TestOf(t *testing.T) {
	ca := x509.NewCertPool()
	for name, tt := range map[string]struct {
		address, verify, mode string
		url, ipmi, path, boot string
		want                  wire.Verify
	}{
		"by the CA": {address: "redfish://bmc/redfish/v1/Systems/1", url: "https://bmc:443",
			path: "/redfish/v1/Systems/1", boot: "UEFI", want: wire.Verify{Mode: wire.ByCA, Pool: ca}},
		"by a pin": {address: "redfish-virtualmedia://bmc:8443", verify: "pin:ab12", mode: "legacy",
			url: "https://bmc:8443", boot: "legacy", want: wire.Verify{Mode: wire.ByPin, Pin: "ab12"}},
		"not verified": {address: "redfish+http://[2001:db8::1]", verify: "off",
			url: "http://[2001:db8::1]:80", boot: "UEFI", want: wire.Verify{Mode: wire.Off}},
		"IPMI": {address: "ipmi://bmc", ipmi: "bmc:623", boot: "UEFI"},
	} {
		address, err := bmc.Parse(tt.address)
		if err != nil {
			t.Fatal(err)
		}
		hosts := []spec.Host{{Name: "without"}, {Name: "m0", BootMode: tt.mode,
			BMC: machine.BMC{Address: address, Verify: tt.verify}}}
		account := grammar.Account{Username: secret.New("admin"), Password: secret.New("s")}
		all := Of(hosts, []grammar.Account{{}, account}, ca)
		if len(all) != 1 {
			t.Fatalf("%s: %d targets", name, len(all))
		}
		got := all[0]
		if got.Service.URL != tt.url || got.IPMI != tt.ipmi || got.Service.System != tt.path ||
			got.Service.Verify != tt.want || got.Want.BootMode != tt.boot || got.Place != "hosts[1]" {
			t.Errorf("%s: %+v", name, got)
		}
		if tt.ipmi == "" && (got.Service.Username != "admin" || got.Service.Secret() != "s") {
			t.Errorf("%s: it has another account", name)
		}
	}
}
