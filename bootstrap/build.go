package bootstrap

import (
	"embed"
	"fmt"
	"io/fs"
	"path"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

//go:embed files
var files embed.FS

// builder fills a set and keeps the first error.
type builder struct {
	set asset.Set
	err error
}

func (b *builder) file(path string, mode fs.FileMode, contents []byte) {
	if b.err == nil {
		b.err = b.set.AddFile(asset.File{Path: path, Mode: mode, Contents: contents, By: "bootstrap"})
	}
}

// embedded adds the file that has the same name under files.
func (b *builder) embedded(name string, mode fs.FileMode) {
	contents, err := files.ReadFile("files/" + path.Base(name))
	if err != nil {
		b.err = err
		return
	}
	b.file(name, mode, contents)
}

func (b *builder) units(list []asset.Unit, err error) {
	if b.err == nil {
		b.err = err
	}
	for _, u := range list {
		if b.err == nil {
			b.err = b.set.AddUnit(u)
		}
	}
}

func one(u asset.Unit, err error) ([]asset.Unit, error) { return []asset.Unit{u}, err }

// resolvedConf tells systemd-resolved, where there is one, to ask this machine's DNS server for the names that the cluster owns. It
// gives up its own listener, because CoreDNS listens on port 53 of every address; its resolv.conf then names real servers.
func resolvedConf(zone record.Name) []byte {
	return fmt.Appendf(nil, "[Resolve]\nDNS=127.0.0.1\nDomains=~api.%[1]s ~api-int.%[1]s ~apps.%[1]s\nDNSStubListener=no\n", zone)
}
