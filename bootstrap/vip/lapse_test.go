package vip

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/addr/peer"
	"github.com/onprem-infra/onprem-infra/shared/election"
)

// TestLapse holds that the bootstrap machine goes on speaking to a control plane node whose object
// loses its address for a moment (K-16): the node listens there all the while, and would take the
// VIP. One that is deleted is a peer for a moment more.
func TestLapse(t *testing.T) {
	r, h, _, _ := room(t, nil)
	at := time.Unix(1000, 0)
	m0, m1 := master("m0", "192.0.2.11"), master("m1", "192.0.2.12")
	for _, tt := range []struct {
		when  string
		after time.Duration
		nodes []addr.Candidate
		want  string
	}{
		{"both", 0, []addr.Candidate{m0, m1}, "192.0.2.11 192.0.2.12"},
		{"one loses its address", time.Second, []addr.Candidate{master("m0"), m1}, "192.0.2.11 192.0.2.12"},
		{"for a while", peer.Lapse - time.Second, []addr.Candidate{master("m0"), m1}, "192.0.2.11 192.0.2.12"},
		{"for good", time.Second, []addr.Candidate{master("m0"), m1}, "192.0.2.12"},
		{"it is back", time.Second, []addr.Candidate{m0, m1}, "192.0.2.11 192.0.2.12"},
		{"it is deleted", time.Second, []addr.Candidate{m1}, "192.0.2.11 192.0.2.12"},
		{"a moment later", peer.Gone, []addr.Candidate{m1}, "192.0.2.12"},
	} {
		at = at.Add(tt.after)
		d, why := r.Decide(Snapshot{At: at, Links: h.links, Nodes: tt.nodes, Verdict: hold})
		if len(d.Config.Instances) != 1 || election.Join(d.Config.Instances[0].Peers) != tt.want {
			t.Errorf("%s: %+v, want the peers %s: %q", tt.when, d.Config.Instances, tt.want, why)
		}
	}
}
