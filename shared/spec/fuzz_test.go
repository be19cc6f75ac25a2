package spec

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// examples are the inputs that the program prints.
func examples(f *testing.F, pattern string) []string {
	names, err := filepath.Glob("../../cmd/onprem-infra/testdata/TestExampleText/" + pattern)
	if err != nil || len(names) == 0 {
		f.Fatal("no examples", err)
	}
	var texts []string
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		texts = append(texts, string(text))
	}
	return texts
}

// FuzzParse holds for any text: no panic, findings in the file with what to do, an answer in
// good time, a cluster or an error.
func FuzzParse(f *testing.F) {
	f.Add(goodInstallConfig, "api=9", "lb=9460", "compat", "unicast")
	f.Add(goodProvisioned, "", "", "", "")
	f.Add(goodOwn, "", "", "", "")
	f.Add(goodCluster, "ingress=9", "", "", "multicast")
	for _, text := range examples(f, "*-dual.golden") {
		f.Add(text, "", "", "", "")
		f.Add(strings.ReplaceAll(text, "\n  # ", "\n  "), "", "", "", "") // every field
	}
	f.Add("apiVersion: v1\nplatform: {ovirt: {api_vips: &a ['2001:db8::5', *a], ingress_vips: *a}}\n", "", "", "", "")
	f.Add("apiVersion: onprem-infra.io/v1alpha1\nkind: Cluster\nspec: &s\n  images: *s\n  <<: *s\n? [a]\n: b\n", "=", "=1", "vm", "x")
	f.Add("a:\n\t- b\n", "x", "x", "\n", "\u2028")
	f.Add("a: &a [*a]\nb: !!binary x\n---\n...\n", "", "", "", "")
	f.Add("\ufeffa: |2+\n   x\n\u0085b: 'c\u2028'\r\n", "", "", "", "")
	f.Fuzz(func(t *testing.T, text, vrid, port, timing, mode string) {
		knobs := Knobs{Timing: timing, VRRP: mode}
		if vrid != "" {
			knobs.VRIDs = []string{vrid}
		}
		if port != "" {
			knobs.Ports = []string{port}
		}
		start := worked(t)
		cluster, findings := Parse("c", []byte(text), knobs)
		if took := worked(t) - start; took > 5*time.Second {
			t.Errorf("%v for %d bytes", took, len(text))
		}
		hold(t, text, findings)
		if !findings.HasErrors() && (cluster.Name == "" || cluster.BaseDomain == "" || cluster.Platform == "") {
			t.Errorf("neither an error nor a cluster: %+v", cluster)
		}
	})
}

// FuzzParseImages holds the same for the images file, whose references must stand on one line of
// any file.
func FuzzParseImages(f *testing.F) {
	f.Add(examples(f, "images.golden")[0])
	f.Add(`{"keepalivedImage": "registry.example.com/keepalived@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0", "other": {}}`)
	f.Add(`{"keepalivedImage": "a\nb", "haproxyImage": ["x"], "corednsImage": null}`)
	f.Add("corednsImage: &a a/b:1\nkeepalivedImage: *a\nhaproxyImage: '[2001:db8::1]:5000/b'\nbaremetalRuntimeCfgImage: a--b__c.d:_\n")
	f.Fuzz(func(t *testing.T, text string) {
		images, findings := ParseImages("i", []byte(text))
		hold(t, text, findings)
		for key, image := range images {
			if image == "" || len(image) > 600 || image[0] == '-' || strings.ContainsAny(image, " \t\r\n\"'\\%$`{}#;|&<>\x00") {
				t.Errorf("%s is %q", key, image)
			}
		}
	})
}
