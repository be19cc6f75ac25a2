package metal3

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
)

// TestNodeMedia holds by which VIP the address is chosen from which BMCs fetch virtual media, and
// which hosts cannot have the same one.
func TestNodeMedia(t *testing.T) {
	four, six := netip.MustParseAddr("192.0.2.5"), netip.MustParseAddr("2001:db8::5")
	const media4, media6, name = "redfish-virtualmedia://198.51.100.1/1", "redfish-virtualmedia://[2001:db8:1::1]/1", "redfish-virtualmedia://bmc/1"
	of := func(bmc string, change func(*provision.Host)) provision.Host {
		h := provision.Host{Name: bmc, Phase: provision.Cluster, BMC: bmc, Boot: provision.VirtualMedia}
		if change != nil {
			change(&h)
		}
		return h
	}
	for title, tt := range map[string]struct {
		hosts  []provision.Host
		vips   []netip.Addr
		want   netip.Addr
		others []string
	}{
		"one":                {[]provision.Host{of(media4, nil)}, []netip.Addr{four}, four, nil},
		"by name":            {[]provision.Host{of(name, nil)}, []netip.Addr{six, four}, six, nil},
		"of the second":      {[]provision.Host{of(media6, nil)}, []netip.Addr{four, six}, six, nil},
		"of both":            {[]provision.Host{of(media4, nil), of(media6, nil), of(name, nil)}, []netip.Addr{four, six}, four, []string{media6}},
		"over PXE":           {[]provision.Host{of(media4, func(h *provision.Host) { h.Boot = provision.PXEUEFI })}, []netip.Addr{four}, netip.Addr{}, nil},
		"at a VIP":           {[]provision.Host{of(media4, func(h *provision.Host) { h.Media = "https://192.0.2.5:6183" })}, []netip.Addr{four}, netip.Addr{}, nil},
		"of the bootstrap's": {[]provision.Host{of(media4, func(h *provision.Host) { h.Phase = provision.Bootstrap })}, []netip.Addr{four}, netip.Addr{}, nil},
	} {
		p := plan.Plan{VIPs: plan.VIPs{API: tt.vips}, Provisioning: &provision.Plan{Hosts: tt.hosts}}
		if vip, others := NodeMedia(p); vip != tt.want || !slices.Equal(others, tt.others) {
			t.Errorf("%s: %s, %q", title, vip, others)
		}
	}
	if vip, _ := NodeMedia(plan.Plan{}); vip.IsValid() {
		t.Error(vip)
	}
}
