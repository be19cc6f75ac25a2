package conductor

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ironic"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

const grub = "EFI/centos/grub.cfg"

// thePlan has a host of each phase.
func thePlan() plan.Plan {
	return plan.Plan{
		Ports: port.Numbers(nil),
		Provisioning: &provision.Plan{
			Network: provisioning.Managed, Address: provisioning.Two, BootstrapIP: netip.MustParseAddr("172.22.0.2"), IP: netip.MustParseAddr("172.22.0.3"),
			Deadlines: []provision.Deadline{{Step: "call-back", Seconds: 1800}, {Step: "boot-retry", Seconds: 600}},
			Hosts: []provision.Host{
				{Name: "master-0", Phase: provision.Bootstrap, Driver: "redfish", BMC: "redfish://192.0.2.101/1", Boot: provision.PXEUEFI, Ironic: "https://172.22.0.2:6385"},
				{Name: "worker-0", Phase: provision.Cluster, Driver: "ipmi", BMC: "ipmi://192.0.2.102", Boot: provision.PXEBIOS, Ironic: "https://172.22.0.3:6385"},
			}},
	}
}

func TestSettings(t *testing.T) {
	p := thePlan()
	s, err := Settings(p, provision.Bootstrap, grub)
	if err != nil || len(s.Hosts) != 1 || s.API != netip.MustParseAddrPort("172.22.0.2:6385") || s.Operator || !s.Bound ||
		s.HTTP != netip.MustParseAddrPort("172.22.0.2:6180") || s.Times.CallBack != 30*time.Minute || s.Times.Retry != 10*time.Minute || s.Media.IsValid() {
		t.Errorf("%+v, %v", s, err)
	}
	p.Provisioning.Hosts[0].Boot, p.Provisioning.Hosts[0].Media = provision.VirtualMedia, "https://192.0.2.5:6183"
	if s, err = Settings(p, provision.Bootstrap, grub); err != nil || s.Media.String() != "192.0.2.5:6183" || !Media(p, provision.Bootstrap) || Media(p, provision.Cluster) {
		t.Errorf("%+v, %v", s, err)
	}
	p.Provisioning.Hosts[0].Ironic = "https://ironic.example.com"
	if _, err = Settings(p, provision.Bootstrap, grub); err == nil || !strings.Contains(err.Error(), `host "master-0"`) {
		t.Errorf("%v", err)
	}
}

// TestSettings_Cluster holds that the cluster's Ironic can switch the hosts that the bootstrap machine
// has installed, and answers at any address of its node.
func TestSettings_Cluster(t *testing.T) {
	p := thePlan()
	p.Provisioning.Address, p.Provisioning.BootstrapIP = provisioning.One, netip.Addr{}
	p.Provisioning.Hosts[0].Driver, p.Provisioning.Hosts[0].Boot = "redfish-virtualmedia", provision.VirtualMedia
	p.Provisioning.Hosts[0].Ironic, p.Provisioning.Hosts[0].Media = "https://172.22.0.3:6385", "https://192.0.2.5:6183"
	p.MachineNetworks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/64")}
	s, err := Settings(p, provision.Cluster, "")
	want := []ironic.Host{{Driver: "redfish-virtualmedia", Boot: ironic.VirtualMedia, Adopted: true}, {Driver: "ipmi", Boot: ironic.PXE}}
	if err != nil || !slices.Equal(s.Hosts, want) || !s.Operator || s.Bound || !s.Six || s.Media.IsValid() || s.Paths.Database() != layout.Database+"/ironic.sqlite" {
		t.Errorf("%+v, %v", s, err)
	}
	p.Provisioning.Hosts = p.Provisioning.Hosts[:1]
	if s, err = Settings(p, provision.Cluster, ""); err != nil || s.API.String() != "172.22.0.3:6385" || s.HTTP.String() != "172.22.0.3:6180" {
		t.Errorf("without a worker: %+v, %v", s, err)
	}
}

// TestOnNode holds that hosts of the cluster that boot virtual media fetch it from the node on which
// Ironic runs, and that nothing is left out that they need for it.
func TestOnNode(t *testing.T) {
	p := thePlan()
	p.Provisioning.Hosts[1].Driver, p.Provisioning.Hosts[1].Boot = "redfish-virtualmedia", provision.VirtualMedia
	node := netip.MustParseAddr("192.0.2.21")
	s, err := OnNode(p, node, grub)
	if err != nil || s.Media.String() != "192.0.2.21:6183" || s.GRUB != grub || !s.Operator {
		t.Errorf("%+v, %v", s, err)
	}
	for name, err := range map[string]error{
		"no address":   func() error { _, err := OnNode(p, netip.Addr{}, grub); return err }(),
		"no loader":    func() error { _, err := OnNode(p, node, ""); return err }(),
		"no such host": func() error { _, err := OnNode(thePlan(), node, grub); return err }(),
	} {
		if err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if s, err := OnNode(thePlan(), netip.Addr{}, ""); err != nil || s.Media.IsValid() {
		t.Errorf("%+v, %v", s, err)
	}
}
