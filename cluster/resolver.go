package cluster

import (
	"embed"
	"io/fs"
	"regexp"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

//go:embed files
var files embed.FS

// bridge matches the lines of NetworkManager's hook for OpenShift's bridge, with their comment.
var bridge = regexp.MustCompile(
	`(?m)^\t# Other programs wait for the bridge.*\n\tif (.*\n)+?\tfi\n`,
)

// resolver adds the files that put a node's own name server first in its resolv.conf.
// NetworkManager does not write that file and only reports changes. The files have the names that
// operators know.
func resolver(b *asset.Builder, p plan.Plan) {
	// These cannot fail: the files are embedded.
	hook, _ := fs.ReadFile(files, "files/30-resolv-prepender")
	unmanaged, _ := fs.ReadFile(files, "files/rc-manager.conf")
	lease, _ := fs.ReadFile(files, "files/01-ipv6.conf")
	if !p.Flavour().Around {
		hook = bridge.ReplaceAll(hook, nil)
	}
	b.File("/etc/NetworkManager/dispatcher.d/30-resolv-prepender", 0o755, hook)
	b.File("/etc/NetworkManager/conf.d/99-"+p.Flavour().Short+".conf", 0o644, unmanaged)
	b.File("/etc/NetworkManager/conf.d/01-ipv6.conf", 0o644, lease)
	b.Units(host(p).ResolvPrepender(p.Flavour().KubeletGate)...)
}

// hostname adds the hook by which NetworkManager records the host name for the pod that announces
// it. The file has the name that operators know.
func hostname(b *asset.Builder) {
	hook, _ := fs.ReadFile(files, "files/40-mdns-hostname") // it is embedded
	b.File("/etc/NetworkManager/dispatcher.d/40-mdns-hostname", 0o755, hook)
}
