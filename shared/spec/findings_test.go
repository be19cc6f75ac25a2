package spec

import (
	"regexp"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// secret stands wherever an install-config holds one; no finding may repeat it.
const secret = "s3cret"

const goodInstallConfig = `apiVersion: v1
baseDomain: example.com
metadata:
  name: prod
controlPlane:
  replicas: 3
networking:
  machineNetwork:
  - cidr: 192.0.2.0/24
platform:
  baremetal:
    apiVIPs: [192.0.2.5]
    ingressVIPs: [192.0.2.6]
    hosts:
    - name: m0
      bootMACAddress: 52:54:00:00:00:01
      hardwareProfile: default
pullSecret: '{"auths":{"s3cret":{"auth":"s3cret"}}}'
`

const goodCluster = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata:
  name: prod
spec:
  baseDomain: example.com
  platform: none
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
`

// edit is an input of which a piece is exchanged: old, new, old, new.
type edit []string

func (e edit) of(t *testing.T, text string) string {
	t.Helper()
	for i := 0; i+1 < len(e); i += 2 {
		if strings.Count(text, e[i]) != 1 {
			t.Fatalf("%q stands %d times in the input", e[i], strings.Count(text, e[i]))
		}
		text = strings.Replace(text, e[i], e[i+1], 1)
	}
	return text
}

func lines(fs Findings) string {
	var b strings.Builder
	for _, f := range fs {
		b.WriteString(f.String() + "\n")
	}
	return b.String()
}

// advice is how a finding begins what to do.
var advice = regexp.MustCompile(`: .*\b(write|give|leave|remove|choose|change|use|put|replace|spell|fix|keep|save|list|set|shorten)\b`)

// hold checks what is true of every finding on a text.
func hold(t *testing.T, text string, fs Findings) {
	t.Helper()
	rows := document.Breaks.Split(text, -1)
	for i, f := range fs {
		switch {
		case f.Path == "":
			t.Errorf("no path: %s", f)
		case f.Line == 0 && !strings.HasPrefix(f.File, "--"):
			t.Errorf("no position: %s", f)
		case f.Line > len(rows), f.Line > 0 && (f.Column < 1 || f.Column > len([]rune(rows[f.Line-1]))+1):
			t.Errorf("outside the file: %s", f)
		case !advice.MatchString(": " + f.Text):
			t.Errorf("lacks what to do: %s", f)
		case strings.ContainsAny(f.String(), "\n\r\t\x00"):
			t.Errorf("more than a line: %q", f)
		case i > 0 && f.Line > 0 && (fs[i-1].Line == 0 || fs[i-1].Line > f.Line):
			t.Errorf("not in order: %s", f)
		}
	}
}

type findingCase struct {
	name string
	edit edit
	want string
}

func check(t *testing.T, base string, cases []findingCase) {
	for _, tt := range cases {
		t.Run(tt.name, func(t *testing.T) {
			text := tt.edit.of(t, base)
			cluster, findings := Parse("c", []byte(text), Knobs{})
			hold(t, text, findings)
			if got := strings.TrimSuffix(lines(findings), "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if strings.Contains(lines(findings), secret) {
				t.Error("a finding repeats a secret")
			}
			if findings.HasErrors() == (cluster.Name != "") {
				t.Errorf("a cluster comes with errors or none without: %+v", cluster)
			}
		})
	}
}
