package spec

import (
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/name"
)

// The keys of the images that hosts run, as a release's images file spells them. RuntimeCfgImage is
// this project's own.
const (
	KeepalivedImage = "keepalivedImage"
	HAProxyImage    = "haproxyImage"
	CoreDNSImage    = "corednsImage"
	RuntimeCfgImage = "baremetalRuntimeCfgImage"
	IronicImage     = "ironicImage"
)

func imageKeys() []string {
	return []string{RuntimeCfgImage, CoreDNSImage, HAProxyImage, KeepalivedImage}
}

// ParseImages reads a JSON file of image references by key. A release's own file names many more
// than hosts run here: those are left alone. Name is what findings call the file; the map is nil
// when one of them is an error.
func ParseImages(name string, text []byte) (map[string]string, Findings) {
	r := document.NewReader(name, "a JSON object of image references")
	var images map[string]string
	if root, ok := r.Read(text); ok {
		images = readImages(r, r.Map(root))
	}
	findings := r.Findings.First()
	if findings.HasErrors() {
		return nil, findings
	}
	return images, findings
}

func readImages(r *document.Reader, o document.Map) map[string]string {
	images := map[string]string{}
	for _, key := range imageKeys() {
		s := r.Text(o.Get(key))
		why := name.NoImage(s.Value)
		if r.Refuse(s, why); s.OK && why == "" {
			images[key] = s.Value
		}
	}
	return images
}
