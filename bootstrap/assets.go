package bootstrap

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provisions"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/units"
)

//go:embed files
var files embed.FS

// credentials is the file for the registry of our image. It may not exist.
const credentials = "/root/.docker/config.json"

// Assets are the files and units of a bootstrap machine that provisions no hosts, with only the
// daemons that the cluster needs. The error is a plan.MissingImages if the caller can fix it. For
// a machine that provisions hosts (Provisions) it is a WrongHosts, too: call AssetsWith.
func Assets(p plan.Plan) (asset.Set, error) { return AssetsWith(p, Options{}) }

// AssetsWith is Assets for a machine that may provision hosts or has BGP passwords. Files with
// secrets have mode 0600: protect whatever the set is encoded to just as well. The error joins a
// plan.MissingImages and a WrongHosts, if the caller can fix it.
func AssetsWith(p plan.Plan, o Options) (asset.Set, error) {
	vip, dns := p.BootstrapRuns()
	wanted := provisions.Runs(p) || len(o.Ignition) > 0
	missing := p.NeedImages(role.Bootstrap, append([]plan.Need{
		{Key: spec.RuntimeCfgImage, Needed: vip || dns || wanted || announces(p)},
		{Key: spec.KeepalivedImage, Needed: vip},
		{Key: spec.CoreDNSImage, Needed: dns},
		{Key: spec.FRRImage, Needed: announces(p)},
	}, provisions.Needs(p, wanted)...))
	if lacks := (plan.MissingImages{}); errors.As(missing, &lacks) &&
		slices.Contains(lacks.Keys, spec.IronicAgentImage) {
		missing = fmt.Errorf("%w; in place of images.%s the files images.%s and images.%s will do",
			missing, spec.IronicAgentImage, spec.IronicAgentKernel, spec.IronicAgentInitramfs)
	}
	var hosts []byte
	var wrong error
	if wanted {
		hosts, wrong = o.file(p)
	}
	if err := errors.Join(wrong, o.checkPasswords(p), missing); err != nil {
		return asset.Set{}, err
	}
	return build(p, hosts, o.Passwords)
}

// announces reports whether the machine announces VIPs to its routers.
func announces(p plan.Plan) bool {
	return p.BGP != nil && len(p.VIPs.API) > 0 && p.LoadBalancer == spec.Managed
}

// Paths lists the files of AssetsWith, including units. The plan needs no images for it, but the
// files of provisioning are listed only if it has an image with Ironic. The file of BGP passwords
// is listed if the machine announces VIPs.
func Paths(p plan.Plan) ([]string, error) {
	set, err := build(p, nil, []byte{})
	return set.Paths(), err
}

// build fails only if two rooms claim one path. hosts is the file with the hosts' secrets; only a
// machine that provisions hosts gets it. passwords is the file of the routers' passwords, nil for
// none; only a machine that announces VIPs gets it.
func build(p plan.Plan, hosts, passwords []byte) (asset.Set, error) {
	below, err := fs.Sub(files, "files")
	if err != nil {
		return asset.Set{}, err
	}
	b := asset.Builder{By: "bootstrap", From: below}
	b.File(plan.Path, 0o644, plan.Encode(p))
	vip, dns := p.BootstrapRuns()
	wanted := provisions.Runs(p)
	host := units.Host{OpenShift: p.Flavour().Around}
	if vip || dns || wanted || announces(p) {
		b.Goods(units.Installer())
		b.Units(host.Install(p.Images[spec.RuntimeCfgImage], credentials, units.NetworkOnline))
		b.Units(host.Podman()...)
	}
	if vip {
		b.Units(host.Keepalived())
	}
	if announces(p) {
		b.Units(host.Speaker())
		if passwords != nil {
			b.File(spoken.PasswordsFile, 0o600, passwords)
		}
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
	if wanted {
		b.File(layout.Hosts, 0o600, hosts)
		b.Units(host.Provisioning()...)
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
