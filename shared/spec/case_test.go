package spec

import (
	"bytes"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

// TestFieldsInAnyCase writes every field of an install-config that is read in lower and in upper
// case, one at a time and all together: the installer reads the same cluster out of each, so this
// package does, and names the right spelling.
func TestFieldsInAnyCase(t *testing.T) {
	const text = `apiVersion: v1
baseDomain: example.com
metadata:
  name: prod
controlPlane:
  replicas: 2
arbiter:
  replicas: 1
networking:
  machineNetwork:
  - cidr: 192.0.2.0/24
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    loadBalancer:
      type: UserManaged
    dnsRecordsType: External
    hosts:
    - role: master
      bootMACAddress: 52:54:00:00:00:01
`
	want, findings := Parse("c", []byte(text), Knobs{})
	if len(findings) > 0 || want.LoadBalancer != UserManaged {
		t.Fatalf("%+v\n%s", want, lines(findings))
	}
	key := regexp.MustCompile(`[A-Za-z]+:( |\n)`)
	places := key.FindAllStringIndex(text, -1)
	for name, change := range map[string]func([]byte) []byte{"lower": bytes.ToLower, "upper": bytes.ToUpper} {
		all := []byte(text)
		for _, p := range places {
			one := []byte(text)
			copy(one[p[0]:p[1]], change(one[p[0]:p[1]]))
			copy(all[p[0]:p[1]], one[p[0]:p[1]])
			anyCase(t, name, text, one, want)
		}
		anyCase(t, name, text, all, want)
	}
}

func anyCase(t *testing.T, name, right string, text []byte, want Cluster) {
	t.Helper()
	got, findings := Parse("c", text, Knobs{})
	hold(t, string(text), findings)
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: got %+v\n%s", name, got, lines(findings))
	}
	misspelt := 0
	old, rows := strings.Split(right, "\n"), strings.Split(string(text), "\n")
	for i := range rows {
		if rows[i] != old[i] {
			misspelt++
		}
	}
	if len(findings) != misspelt || findings.HasErrors() {
		t.Errorf("%s: %d lines differ\n%s", name, misspelt, lines(findings))
	}
	for _, f := range findings {
		if _, after, _ := strings.Cut(f.Text, "is read as "); !strings.Contains(right, strings.Split(after, ",")[0]+":") {
			t.Errorf("%s: does not name the right spelling: %s", name, f)
		}
	}
}

// A secret whose key is spelt in another way is left alone as well.
func TestSecretInAnotherCase(t *testing.T) {
	text := edit{`pullSecret: '{"auths":{"s3cret":{"auth":"s3cret"}}}'`, "PullSecret: {s3cret: a, s3cret: b}"}.of(t, goodInstallConfig)
	if _, findings := Parse("c", []byte(text), Knobs{}); len(findings) > 0 {
		t.Error(lines(findings))
	}
}
