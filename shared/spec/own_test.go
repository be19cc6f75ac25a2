package spec

import (
	"slices"
	"strings"
	"testing"
)

// TestOwnFields holds the findings about fields that one platform only has, and that the other
// platforms leave them alone.
func TestOwnFields(t *testing.T) {
	const vips = "apiVIPs: [192.0.2.5], ingressVIPs: [192.0.2.6], "
	for _, tt := range []struct{ name, section, want string }{
		{"name servers", "openstack: {" + vips + "externalDNS: [198.51.100.53, '2001:db8::53']}", ""},
		{"no name servers", "openstack: {" + vips + "externalDNS: []}", ""},
		{"name server by name", "openstack: {" + vips + "externalDNS: [ns.example.com]}",
			`externalDNS[0]: "ns.example.com" is no IP address, and the installer takes no other name server: write one such as 192.0.2.53`},
		{"name server that is a VIP", "openstack: {" + vips + "externalDNS: [198.51.100.53, 192.0.2.6]}",
			`externalDNS[1]: 192.0.2.6 is a virtual IP of the cluster, whose DNS would ask itself: write a name server outside of it`},
		{"name server that is a number", "openstack: {" + vips + "externalDNS: [1]}", "externalDNS[0]: want a string, got a number: put it in quotes"},
		{"name servers that are a text", "openstack: {" + vips + "externalDNS: x}", "externalDNS: want a list, got a string: write a list here"},
		{"failure domains", "vsphere: {" + vips + "vcenters: [{server: a}, {server: b}], failureDomains: [{server: b}, {server: a}, {}]}", ""},
		{"failure domains in the old form", "vsphere: {" + vips + "vCenter: a, failureDomains: [{server: a}]}", ""},
		{"failure domain elsewhere", "vsphere: {" + vips + "vcenters: [{server: a, password: s3cret}], failureDomains: [{server: a}, {server: s3cret}]}",
			`failureDomains[1].server: no entry under vcenters has this server, and the installer wants one: write a server that stands there`},
		{"subnets", "nutanix: {" + vips + "subnetUUIDs: [01234567-89ab-cdef-0123-456789abcdef, 01234567-89AB-CDEF-0123-456789abcde0]}", ""},
		{"subnet by name", "nutanix: {" + vips + "subnetUUIDs: [net]}",
			`subnetUUIDs[0]: "net" is no UUID, and Prism Central knows subnets by nothing else: write one such as 01234567-89ab-cdef-0123-456789abcdef`},
		{"subnet twice", "nutanix: {" + vips + "subnetUUIDs: [01234567-89ab-cdef-0123-456789abcdef, 01234567-89ab-cdef-0123-456789abcdef]}",
			`subnetUUIDs[1]: "01234567-89ab-cdef-0123-456789abcdef" stands at line 11 too, and the installer takes each subnet once: remove one of the two`},
		{"of others", "baremetal: {" + vips + "externalDNS: [x], failureDomains: [{server: x}], vcenters: [], subnetUUIDs: [x]}", ""},
		{"of others, in turn", "openstack: {" + vips + "hosts: [x], failureDomains: [{server: x}], vcenters: [], subnetUUIDs: [x]}", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			head, _, _ := strings.Cut(goodInstallConfig, "platform:")
			text := head + "platform:\n  " + tt.section + "\n"
			_, findings := Parse("c", []byte(text), Knobs{})
			hold(t, text, findings)
			findings = slices.DeleteFunc(findings, func(f Finding) bool { // TestUnknownFields is about them
				return strings.Contains(f.Text, "knows no such field")
			})
			got := strings.TrimSuffix(lines(findings), "\n")
			if _, what, _ := strings.Cut(got, ": platform."); tt.want != "" {
				_, got, _ = strings.Cut(what, ".")
			}
			if got != tt.want || len(findings) > 1 {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if strings.Contains(got, secret) {
				t.Error("a finding repeats a secret")
			}
		})
	}
}
