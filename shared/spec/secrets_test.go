package spec

import (
	"strings"
	"testing"
)

// TestSecrets breaks an install-config at each of its bytes, in each way that a hand slips, and holds that no finding and no cluster
// ever repeats what stood in the pull secret, the credentials or next to them.
func TestSecrets(t *testing.T) {
	slips := []string{"", ":", " ", "\t", "\n", "*", "&", "!", "\"", "'", "[", "{", "}", ",", "- ", "? ", "<<: ", "|", "%", "@", "#"}
	for at := range len(goodInstallConfig) {
		for _, slip := range slips {
			for _, rest := range []int{at, at + 1} { // put in, put instead
				text := goodInstallConfig[:at] + slip + goodInstallConfig[rest:]
				cluster, findings := Parse("c", []byte(text), Knobs{})
				if strings.Contains(lines(findings), secret) {
					t.Errorf("%q at byte %d: %s", slip, at, lines(findings))
				}
				for _, h := range cluster.Hosts {
					if strings.Contains(h.Name+h.Role+h.BootMACAddress, secret) {
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
