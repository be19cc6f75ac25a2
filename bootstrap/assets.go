package bootstrap

import (
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/units"
)

// MissingImages is the error of Assets for a plan that lacks images which the machine would run.
type MissingImages struct {
	Keys []string // as they are spelt in an images file
}

func (m MissingImages) Error() string {
	keys, it := "images."+strings.Join(m.Keys, ", images."), "it"
	if len(m.Keys) > 1 {
		it = "them"
	}
	return "the bootstrap needs " + keys + ": give " + it + " by --images FILE, or in a cluster.yaml by spec.images"
}

// Assets are the files and units of the bootstrap machine. Daemons come only where the cluster has something for them to do. The error
// is a MissingImages where it is the caller's to mend.
func Assets(p plan.Plan) (asset.Set, error) {
	if missing := missingImages(p); len(missing) > 0 {
		return asset.Set{}, MissingImages{Keys: missing}
	}
	return goods(p)
}

// Paths lists the files that Assets would bring, units among them. It needs no images.
func Paths(p plan.Plan) ([]string, error) {
	set, err := goods(p)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, f := range set.Tree() {
		paths = append(paths, f.Path)
	}
	return paths, nil
}

func missingImages(p plan.Plan) []string {
	vip, dns := p.BootstrapRuns()
	var missing []string
	for _, image := range []struct {
		key    string
		needed bool
	}{
		{spec.RuntimeCfgImage, vip || dns},
		{spec.KeepalivedImage, vip},
		{spec.CoreDNSImage, dns},
	} {
		if image.needed && p.Images[image.key] == "" {
			missing = append(missing, image.key)
		}
	}
	return missing
}

// goods fails only when two rooms claim one path.
func goods(p plan.Plan) (asset.Set, error) {
	var b builder
	b.file(plan.Path, 0o644, plan.Encode(p))
	vip, dns := p.BootstrapRuns()
	if vip || dns {
		b.embedded("/usr/local/bin/onprem-install", 0o755)
		b.units(one(units.Install(p.Images[spec.RuntimeCfgImage])))
		b.units(units.Podman())
	}
	if vip {
		b.units(one(units.Keepalived()))
	}
	if dns {
		b.units(one(units.CoreDNS()))
		b.units(units.Resolv())
		b.embedded("/etc/NetworkManager/conf.d/99-onprem-infra.conf", 0o644)
		b.embedded("/etc/NetworkManager/dispatcher.d/30-local-dns-prepender", 0o755)
		b.file("/etc/systemd/resolved.conf.d/60-onprem-infra.conf", 0o644, resolvedConf(p.Cluster.Zone))
	}
	return b.set, b.err
}
