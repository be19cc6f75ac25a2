package cluster

import (
	"embed"
	"io/fs"
	"regexp"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/units"
)

//go:embed files
var files embed.FS

// bridge is what NetworkManager's hook does for OpenShift's bridge, with the comment before it.
var bridge = regexp.MustCompile(`(?m)^\t# Other programs wait for the bridge.*\n\tif (.*\n)+?\tfi\n`)

// resolver puts a node that has a name server of its own first in its resolv.conf. NetworkManager
// leaves that file alone and only tells of changes. Its files have the names that operators know.
func resolver(b *asset.Builder, p plan.Plan) {
	// Neither can fail: the files are in this program.
	hook, _ := fs.ReadFile(files, "files/30-resolv-prepender")
	unmanaged, _ := fs.ReadFile(files, "files/rc-manager.conf")
	lease, _ := fs.ReadFile(files, "files/01-ipv6.conf")
	if !p.Flavour().Around {
		hook = bridge.ReplaceAll(hook, nil)
	}
	b.File("/etc/NetworkManager/dispatcher.d/30-resolv-prepender", 0o755, hook)
	b.File("/etc/NetworkManager/conf.d/99-"+p.Flavour().Short+".conf", 0o644, unmanaged)
	b.File("/etc/NetworkManager/conf.d/01-ipv6.conf", 0o644, lease)
	b.Units(units.ResolvPrepender(p.KubeletUnit, p.Flavour().KubeletGate))
}

// hostname has NetworkManager note what the host is called, for the pod that announces it. The file
// has the name that operators know.
func hostname(b *asset.Builder) {
	hook, _ := fs.ReadFile(files, "files/40-mdns-hostname") // it is in this program
	b.File("/etc/NetworkManager/dispatcher.d/40-mdns-hostname", 0o755, hook)
}
