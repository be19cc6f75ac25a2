package spec

import "github.com/onprem-infra/onprem-infra/shared/spec/document"

// maxInstalled is the longest name of a cluster that the installer takes: it adds to it.
const maxInstalled = 54

// checkInstalled applies the rules by which the installer refuses what would be rendered here.
func (r *report) checkInstalled(d draft) {
	if n := len(d.name.Value); d.name.OK && n > maxInstalled && n <= maxLabel {
		r.Errorf(d.name.At, "%s has %d characters and the installer takes %d: shorten it",
			document.Quote(d.name.Value), n, maxInstalled)
	}
	if d.dnsRecords.Value == string(External) && !d.userManaged() {
		r.Errorf(d.dnsRecords.At, "records that others keep need a load balancer of your own: "+
			"write loadBalancer.type UserManaged, or leave dnsRecordsType out")
	}
	r.checkInner(d)
	r.checkStacks(d)
	r.checkPools(d)
}

// versions are those of an install-config. The installer converts the older ones, by the fields
// that are read here beside their successors.
func versions() []string { return []string{"v1", "v1beta4", "v1beta3"} }
