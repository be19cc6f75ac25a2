package plan

import (
	"fmt"
	"net/netip"
	"reflect"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestNameClients holds which hosts may query the name servers, also after the way to a host: all
// without dnsClients, else the machine itself, the cluster's hosts and those that are listed. A host
// outside of the networks is one more.
func TestNameClients(t *testing.T) {
	network := netip.MustParsePrefix
	c := spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
		MachineNetworks: []netip.Prefix{network("192.0.2.0/24")},
		APIVIPs:         []netip.Addr{netip.MustParseAddr("192.0.2.5")},
		IngressVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	}
	for want, clients := range map[string][]netip.Prefix{
		"[]": nil,
		"[10.128.0.0/14 127.0.0.0/8 192.0.2.0/24 ::1/128]": {network("10.128.0.7/14"), network("10.128.0.0/14")},
	} {
		c.DNSClients = clients
		p, err := Compile(c)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(p.NameClients()); got != want {
			t.Errorf("%v: %s, want %s", clients, got, want)
		}
		remote, known := netip.MustParseAddr("198.51.100.7"), netip.MustParseAddr("192.0.2.7")
		more := strings.Replace(want, " ::1/128", " 198.51.100.7/32 ::1/128 2001:db8:9::7/128", 1)
		if got := fmt.Sprint(p.NameClients(remote, known, netip.MustParseAddr("2001:db8:9::7"), remote)); got != more {
			t.Errorf("%v and hosts: %s, want %s", clients, got, more)
		}
		there, findings := spec.Parse("cluster.json", Encode(p), spec.Knobs{})
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		again, err := Compile(there)
		if err != nil || !reflect.DeepEqual(again.NameClients(), p.NameClients()) {
			t.Errorf("on a host: %v, %v, want %v", again.NameClients(), err, p.NameClients())
		}
	}
}
