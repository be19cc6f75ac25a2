package status_test

import (
	"context"
	"fmt"
	"net/netip"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	width "github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// sharing is the plan of a cluster whose nodes share 172.22.0.3.
func sharing(t *testing.T) plan.Plan {
	t.Helper()
	c := spec.Cluster{Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal,
		Distribution: spec.Kubernetes, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         fakehost.Addresses("192.0.2.5"), IngressVIPs: fakehost.Addresses("192.0.2.6")}
	c.Provisioning.Network = provisioning.Managed
	c.Provisioning.MACs = []mac.MAC{{0x52, 0x54, 0, 0, 0, 0x99}}
	for i := range 3 {
		at, _ := bmc.Parse(fmt.Sprintf("ipmi://198.51.100.%d", 1+i)) // it is one
		c.Hosts = append(c.Hosts, spec.Host{Name: fmt.Sprintf("m%d", i), Role: machine.Master,
			BootMACAddress: fmt.Sprintf("52:54:00:00:00:%02x", 1+i),
			BMC:            machine.BMC{Address: at, Credentials: "/etc/bmc"}})
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestInspect_SharedAddress holds that every machine of the cluster reports the address that nodes
// share: why it is no candidate, and which host has the address, as far as it can tell.
func TestInspect_SharedAddress(t *testing.T) {
	const (
		bootstrap  = "/etc/systemd/system/onprem-provision.service"
		master     = "/etc/kubernetes/manifests/haproxy.yaml"
		worker     = "/etc/kubernetes/manifests/keepalived.yaml"
		statusFile = supervised.RunDir + "/" + supervised.StatusFile
	)
	own := addr.Ethernet{Name: "eno2", MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 1}, Enabled: true, Carrier: true}
	down, other, installs := own, own, own
	down.Enabled, other.MAC = false, mac.MAC{2}
	installs.Name, installs.MAC = "ens4", mac.MAC{0x52, 0x54, 0, 0, 0, 0x99}
	running := string(supervised.Encode(supervised.Status{PID: 9, Instances: map[string]supervised.Instance{
		"ostest_PROVISIONING_0": {State: supervised.Backup, Priority: 40}}}))
	for _, tt := range []struct {
		name, role string
		files      map[string]string
		card       addr.Ethernet
		links      []string
		macs       []string
		denied     error
		announced  bool
		row, text  string // in the report
		why        string // in the verdict; empty for none of the address
	}{
		{name: "a node whose card is down", role: master, card: down, announced: true,
			files: map[string]string{supervised.RunDir + "/" + absent.File: `[{"instance":"ostest_PROVISIONING_0","why":"its card eno2 is down"}]`},
			row:   "192.0.2.12 is no candidate", text: "\n172.22.0.3: no candidate here: its card eno2 is down\n"},
		{name: "a candidate whose card went down", role: master, card: down, files: map[string]string{statusFile: running},
			row: "not seen BACKUP 40", text: "\nnot seen: the answer for 172.22.0.3: the card eno2 (52:54:00:00:00:01) of the provisioning network is down: run 'ip link set eno2 up'"},
		{name: "a node that the API has not named", role: master, card: own, macs: []string{"52:54:00:00:00:03"}, row: "m2 is no candidate"},
		{name: "a candidate, by adverts", role: master, card: own, files: map[string]string{statusFile: running}, macs: []string{"52:54:00:00:00:03"},
			announced: true, row: "192.0.2.12 BACKUP 40", text: "\n172.22.0.3: 192.0.2.12 announces it"},
		{name: "a candidate that no host answers", role: master, card: own, files: map[string]string{statusFile: running},
			row: "no host answers BACKUP 40", why: "no host answers for the provisioning VIP 172.22.0.3"},
		{name: "a network that is cut", role: master, card: own, files: map[string]string{statusFile: running}, announced: true,
			row: "192.0.2.12 BACKUP 40", text: "\n172.22.0.3: but no host answers for it on this host's card\n"},
		{name: "a machine that is no host, whatever nodes announce", role: master, card: own, files: map[string]string{statusFile: running},
			macs: []string{"52:54:00:00:00:77"}, announced: true, row: "52:54:00:00:00:77 BACKUP 40"},
		{name: "a worker with such a card", role: worker, card: own, macs: []string{"52:54:00:00:00:02"},
			row: "m1 is no candidate", text: "\n172.22.0.3: no candidate here: the control plane nodes share it\n"},
		{name: "a worker without one", role: worker, card: other, row: "not seen is no candidate",
			text: "\nnot seen: the answer for 172.22.0.3: this node has no card with the boot MAC of a host"},
		{name: "without privilege", role: worker, card: own, denied: syscall.EPERM, row: "not seen is no candidate",
			text: "\nnot seen: the answer for 172.22.0.3: operation not permitted\n"},
		{name: "no host has it", role: worker, card: own, row: "no host answers is no candidate"},
		{name: "the bootstrap machine with it", role: bootstrap, card: installs, links: []string{"172.22.0.3/24"},
			row: "this host is no candidate", text: "\n172.22.0.3: no candidate here: the bootstrap machine has it without an election"},
		{name: "the bootstrap machine without it", role: bootstrap, card: installs, macs: []string{"52:54:00:00:00:01"}, row: "m0 is no candidate"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := sharing(t)
			files := map[string]string{tt.role: ""}
			for path, text := range tt.files {
				files[path] = text
			}
			now := fakehost.Begin.Add(time.Hour)
			observer := clash.NewObserver()
			observer.Expect([]clash.Instance{{Name: "ostest_PROVISIONING_0", Link: "ens3", ID: p.VRRP.Provisioning.ID, VIP: p.VIPs.Provisioning[0]}})
			if tt.announced {
				h := fakehost.Advert(12, p.VRRP.Provisioning.ID, 40, p.VIPs.Provisioning...)
				observer.Receive(clash.Received{Link: "ens3", MAC: h.MAC.String(), At: now, Advert: h.Advert})
			}
			files[supervised.RunDir+"/"+clash.StateFile] = string(clash.EncodeState(observer.State(nil, nil, now)))
			host := fakehost.New(t, p, files)
			host.Links = func() (addr.Snapshot, error) {
				return fakehost.Links(append([]string{"192.0.2.11/24", "192.0.2.5/32"}, tt.links...)...), nil
			}
			host.Cards = func() ([]addr.Ethernet, error) { return []addr.Ethernet{tt.card}, nil }
			host.WhoHas = func(link string, a netip.Addr) ([]string, error) {
				if link != tt.card.Name || a != p.VIPs.Provisioning[0] {
					t.Errorf("asked for %s on %s", a, link)
				}
				return tt.macs, tt.denied
			}
			host.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, nil }
			r := status.Inspect(t.Context(), host)
			if text := r.Text(width.Width(200)); !strings.Contains(spaced(text), "\n172.22.0.3 provisioning "+tt.row) || !strings.Contains(text, tt.text) {
				t.Errorf("%s\nwant %q and %q", text, tt.row, tt.text)
			}
			why := strings.Join(r.Verdict.Why, "; ")
			if !strings.Contains(why, tt.why) || tt.files[statusFile] == "" && strings.Contains(why, "172.22.0.3") {
				t.Errorf("the verdict is %q, want %q", why, tt.why)
			}
		})
	}
}

// spaced is a text whose columns are one space apart.
func spaced(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(out, "\n")
}
