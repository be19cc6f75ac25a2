// Package image reads the references of what hosts run and of what they are provisioned with: of
// container images, and of files.
package image

import (
	"maps"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
)

// The keys of references, as a release's images file spells them. RuntimeCfg and those of
// provisioning are this project's own.
const (
	BaremetalOperator    = "baremetalOperatorImage"
	RuntimeCfg           = "baremetalRuntimeCfgImage"
	CoreDNS              = "corednsImage"
	FRR                  = "frrImage"
	HAProxy              = "haproxyImage"
	IronicAgent          = "ironicAgentImage"
	IronicAgentInitramfs = "ironicAgentInitramfs"
	IronicAgentKernel    = "ironicAgentKernel"
	Ironic               = "ironicImage"
	Keepalived           = "keepalivedImage"
	OS                   = "osImage"
)

// Keys lists them.
func Keys() []string {
	return []string{BaremetalOperator, RuntimeCfg, CoreDNS, FRR, HAProxy, IronicAgent,
		IronicAgentInitramfs, IronicAgentKernel, Ironic, Keepalived, OS}
}

// IsFile reports whether a key is one of files, which are URL@sha256:HEX. All others are of
// container images.
func IsFile(key string) bool {
	return slices.Contains([]string{IronicAgentInitramfs, IronicAgentKernel, OS}, key)
}

// Parse reads a JSON file of image references by key; see spec.ParseImages.
func Parse(name string, text []byte) (map[string]string, document.Findings) {
	r := document.NewReader(name, "a JSON object of image references")
	var images map[string]string
	if root, ok := r.Read(text); ok {
		images = Read(r, r.Map(root))
	}
	if findings := r.Findings.First(); findings.HasErrors() {
		return nil, findings
	}
	return images, r.Findings.First()
}

// Read reads the references of a map by their keys. Those that no host can use are reported and
// left out.
func Read(r *document.Reader, o document.Map) map[string]string {
	images := map[string]string{}
	for _, key := range Keys() {
		s := r.Text(o.Get(key))
		if Check(&r.Report, key, s) {
			images[key] = s.Value
		}
	}
	return images
}

// CheckGiven reports unknown keys of a field, and references that no host can use.
func CheckGiven(r *document.Report, field string, images map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(images)) {
		s := document.Given(images[key], document.Field(document.Step(field, key)))
		if !slices.Contains(Keys(), key) {
			r.Errorf(s.At, "there is no such field: remove it, or use one of %s",
				strings.Join(Keys(), ", "))
		} else {
			Check(r, key, s)
		}
	}
}

// Check adds a finding for a reference that no host can use, and returns whether one can.
func Check(r *document.Report, key string, s document.Scalar[string]) bool {
	before := len(r.Findings)
	if IsFile(key) {
		checkFile(r, s)
	} else {
		r.Refuse(s, name.NoImage(s.Value))
	}
	return s.OK && len(r.Findings) == before
}
