package spec

import (
	"strings"
	"testing"
	"time"
)

// FuzzParse holds for any text: no panic, findings in the file that say what to do, an answer in good time, a cluster or an error.
func FuzzParse(f *testing.F) {
	f.Add(goodInstallConfig, "api=9", "lb=9460")
	f.Add(goodCluster, "ingress=9", "")
	f.Add("apiVersion: v1\nplatform: {ovirt: {api_vips: &a ['2001:db8::5', *a], ingress_vips: *a}}\n", "", "")
	f.Add("apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\nspec: &s\n  images: *s\n  <<: *s\n? [a]\n: b\n", "=", "=1")
	f.Add("a:\n\t- b\n", "x", "x")
	f.Add("a: &a [*a]\nb: !!binary x\n---\n...\n", "", "")
	f.Add("\ufeffa: |2+\n   x\n\u0085b: 'c\u2028'\r\n", "", "")
	f.Fuzz(func(t *testing.T, text, vrid, port string) {
		knobs := Knobs{Timing: "compat"}
		if vrid != "" {
			knobs.VRIDs = []string{vrid}
		}
		if port != "" {
			knobs.Ports = []string{port}
		}
		start := time.Now()
		cluster, findings := Parse("c", []byte(text), knobs)
		if took := time.Since(start); took > 5*time.Second {
			t.Errorf("%v for %d bytes", took, len(text))
		}
		hold(t, text, findings)
		if !findings.HasErrors() && (cluster.Name == "" || cluster.BaseDomain == "" || cluster.Platform == "") {
			t.Errorf("neither an error nor a cluster: %+v", cluster)
		}
	})
}

// FuzzParseImages holds the same for the images file, whose references must stand on one line of any file.
func FuzzParseImages(f *testing.F) {
	f.Add(`{"keepalivedImage": "registry.example.com/keepalived@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0", "other": {}}`)
	f.Add(`{"keepalivedImage": "a\nb", "haproxyImage": ["x"], "corednsImage": null}`)
	f.Fuzz(func(t *testing.T, text string) {
		images, findings := ParseImages("i", []byte(text))
		hold(t, text, findings)
		for key, image := range images {
			if image == "" || strings.ContainsAny(image, " \t\n\"'\\%$") {
				t.Errorf("%s is %q", key, image)
			}
		}
	})
}
