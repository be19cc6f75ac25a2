package nodestate

import (
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestMemory holds that each field of a memory counts and survives a reboot, and that a damaged file,
// or one of another kind, gives nothing.
func TestMemory(t *testing.T) {
	for name, m := range map[string]Memory{
		"the gate":              {Open: true},
		"the bootstrap machine": {BootstrapGone: true},
		"a node": {Nodes: []member.Node{
			{Candidate: addr.Candidate{Name: "n1"}, ControlPlane: true, Rank: "1"},
		}},
		"a candidate": {Candidates: []notice.Candidate{{Name: "n2"}}},
		"the rank":    {Rank: "2"},
		"the label":   {Apart: true},
		"an instance": {Started: []vrrp.InstanceName{"ostest_API_0"}},
	} {
		text := Encode(m)
		got, err := Decode(text)
		if err != nil || !got.Equal(m) || got.Equal(Memory{}) {
			t.Errorf("%s: %+v, %v after a reboot, want %+v", name, got, err, m)
		}
		if got, err := Decode(text[:len(text)-3]); err == nil || !got.Equal(Memory{}) {
			t.Errorf("%s: %+v, %v of a damaged file", name, got, err)
		}
	}
	if got, err := Decode([]byte(`{"open": true, "rank": 2}`)); err == nil || !got.Equal(Memory{}) {
		t.Errorf("%+v, %v of a file of another kind", got, err)
	}
}
