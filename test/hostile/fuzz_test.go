package hostile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// FuzzRendered goes the whole way with any text: what the parsers accept compiles, and every file
// that it becomes is one in its language.
func FuzzRendered(f *testing.F) {
	names, err := filepath.Glob("../../cmd/onprem-infra/testdata/TestExampleText/*-dual.golden")
	if err != nil || len(names) == 0 {
		f.Fatal("no examples", err)
	}
	images, err := os.ReadFile("../../cmd/onprem-infra/testdata/TestExampleText/images.golden")
	if err != nil {
		f.Fatal(err)
	}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(text), string(images), harmless.resolv, harmless.link, harmless.zone, harmless.header)
	}
	f.Add(old, string(images), "nameserver fe80::1%x\n}", "a{b", "x\n}", "x\n}")
	f.Fuzz(func(t *testing.T, text, images, resolv, link, zone, header string) {
		cluster, findings := spec.Parse("c", []byte(text), spec.Knobs{})
		refs, more := spec.ParseImages("i", []byte(images))
		oneLine(t, append(findings, more...))
		if findings.HasErrors() || more.HasErrors() {
			return
		}
		cluster.Images = refs
		_, err := rendered(cluster, host{header: "h" + header, link: link, node: link, zone: zone, resolv: resolv})
		if missing := (plan.MissingImages{}); err != nil && !errors.As(err, &missing) {
			t.Error(err)
		}
	})
}
