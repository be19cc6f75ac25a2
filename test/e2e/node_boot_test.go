package e2e

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/mco/described"
	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/test/beside"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/openshift"
	"github.com/onprem-infra/onprem-infra/test/vm"
	"github.com/onprem-infra/onprem-infra/units"
)

// The stand-ins for our programs: what is looked at here is when systemd starts them. The image
// comes late, at the first boot alone, and brings the program that every other unit runs.
const (
	fakeInstall = `#!/bin/sh
test -x /usr/local/bin/onprem-infra || { sleep 2; cp /opt/onprem-infra /usr/local/bin/onprem-infra; }
`
	fakeProgram = `#!/bin/sh
case "$*" in "monitor resolv") touch /run/resolv-prepender-kni-conf-done ;; esac
`
)

// bootTree is one kind of node.
type bootTree struct {
	platform spec.Platform
	role     role.Role
	noVIPs   bool
	by       routing.Management // without one, by elections
	form     beside.Form
	way      int // of those in which the operator's units come
}

func (b bootTree) String() string {
	text := fmt.Sprintf("%s %s by %s, way %d, without VIPs: %v", b.platform, b.role, b.form, b.way, b.noVIPs)
	if b.by != "" {
		text += ", VIPs by " + string(b.by)
	}
	return text
}

// ours are the node's files and units.
func (b bootTree) ours(t *testing.T) asset.Set {
	t.Helper()
	c := spec.Cluster{
		Name: "prod", BaseDomain: "example.com", Platform: b.platform, Topology: spec.HighlyAvailableArbiter,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		Images: map[string]string{
			spec.KeepalivedImage: "k", spec.HAProxyImage: "h", spec.CoreDNSImage: "c", spec.RuntimeCfgImage: "o",
		},
	}
	if !b.noVIPs {
		c.APIVIPs = []netip.Addr{netip.MustParseAddr("192.0.2.5")}
		c.IngressVIPs = []netip.Addr{netip.MustParseAddr("192.0.2.6")}
	}
	if b.by != "" {
		c.Images[spec.FRRImage] = "f"
		c.Routing = spec.Routing{Management: b.by, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: c.MachineNetworks[0]}}}}
	}
	if b.by == spec.ByBGP {
		c.APIVIPs = []netip.Addr{netip.MustParseAddr("198.51.100.5")}
		c.IngressVIPs = []netip.Addr{netip.MustParseAddr("198.51.100.6")}
	}
	p, err := plan.Compile(c)
	must(t, err)
	set, err := cluster.Assets(p, b.role)
	must(t, err)
	if b.describes() {
		for _, u := range (units.Host{OpenShift: true}).Describe() {
			must(t, set.AddUnit(u))
		}
	}
	return set
}

// describes reports whether the node makes its description out of the operator's.
func (b bootTree) describes() bool { return b.by == spec.ByBGP && b.form == beside.Templates }

// theirs are the stand-ins beside ours. Extensions are left to the order in test/matrix.
func (b bootTree) theirs(t *testing.T, ours []asset.Unit) []openshift.Unit {
	t.Helper()
	left, err := beside.LeftOut(b.form)
	must(t, err)
	ways := openshift.Nodes(string(b.platform))
	return slices.DeleteFunc(beside.Theirs(ways[b.way%len(ways)], left, ours), func(u openshift.Unit) bool { return u.Extra })
}

// machine is a node that has never been booted, with the operator's units beside ours.
func (b bootTree) machine(t *testing.T) (*vm.Machine, *lab.Host) {
	t.Helper()
	need.Root(t)
	for _, name := range []string{"debootstrap", "systemd-nspawn", "unshare", "nsenter"} {
		need.Command(t, name)
	}
	root, err := vm.Root(t.Context(), slog.New(slog.NewTextHandler(t.Output(), nil)))
	must(t, err)
	host, err := lab.New(t).Add("node", netip.MustParsePrefix("192.0.2.11/24"))
	must(t, err)
	m, err := vm.New(root)
	must(t, err)
	t.Cleanup(func() { must(t, m.Remove()) })
	set := b.ours(t)
	document, err := ignition.Encode(set)
	must(t, err)
	var preset strings.Builder
	for _, u := range b.theirs(t, set.Units()) {
		file := path.Join(asset.UnitDir, u.Name)
		if u.DropIn {
			file = path.Join(asset.UnitDir, u.Name+".d", "05-operator.conf")
		}
		must(t, m.Write(file, []byte(u.Text()), 0o644))
		if u.Enabled() {
			fmt.Fprintf(&preset, "enable %s\n", u.Name)
		}
	}
	must(t, m.Write("/etc/systemd/system-preset/10-operator.preset", []byte(preset.String()), 0o644),
		m.Ignite(t.Context(), document),
		m.Write("/usr/local/bin/onprem-install", []byte(fakeInstall), 0o755),
		m.Write("/opt/onprem-infra", []byte(fakeProgram), 0o755))
	if b.describes() {
		must(t, m.Write(described.Path, []byte("{}"), 0o600))
	}
	return m, host
}

// boot switches the machine on, waits until everything has been started, and looks at what was.
func (b bootTree) boot(t *testing.T, m *vm.Machine, host *lab.Host) {
	t.Helper()
	running, err := m.Boot(t.Context(), host)
	must(t, err)
	defer func() {
		if t.Failed() {
			t.Logf("console:\n%s", running.Console())
		}
		must(t, running.Halt(t.Context()))
	}()
	sh := func(script string) string {
		t.Helper()
		out, err := running.Run(t.Context(), "sh", "-euc", script)
		must(t, err)
		return out
	}
	sh("timeout 120 systemctl is-system-running --wait || systemctl --failed --no-pager")
	if failed := sh("systemctl --failed --no-legend --no-pager"); failed != "" {
		t.Errorf("%s: failed units:\n%s", b, failed)
	}
	if logged := sh("systemd-analyze verify --man=no --recursive-errors=no default.target 2>&1 | grep -i cycle || :"); logged != "" {
		t.Errorf("%s: %s", b, logged)
	}
	ran := started(t, sh("journalctl --boot --output=json --no-pager SYSLOG_IDENTIFIER=systemd"))
	set := b.ours(t)
	rows, err := beside.Ours(set.Units())
	must(t, err)
	for _, u := range append(rows, b.theirs(t, set.Units())...) {
		if u.Enabled() && !u.DropIn && !slices.Contains(ran, u.Name) {
			t.Errorf("%s: %s was never started", b, u.Name)
		}
	}
	order := [][2]string{
		{"onprem-install.service", "nodeip-configuration.service"},
		{"nodeip-configuration.service", "nmstate-configuration.service"},
		{"nmstate-configuration.service", "crio.service"}, {"crio.service", "kubelet.service"},
	}
	if b.describes() {
		order = append(order, [2]string{"onprem-install.service", "onprem-describe.service"},
			[2]string{"onprem-describe.service", "nodeip-configuration.service"})
	}
	for _, want := range order {
		if slices.Index(ran, want[0]) > slices.Index(ran, want[1]) {
			t.Errorf("%s: %s had not ended before %s: %v", b, want[0], want[1], ran)
		}
	}
}

// started are the units whose start the journal says the end of, in order: also of those that a
// condition kept.
func started(t *testing.T, journal string) []string {
	t.Helper()
	var units []string
	for line := range strings.Lines(journal) {
		var entry struct {
			Unit   string `json:"UNIT"`
			Type   string `json:"JOB_TYPE"`
			Result string `json:"JOB_RESULT"`
		}
		must(t, json.Unmarshal([]byte(line), &entry))
		if entry.Type == "start" && entry.Result == "done" {
			units = append(units, entry.Unit)
		}
	}
	return units
}

// TestNodeBoots boots a control plane node with all units of OpenShift's around ours, before the
// image is there and after: no unit is left out, and each one has what it needs before it (N-17).
func TestNodeBoots(t *testing.T) {
	b := bootTree{platform: spec.BareMetal, role: role.Master, form: beside.Templates}
	m, host := b.machine(t)
	for range 2 {
		b.boot(t, m, host)
	}
}

// TestLongNodeBoots boots each kind of node for the first time, and one of them ten times.
func TestLongNodeBoots(t *testing.T) {
	needLong(t)
	var trees []bootTree
	for i, platform := range []spec.Platform{spec.BareMetal, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere} {
		for j, r := range role.Nodes() {
			for k, form := range beside.Forms() {
				trees = append(trees, bootTree{platform: platform, role: r, form: form, way: i + j + k})
			}
		}
	}
	for i, form := range beside.Forms() {
		trees = append(trees, bootTree{platform: spec.VSphere, role: role.Worker, noVIPs: true, form: form, way: i})
	}
	for _, form := range beside.Forms() {
		for i, r := range []role.Role{role.Master, role.Worker} {
			trees = append(trees, bootTree{platform: spec.BareMetal, role: r, by: spec.ByBGP, form: form, way: i})
		}
	}
	trees = append(trees, bootTree{platform: spec.BareMetal, role: role.Master, by: spec.ByBoth, form: beside.MachineConfig})
	for _, b := range trees {
		t.Run(b.String(), func(t *testing.T) {
			start := time.Now()
			m, host := b.machine(t)
			b.boot(t, m, host)
			t.Logf("%s", time.Since(start).Round(time.Millisecond))
		})
	}
	b := bootTree{platform: spec.OpenStack, role: role.Master, form: beside.MachineConfig, way: 3}
	t.Run("ten times", func(t *testing.T) {
		m, host := b.machine(t)
		for range 10 {
			b.boot(t, m, host)
		}
	})
}
