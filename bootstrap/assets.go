package bootstrap

import (
	"embed"
	"fmt"
	"io/fs"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/units"
)

//go:embed files
var files embed.FS

// credentials is the file for the registry of our image. It may not exist.
const credentials = "/root/.docker/config.json"

// Assets are the files and units of the bootstrap machine, with only the daemons that the cluster
// needs. The error is a plan.MissingImages if the caller can fix it.
func Assets(p plan.Plan) (asset.Set, error) {
	vip, dns := p.BootstrapRuns()
	if err := p.NeedImages(role.Bootstrap, []plan.Need{
		{Key: spec.RuntimeCfgImage, Needed: vip || dns},
		{Key: spec.KeepalivedImage, Needed: vip},
		{Key: spec.CoreDNSImage, Needed: dns},
	}); err != nil {
		return asset.Set{}, err
	}
	return build(p)
}

// Paths lists the files of Assets, including units. It needs no images.
func Paths(p plan.Plan) ([]string, error) {
	set, err := build(p)
	return set.Paths(), err
}

// build fails only if two rooms claim one path.
func build(p plan.Plan) (asset.Set, error) {
	below, err := fs.Sub(files, "files")
	if err != nil {
		return asset.Set{}, err
	}
	b := asset.Builder{By: "bootstrap", From: below}
	b.File(plan.Path, 0o644, plan.Encode(p))
	vip, dns := p.BootstrapRuns()
	host := units.Host{OpenShift: p.Flavour().Around}
	if vip || dns {
		b.Goods(units.Installer())
		b.Units(host.Install(p.Images[spec.RuntimeCfgImage], credentials, units.NetworkOnline))
		b.Units(host.Podman()...)
	}
	if vip {
		b.Units(host.Keepalived())
	}
	if dns {
		b.Units(host.CoreDNS())
		b.Units(host.Resolv()...)
		b.Embedded("/etc/NetworkManager/conf.d/99-onprem-infra.conf", 0o644)
		b.Embedded("/etc/NetworkManager/dispatcher.d/30-local-dns-prepender", 0o755)
		b.File("/etc/systemd/resolved.conf.d/60-onprem-infra.conf", 0o644, resolvedConf(
			p.Cluster.Zone,
		))
	}
	return b.Set()
}

// resolvedConf has systemd-resolved, if it runs, query the local DNS server for the cluster's
// names. It disables systemd-resolved's own listener, because CoreDNS listens on port 53 of every
// address; its resolv.conf then names real servers.
func resolvedConf(zone record.Name) []byte {
	return fmt.Appendf(nil, "[Resolve]\nDNS=127.0.0.1\n"+
		"Domains=~api.%[1]s ~api-int.%[1]s ~apps.%[1]s\nDNSStubListener=no\n", zone)
}
