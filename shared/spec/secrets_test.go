package spec

import (
	"fmt"
	"strings"
	"testing"
)

// secretive are platforms with credentials, beside fields that are read.
const (
	secretiveNutanix = `  nutanix:
    apiVIPs: [192.0.2.5]
    prismCentral: {username: s3cret, password: s3cret}
    subnetUUIDs:
    - 01234567-89ab-cdef-0123-456789abcdef
    ingressVIPs: [192.0.2.6]
`
	secretiveVSphere = `  vsphere:
    vcenters:
    - server: a
      user: s3cret
      password: s3cret
    failureDomains:
    - server: b
`
	secretiveHosts = `  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    hosts:
    - name: m0
      role: master
      bootMACAddress: 52:54:00:00:00:01
      bmc: {address: 'redfish://s3cret:s3cret@bmc/s3cret', username: s3cret, password: s3cret}
    - name: m1
      bootMACAddress: 52:54:00:00:00:02
      bmc:
        address: redfish://bmc/x
        username: s3cret
        password: s3cret
      networkConfig: {interfaces: [{name: eno1, 802.1x: {identity: s3cret, private-key-password: s3cret}}]}
`
)

// TestSecrets breaks an install-config at each of its bytes, in each way that a hand slips, and
// holds that no finding and no cluster ever repeats what stood in the pull secret, the credentials
// or next to them.
func TestSecrets(t *testing.T) {
	if testing.Short() {
		t.Skip("slow")
	}
	head, _, _ := strings.Cut(goodInstallConfig, "  baremetal:")
	slipped(t, goodInstallConfig, 0)
	slipped(t, head+secretiveNutanix, len(head))
	slipped(t, head+secretiveVSphere, len(head))
	slipped(t, head+secretiveHosts, len(head))
}

// slipped breaks a text at each byte from one on.
func slipped(t *testing.T, good string, from int) {
	slips := []string{"", ":", " ", "\t", "\n", "*", "&", "!", "\"", "'", "[", "{", "}", ",", "- ", "? ", "<<: ", "|", "%", "@", "#"}
	for at := from; at < len(good); at++ {
		for _, slip := range slips {
			for _, rest := range []int{at, at + 1} { // put in, put instead
				text := good[:at] + slip + good[rest:]
				cluster, findings := Parse("c", []byte(text), Knobs{})
				if strings.Contains(lines(findings), secret) {
					t.Errorf("%q at byte %d: %s", slip, at, lines(findings))
				}
				for _, h := range cluster.Hosts {
					if strings.Contains(h.Name+h.Role+h.BootMACAddress, secret) || strings.Contains(fmt.Sprintf("%+v", h), secret) {
						t.Errorf("%q at byte %d: host %+v", slip, at, h)
					}
				}
			}
		}
	}
}

// TestSecretsOfTheWrongKind holds the same for secrets that are no strings.
func TestSecretsOfTheWrongKind(t *testing.T) {
	for _, wrong := range []string{
		"{s3cret: a, s3cret: b}", "[s3cret]", "&s3cret {a: b}", "!s3cret x", "{a: {s3cret: 1, s3cret: 2}}", "\n  - s3cret\n  - {s3cret: a}",
	} {
		text := edit{`'{"auths":{"s3cret":{"auth":"s3cret"}}}'`, wrong}.of(t, goodInstallConfig)
		if _, findings := Parse("c", []byte(text), Knobs{}); len(findings) > 0 {
			t.Errorf("pullSecret: %s: %s", wrong, lines(findings))
		}
	}
}
