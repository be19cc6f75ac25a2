package cluster

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/units"
)

const (
	// credentials is the file for the registries that kubelet pulls from. It may not exist.
	credentials = "/var/lib/kubelet/config.json"

	manifests = "/etc/kubernetes/manifests"
	disabled  = "/etc/kubernetes/disabled-manifests" // which kubelet does not read
)

// NoSuchRole is the error of Assets for a role that no host of the cluster has.
type NoSuchRole struct {
	Role     role.Role
	Topology spec.Topology
}

func (n NoSuchRole) Error() string {
	return fmt.Sprintf("no node of the cluster is an %s: its topology is %s: leave the role out "+
		"or set another topology",
		n.Role, n.Topology)
}

// Assets are the files and units of a node, with only the pods that the cluster needs. The error is
// a plan.MissingImages or a NoSuchRole if the caller can fix it.
func Assets(p plan.Plan, r role.Role) (asset.Set, error) { return AssetsWith(p, r, nil) }

// AssetsWith are Assets, and on nodes that announce VIPs the file of the routers' BGP passwords,
// mode 0600, if it is not nil. announcing.CheckPasswords checks such a file.
func AssetsWith(p plan.Plan, r role.Role, passwords []byte) (asset.Set, error) {
	if err := belongs(p, r); err != nil {
		return asset.Set{}, err
	}
	runs := p.NodeRuns(r)
	if err := p.NeedImages(r, []plan.Need{
		{Key: spec.RuntimeCfgImage, Needed: true},
		{Key: spec.KeepalivedImage, Needed: runs.VIP},
		{Key: spec.FRRImage, Needed: runs.Speaks},
		{Key: spec.HAProxyImage, Needed: runs.LB},
		{Key: spec.CoreDNSImage, Needed: runs.DNS},
	}); err != nil {
		return asset.Set{}, err
	}
	return build(p, r, passwords)
}

// Paths lists the files of AssetsWith, including units. It needs no images.
func Paths(p plan.Plan, r role.Role) ([]string, error) {
	if err := belongs(p, r); err != nil {
		return nil, err
	}
	set, err := build(p, r, []byte{})
	return set.Paths(), err
}

func belongs(p plan.Plan, r role.Role) error {
	switch {
	case !slices.Contains(role.Nodes(), r):
		return fmt.Errorf("role %q is not part of the cluster: choose one of %v", r, role.Nodes())
	case !slices.Contains(p.Roles(), r):
		return NoSuchRole{Role: r, Topology: p.Topology}
	}
	return nil
}

// build fails only if two rooms claim one path.
func build(p plan.Plan, r role.Role, passwords []byte) (asset.Set, error) {
	b := asset.Builder{By: "cluster"}
	b.File(plan.Path, 0o644, plan.Encode(p))
	b.Goods(units.Installer())
	b.Units(host(p).Install(p.Images[spec.RuntimeCfgImage], credentials, online(p)))
	addresses(&b, p)
	runs := p.NodeRuns(r)
	for _, s := range pods(p, r) {
		dir := manifests
		if runs.Disabled && s.Name != coredns && s.Name != publisher {
			dir = disabled
		}
		b.File(path.Join(dir, s.Name+".yaml"), 0o644, pod.Render(s))
	}
	if runs.DNS {
		resolver(&b, p)
	}
	if runs.MDNS {
		hostname(&b)
	}
	if runs.VIP && !runs.Disabled {
		scripts(&b, p, r)
	}
	if runs.Speaks {
		routes(&b, passwords)
	}
	if (runs.VIP || runs.Speaks) && !runs.Disabled {
		b.Units(host(p).VIPLeave()...)
	}
	return b.Set()
}

// host is the kind of host that the units are for.
func host(p plan.Plan) units.Host {
	return units.Host{OpenShift: p.Flavour().Around, Kubelet: p.KubeletUnit}
}

// online is the unit after which the node's network is up.
func online(p plan.Plan) string {
	if p.Flavour().Around {
		return units.NetworkManagerOnline
	}
	return units.NetworkOnline
}

// addresses adds the units that choose the node's addresses before kubelet, and that wait for them.
// The choice is the same on all platforms. Only OpenShift has the bridge that one of them waits
// for, and networks that are configured later.
func addresses(b *asset.Builder, p plan.Plan) {
	h := host(p)
	b.Units(h.NodeIP())
	if h.OpenShift {
		b.Units(h.VSphereUPI(), h.WaitForNodeIP(), h.WaitForBrEx())
	}
}

// scripts adds the health checks as scripts for other keepalived configurations; our keepalived
// starts none. On OpenShift they have the names of OpenShift's scripts, elsewhere those of the
// checks.
func scripts(b *asset.Builder, p plan.Plan, r role.Role) {
	for _, e := range election.For(p, r) {
		for _, w := range e.Scheme.Checks {
			script := "chk_" + string(w.Check)
			if known, ok := openShiftScripts[w.Check]; ok && p.Flavour().Around {
				script = known
			}
			b.File("/etc/kubernetes/static-pod-resources/keepalived/scripts/"+script+".sh", 0o755,
				[]byte("#!/bin/sh\nexec /usr/local/bin/onprem-infra check "+strings.ReplaceAll(
					string(w.Check), "_", "-",
				)+"\n"))
		}
	}
}

// openShiftScripts are OpenShift's names of scripts, where they differ from those of the checks.
var openShiftScripts = map[vrrp.CheckName]string{
	vrrp.CheckLB: "chk_ocp_script", vrrp.CheckBoth: "chk_ocp_script_both",
	vrrp.CheckMCS: "chk_mcs_script",
}
