package services

import (
	"net"
	"net/netip"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestClosed holds which ports are behind which VIP, by a server at each of them in its time: the API is
// served while one of two listens.
func TestClosed(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	open := netip.MustParseAddrPort(listener.Addr().String()).Port()
	const shut = 1 // nothing listens there
	for _, tt := range []struct {
		open, distribution string
		role               role.Role
		want               []vrrp.CheckName // that fail
	}{
		{"", "kubernetes", role.Master, []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth, vrrp.CheckDNS, vrrp.CheckIngress}},
		{port.LBStats, "kubernetes", role.Master, []vrrp.CheckName{vrrp.CheckDNS, vrrp.CheckIngress}},
		{port.API, "kubernetes", role.Master, []vrrp.CheckName{vrrp.CheckDNS, vrrp.CheckIngress}},
		{port.DNS, "kubernetes", role.Master, []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckBoth, vrrp.CheckIngress}},
		{port.IngressHTTP, "kubernetes", role.Worker, nil},
		{port.IngressHTTP, "openshift", role.Worker, []vrrp.CheckName{vrrp.CheckIngress}},
		{port.RouterStats, "openshift", role.Worker, nil},
		{port.LBStats, "openshift", role.Worker, []vrrp.CheckName{vrrp.CheckIngress}},
	} {
		p := plan.Plan{Shape: plan.Shape{Distribution: spec.Distribution(tt.distribution)}, VIPs: plan.VIPs{DNS: []netip.Addr{netip.MustParseAddr("192.0.2.7")}},
			Ports: map[string]uint16{port.LBStats: shut, port.API: shut, port.DNS: shut, port.IngressHTTP: shut, port.RouterStats: shut}}
		if tt.open != "" {
			p.Ports[tt.open] = open
		}
		var got []vrrp.CheckName
		for _, s := range Closed(p, tt.role) {
			if s.Closed() {
				got = append(got, s.Checks...)
			}
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s, %s at %q: %v, want %v", tt.distribution, tt.role, tt.open, got, tt.want)
		}
	}
}
