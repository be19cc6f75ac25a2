// Package static judges the address that a description gives to the bootstrap machine itself, in
// the machine network.
package static

import (
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
)

// Draft is the address, with its gateway and DNS server.
type Draft struct{ IP, Gateway, DNS document.Scalar[netip.Addr] }

// Check checks that all of it is there, or nothing, and that it is no virtual IP.
func (s Draft) Check(r *document.Report, around network.Addresses) {
	all := []document.Scalar[netip.Addr]{s.IP, s.Gateway, s.DNS}
	given := 0
	for _, a := range all {
		if a.Given {
			given++
		}
	}
	for _, a := range all {
		if !a.Given && given > 0 {
			r.Errorf(a.At, "is missing beside the other addresses of the bootstrap machine: write "+
				"address, gateway and DNS server, or none of them")
		}
	}
	for _, vip := range slices.Concat(around.API.All, around.Ingress.All, around.DNS.All) {
		if s.IP.OK && s.IP.Value == vip.Addr {
			r.Errorf(s.IP.At, "%s is a virtual IP of the cluster, %s: choose another address",
				vip.Addr, vip.At.Where())
		}
	}
}
