package ledger

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// TestFold_Handover holds that provisioning is taken back within the handover alone, and not after a host
// of the cluster could begin, whatever a journal has; and that phases go on from there.
func TestFold_Handover(t *testing.T) {
	phase := func(p progress.Phase) Entry { return Entry{Kind: Phase, Phase: p} }
	back, again, released := Entry{Kind: Back}, Entry{Kind: Again}, Entry{Kind: Released, Hosts: []string{"w"}}
	for name, tt := range map[string]struct {
		all  []Entry
		want progress.Phase
		held bool
		at   int // of the handover's last change, by its entry; 0 for none
	}{
		"begun":                  {[]Entry{phase(progress.Deploy), phase(progress.Announce), phase(progress.Takeover)}, progress.Takeover, false, 2},
		"before":                 {[]Entry{phase(progress.Settle), back}, progress.Settle, false, 0},
		"after the end":          {[]Entry{phase(progress.Announce), phase(progress.Ended), back}, progress.Ended, false, 1},
		"after a host has begun": {[]Entry{phase(progress.Announce), phase(progress.Release), released, back}, progress.Release, false, 1},
		"taken back":             {[]Entry{phase(progress.Announce), phase(progress.Release), back}, progress.TakeBack, true, 3},
		"all goes on again":      {[]Entry{phase(progress.Announce), back, phase(progress.Address), phase(progress.Deploy)}, progress.Deploy, true, 2},
		"twice":                  {[]Entry{phase(progress.Announce), back, phase(progress.Deploy), back}, progress.Deploy, true, 2},
		"handed over again":      {[]Entry{phase(progress.Announce), back, phase(progress.Deploy), again}, progress.Deploy, false, 4},
		"on where it was":        {[]Entry{phase(progress.Announce), back, again, phase(progress.AddrOff)}, progress.AddrOff, false, 3},
		"again, and not before":  {[]Entry{phase(progress.Announce), again}, progress.Announce, false, 1},
		"it never goes back":     {[]Entry{phase(progress.Announce), back, phase(progress.Deploy), phase(progress.TakeBack)}, progress.Deploy, true, 2},
	} {
		for i := range tt.all {
			tt.all[i].Time = at(i + 1)
		}
		m := Fold(tt.all)
		since := time.Time{}
		if tt.at > 0 {
			since = at(tt.at)
		}
		if m.Phase != tt.want || m.Held.IsZero() == tt.held || !m.HandoverSince.Equal(since) {
			t.Errorf("%s: %s, held %v, %v", name, m.Phase, m.Held, m.HandoverSince)
		}
		if m.Phase == progress.Deploy && m.Deploy.IsZero() {
			t.Errorf("%s: no time of the deployment", name)
		}
	}
	m := Fold([]Entry{{Time: at(1), Kind: Phase, Phase: progress.Deploy}, {Time: at(2), Kind: Phase, Phase: progress.Announce}, {Time: at(5), Kind: Back}, {Time: at(7), Kind: Phase, Phase: progress.Deploy}})
	if !m.Deploy.Equal(at(7)) || m.Took[progress.Announce] != 3*time.Second || m.Took[progress.TakeBack] != 2*time.Second {
		t.Errorf("%v, %v", m.Deploy, m.Took)
	}
}
