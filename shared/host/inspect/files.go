package inspect

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Files are those of a host below Root, which is empty for this host.
type Files struct{ Root string }

// Path is where a file of the host is.
func (h Files) Path(elements ...string) string { return h.Root + filepath.Join(elements...) }

// Exists reports whether the host has a file.
func (h Files) Exists(path string) (bool, error) {
	_, err := os.Stat(h.Path(path))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Optional reads a file; text is nil if there is none.
func (h Files) Optional(elements ...string) (text []byte, err error) {
	text, err = os.ReadFile(h.Path(elements...))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// Agreed are the addresses that node-ip has chosen. A file without an address is ignored.
func (h Files) Agreed() (agreed []netip.Addr, remote bool, err error) {
	for _, name := range []string{"ipv4", "ipv6"} {
		text, err := h.Optional(vip.AgreedDir, name)
		if err != nil {
			return nil, false, err
		}
		if a, err := netip.ParseAddr(strings.TrimSpace(string(text))); err == nil {
			agreed = append(agreed, a)
		}
	}
	remote, err = h.Exists(filepath.Join(vip.AgreedDir, "remote-worker"))
	return agreed, remote, err
}

// Supervisor is the status that keepalived's supervisor has written; the zero value if there is
// none.
func (h Files) Supervisor() (supervised.Status, error) { return h.run().Status() }

// Memory is what the VIPs' monitor remembers; ok is false if there is none.
func (h Files) Memory() (m nodestate.Memory, ok bool, err error) {
	text, err := h.Optional(nodestate.Path)
	if err != nil || text == nil {
		return nodestate.Memory{}, false, err
	}
	m, err = nodestate.Decode(text)
	return m, true, err
}

// Tracked reports whether the tracked file of a check records that it passes.
func (h Files) Tracked(check vrrp.CheckName, fault bool) bool {
	return h.run().Passes(check, fault)
}

// run are the files between the host's monitor and keepalived's supervisor.
func (h Files) run() rundir.Dir { return rundir.Dir(h.Path(supervised.RunDir)) }

// Results are the last results of the checks, as the VIPs' monitor has written them.
func (h Files) Results() ([]checks.Result, error) {
	return list[checks.Result](h, checks.ResultsFile)
}

// MissingRights are the rights that this node lacks, as the VIPs' monitor has written them.
func (h Files) MissingRights() ([]MissingRight, error) { return list[MissingRight](h, RightsFile) }

// Absent are the VRRP instances that this node could have and has not, as the VIPs' monitor has
// written them.
func (h Files) Absent() ([]absent.Instance, error) { return list[absent.Instance](h, absent.File) }

// Unannounced are the VIPs that this node could announce to its routers and does not, as the VIPs'
// monitor has written them.
func (h Files) Unannounced() ([]absent.VIP, error) { return list[absent.VIP](h, absent.VIPsFile) }

// list reads a list in JSON from the run directory. A list without a file is empty.
func list[T any](h Files, file string) (all []T, err error) {
	text, err := h.Optional(supervised.RunDir, file)
	if err != nil || text == nil {
		return nil, err
	}
	err = json.Unmarshal(text, &all)
	return all, err
}

// KeepalivedConf is keepalived's configuration, on hosts of either phase.
const KeepalivedConf = keepalived.HostDir + "/" + keepalived.File

// The manifests that run keepalived, CoreDNS and FRR on a bootstrap machine, if they come from
// OpenShift's Machine Config Operator.
const (
	KeepalivedManifest = "/etc/kubernetes/manifests/keepalived.yaml"
	CoreDNSManifest    = "/etc/kubernetes/manifests/coredns.yaml"
	FRRManifest        = "/etc/kubernetes/manifests/0000-frr-k8s.yaml"
)

// SpeakerManifest runs FRR on nodes that announce VIPs.
const SpeakerManifest = "/etc/kubernetes/manifests/speaker.yaml"

// Statics are the manifests on a bootstrap machine that run a daemon instead of our unit.
func (h Files) Statics() (out []facts.Static, err error) {
	for _, s := range []facts.Static{
		{Daemon: "keepalived", Unit: "onprem-keepalived.service", Path: KeepalivedManifest},
		{Daemon: "CoreDNS", Unit: "onprem-coredns.service", Path: CoreDNSManifest},
		{Daemon: "FRR", Unit: "onprem-speaker.service", Path: FRRManifest},
	} {
		text, errRead := h.Optional(s.Path)
		if err = errors.Join(err, errRead); text != nil {
			s.Ours = bytes.Contains(text, []byte("- --in-pod\n")) // of each manifest of ours
			out = append(out, s)
		}
	}
	return out, err
}

// replaced reports whether a static pod that is not ours runs a daemon on this bootstrap machine.
func (h Files) replaced(daemon string) bool {
	list, _ := h.Statics() // doctor reports what cannot be read
	foreign := func(s facts.Static) bool { return s.Daemon == daemon && !s.Ours }
	return slices.ContainsFunc(list, foreign)
}

// Role is what this host is, by the files that it has; empty for a plain host.
func (h Files) Role() role.Role {
	for _, sign := range []struct {
		path string
		role role.Role
	}{
		{"/etc/systemd/system/onprem-keepalived.service", role.Bootstrap},
		{"/etc/systemd/system/onprem-speaker.service", role.Bootstrap},
		{"/etc/systemd/system/onprem-coredns.service", role.Bootstrap},
		{"/etc/systemd/system/onprem-provision.service", role.Bootstrap},
		{"/etc/kubernetes/manifests/haproxy.yaml", role.Master},
		{KeepalivedManifest, role.Worker},
		{SpeakerManifest, role.Worker},
		{CoreDNSManifest, role.Arbiter},
	} {
		if there, err := h.Exists(sign.path); err == nil && there {
			return sign.role
		}
	}
	return ""
}

// Rooms are what this host runs.
func (h Files) Rooms(p plan.Plan) (runs plan.Rooms) {
	switch r := h.Role(); {
	case r == role.Bootstrap:
		runs.VIP, runs.DNS = p.BootstrapRuns()
		runs.Speaks = p.BGP != nil && p.LoadBalancer == spec.Managed && !h.replaced("FRR")
		runs.VIP = runs.VIP && !h.replaced("keepalived")
		runs.DNS = runs.DNS && !h.replaced("CoreDNS")
	case r != "":
		if runs = p.NodeRuns(r); runs.Disabled {
			runs.VIP, runs.LB, runs.Speaks = false, false, false
		}
	}
	return runs
}
