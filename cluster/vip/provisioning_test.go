package vip

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/absent"
	"github.com/onprem-infra/onprem-infra/cluster/vip/bootpeer"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/occupant"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/machine"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// provisioned is a cluster whose nodes share an address on the provisioning network.
func provisioned() spec.Cluster {
	c := family(cluster(), "IPv4")
	c.Platform, c.Distribution, c.Timing = spec.BareMetal, spec.Kubernetes, vrrp.ProfileLan
	c.Provisioning.Network = provisioning.Managed
	for i, name := range []string{"n1", "n2", "n3"} {
		address, _ := bmc.Parse(fmt.Sprintf("ipmi://198.51.100.%d", 1+i)) // it is one
		c.Hosts = append(c.Hosts, machine.Host{
			Name: name, Role: machine.Master, BootMACAddress: card(byte(1 + i)).String(),
			BMC: machine.BMC{Address: address, Credentials: "/etc/bmc"},
		})
	}
	return c
}

func card(n byte) mac.MAC {
	return mac.MAC{0x52, 0x54, 0, 0, 0, n}
}

// TestProvisioning_Instance holds that the address is on the card by its MAC while adverts are on
// the network of the API VIP, between the control plane nodes alone, and that Ironic decides.
func TestProvisioning_Instance(t *testing.T) {
	w := newWorld(t, provisioned(), role.Master)
	w.cards = []addr.Ethernet{{Name: "eth0", MAC: card(90), Enabled: true, Carrier: true}, {Name: "eno2", MAC: card(1), Enabled: true, Carrier: true}}
	w.bootstrap = answered(bootpeer.Published{Addresses: ips("192.0.2.20"), Beat: "1"})
	d := w.reconcile()
	got := instance(t, d, "172.22.0.3")
	if got.Name != "ostest_PROVISIONING_0" || got.Interface != "eth0" || got.Device != "eno2" || got.Bits != 24 || got.Source != ip("192.0.2.11") {
		t.Errorf("instance %+v", got)
	}
	if !slices.Equal(got.Peers, ips("192.0.2.12", "192.0.2.13")) || !got.Known {
		t.Errorf("peers %v, others are dropped: %t", got.Peers, got.Known)
	}
	i := slices.IndexFunc(d.Config.Tracks, func(t keepalived.Track) bool { return t.Name == vrrp.CheckIronic })
	if i < 0 || d.Config.Tracks[i].Weight != 0 || !slices.Contains(got.Tracks, vrrp.CheckIronic) {
		t.Errorf("tracks %+v of %v", d.Config.Tracks, got.Tracks)
	}
}

// TestProvisioning_Occupied holds that a machine which is no host of the cluster keeps the address,
// as the bootstrap machine does until it has installed the control plane: also while nobody knows
// yet, from a node that waits for Ironic, and from one that has the address too.
func TestProvisioning_Occupied(t *testing.T) {
	for _, tt := range []struct {
		name  string
		found occupant.Finding
		state supervised.State
		want  string // empty: it stands
	}{
		{"free", occupant.Finding{Known: true}, "", ""},
		{"unknown", occupant.Finding{}, "", "not known yet whether another machine has it"},
		{"unknown, after a restart", occupant.Finding{}, supervised.Fault, ""},
		{"occupied, and elected by the nodes", occupant.Finding{Known: true, Other: "52:54:00:00:00:99"}, supervised.Backup, ""},
		{"occupied", occupant.Finding{Known: true, Other: "52:54:00:00:00:99"}, "", "the machine 52:54:00:00:00:99 has it"},
		{"occupied, while it waits", occupant.Finding{Known: true, Other: "52:54:00:00:00:99"}, supervised.Fault, "the machine 52:54:00:00:00:99 has it"},
		{"occupied, while it holds it", occupant.Finding{Known: true, Other: "52:54:00:00:00:99"}, supervised.Master, "the machine 52:54:00:00:00:99 has it"},
	} {
		w := newWorld(t, provisioned(), role.Master)
		w.cards, w.other = []addr.Ethernet{{Name: "eno2", MAC: card(1), Enabled: true, Carrier: true}}, tt.found
		if tt.state != "" {
			w.status = supervised.Status{PID: 1, Instances: map[string]supervised.Instance{"ostest_PROVISIONING_0": {State: tt.state}}}
		}
		d, why := w.decide()
		stands := slices.ContainsFunc(d.Config.Instances, func(i keepalived.Instance) bool { return i.Device == "eno2" })
		if text := strings.Join(why, "\n"); stands != (tt.want == "") || !strings.Contains(text, tt.want) {
			t.Errorf("%s: stands %t, because %s\nwant %q", tt.name, stands, text, tt.want)
		}
	}
}

// TestProvisioning_NoCandidate holds which nodes stand not, with the reason for those that could.
func TestProvisioning_NoCandidate(t *testing.T) {
	for _, tt := range []struct {
		name   string
		r      role.Role
		change func(*spec.Cluster)
		host   func(*world)
		why    string
	}{
		{"a worker", role.Worker, nil, nil, ""},
		{"a node without such a card", role.Master, nil, func(w *world) { w.cards = w.cards[:1] }, "no card with the boot MAC of a host"},
		{"a node to which the API has named no nodes", role.Master, nil, func(w *world) { w.nodes = Answer[[]member.Node]{} }, "the API has not named the nodes yet"},
		{"a node whose card is down", role.Master, nil, func(w *world) { w.other = occupant.Finding{} }, "the card eno2 (52:54:00:00:00:01) of the provisioning network is down: run 'ip link set eno2 up'"},
		{"a node before it has seen the API", role.Master, nil, func(w *world) { w.served = false }, "no PROVISIONING instance: this node has not seen the API work yet"},
		{"OpenShift's operator sets it", role.Master, func(c *spec.Cluster) { c.Distribution = spec.OpenShift }, nil, ""},
		{"no VIP of its family", role.Master, func(c *spec.Cluster) { c.Provisioning.CIDR = prefixes("fd00:22::/64")[0] }, nil, ""},
	} {
		c, cards := provisioned(), []addr.Ethernet{{Name: "eth0", MAC: card(90)}, {Name: "eno2", MAC: card(1)}}
		if tt.change != nil {
			tt.change(&c)
		}
		w := newWorld(t, c, tt.r)
		w.cards = cards
		if tt.host != nil {
			tt.host(w)
		}
		d, why := w.decide()
		if slices.ContainsFunc(d.Config.Instances, func(i keepalived.Instance) bool { return i.Device != "" }) {
			t.Errorf("%s stands for the address", tt.name)
		}
		if text := strings.Join(why, "\n"); tt.why != "" && !strings.Contains(text, tt.why) {
			t.Errorf("%s: %s\nwant %q", tt.name, text, tt.why)
		}
		if err := w.room.Publish(t.Context(), d); err != nil {
			t.Fatal(err)
		}
		reported := absent.Why(w.room.Absent(), "ostest_PROVISIONING_0")
		if (reported != "") != (tt.why != "") || !strings.HasSuffix(tt.why, reported) && !strings.Contains(reported, tt.why) {
			t.Errorf("%s: reported %q, want %q", tt.name, reported, tt.why)
		}
	}
}
