package vip

import (
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/vip/conflict"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestDNSVIP holds that the bootstrap machine holds the DNS VIP first, in an election of its own,
// as clusters had it, and gives it up with the API's.
func TestDNSVIP(t *testing.T) {
	r, _, _, _ := room(t, func(c *spec.Cluster) { c.Name, c.DNSVIP, c.Timing = "cnf10", ip("192.0.2.7"), vrrp.ProfileCompat })
	seen := Snapshot{At: time.Now(), Links: links(host...), Nodes: []addr.Candidate{master("m0", "192.0.2.11")}, Verdict: hold}
	d, _ := r.Decide(seen)
	i := slices.IndexFunc(d.Config.Instances, func(i keepalived.Instance) bool { return i.VIP == ip("192.0.2.7") })
	if i < 0 || len(d.Config.Instances) != 2 {
		t.Fatalf("instances %+v", d.Config.Instances)
	}
	got := d.Config.Instances[i]
	if got.Name != "cnf10_DNS_0" || got.ID != 158 || got.Priority != 140 || got.AuthPass != "cnf10_dn" || !slices.Equal(got.Peers, []netip.Addr{ip("192.0.2.11")}) {
		t.Errorf("instance %+v", got)
	}
	if command := Container(r.options.Plan).Command; !slices.Contains(command, "192.0.2.7") {
		t.Errorf("its supervisor would leave it behind: %q", command)
	}
	seen.Conflicts = map[netip.Addr]conflict.Finding{ip("192.0.2.7"): {Holder: foreign.Holder}}
	if d, _ := r.Decide(seen); len(d.Conflicts) != 1 || len(d.Config.Instances) != 1 {
		t.Errorf("held by another host: %q, %+v", d.Conflicts, d.Config.Instances)
	}
	seen.Conflicts, seen.Verdict = nil, release.Verdict{Why: "the API is gone"}
	if d, _ := r.Decide(seen); !d.Released || len(d.Config.Instances) != 0 {
		t.Errorf("after the hand-over: %+v", d)
	}
}
