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
	// credentials are those of the registries that kubelet pulls from. The file may be absent.
	credentials = "/var/lib/kubelet/config.json"

	manifests = "/etc/kubernetes/manifests"
	disabled  = "/etc/kubernetes/disabled-manifests" // which nobody reads
)

// NoSuchRole is the error of Assets for a role that no host of the cluster has.
type NoSuchRole struct {
	Role     role.Role
	Topology spec.Topology
}

func (n NoSuchRole) Error() string {
	return fmt.Sprintf("no node of the cluster is an %s: its topology is %s, so leave the role out or say another topology", n.Role, n.Topology)
}

// Assets are the files and units of a node. Pods come only where the cluster has something for them
// to do. The error is a plan.MissingImages or a NoSuchRole where it is the caller's to mend.
func Assets(p plan.Plan, r role.Role) (asset.Set, error) {
	if err := belongs(p, r); err != nil {
		return asset.Set{}, err
	}
	runs := p.NodeRuns(r)
	if err := p.NeedImages(r, []plan.Need{
		{Key: spec.RuntimeCfgImage, Needed: true},
		{Key: spec.KeepalivedImage, Needed: runs.VIP},
		{Key: spec.HAProxyImage, Needed: runs.LB},
		{Key: spec.CoreDNSImage, Needed: runs.DNS},
	}); err != nil {
		return asset.Set{}, err
	}
	return goods(p, r)
}

// Paths lists the files that Assets would bring, units among them. It needs no images.
func Paths(p plan.Plan, r role.Role) ([]string, error) {
	if err := belongs(p, r); err != nil {
		return nil, err
	}
	set, err := goods(p, r)
	return set.Paths(), err
}

func belongs(p plan.Plan, r role.Role) error {
	switch {
	case !slices.Contains(role.Nodes(), r):
		return fmt.Errorf("a host of role %q is no node of the cluster: there are %v", r, role.Nodes())
	case !slices.Contains(p.Roles(), r):
		return NoSuchRole{Role: r, Topology: p.Topology}
	}
	return nil
}

// goods fails only when two rooms claim one path.
func goods(p plan.Plan, r role.Role) (asset.Set, error) {
	b := asset.Builder{By: "cluster"}
	b.File(plan.Path, 0o644, plan.Encode(p))
	b.Goods(units.Installer())
	b.Unit(units.Fit(p.Flavour().Around)(units.Install(p.Images[spec.RuntimeCfgImage], credentials, online(p))))
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
		b.Units(units.VIPLeave(p.KubeletUnit))
	}
	return b.Set()
}

// online is the unit that reports to ours that the node's network is up.
func online(p plan.Plan) string {
	if p.Flavour().Around {
		return units.NetworkManagerOnline
	}
	return units.NetworkOnline
}

// addresses are the units that choose the node's addresses before kubelet, and that wait for them.
// There is one choice whatever the platform is. The bridge that one of them waits for is
// OpenShift's, and so is the sign that a network was configured later.
func addresses(b *asset.Builder, p plan.Plan) {
	b.Unit(units.Fit(p.Flavour().Around)(units.NodeIP(p.KubeletUnit)))
	if p.Flavour().Around {
		b.Unit(units.VSphereUPI())
		b.Unit(units.WaitForNodeIP(p.KubeletUnit))
		b.Unit(units.WaitForBrEx())
	}
}

// scripts are the health checks for those who configure keepalived by scripts; our own keepalived
// starts none. On OpenShift they are called as on its nodes of today, elsewhere by the checks'
// names.
func scripts(b *asset.Builder, p plan.Plan, r role.Role) {
	for _, e := range election.For(p, r) {
		for _, w := range e.Scheme.Checks {
			script := "chk_" + string(w.Check)
			if known, ok := todays[w.Check]; ok && p.Flavour().Around {
				script = known
			}
			b.File("/etc/kubernetes/static-pod-resources/keepalived/scripts/"+script+".sh", 0o755,
				[]byte("#!/bin/sh\nexec /usr/local/bin/onprem-infra check "+strings.ReplaceAll(string(w.Check), "_", "-")+"\n"))
		}
	}
}

// todays are the scripts that OpenShift's nodes of today call by other names than those of the
// checks.
var todays = map[vrrp.CheckName]string{vrrp.CheckLB: "chk_ocp_script", vrrp.CheckBoth: "chk_ocp_script_both", vrrp.CheckMCS: "chk_mcs_script"}
