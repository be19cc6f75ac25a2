package figures

import (
	"reflect"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/traffic"
)

func TestSum(t *testing.T) {
	var s Sum
	if got := s.Line("bgp/lan", Leave, 0); got.Runs != 0 || got.MaxMs != 0 {
		t.Errorf("nothing was measured: %+v", got)
	}
	s.Add(30*time.Millisecond, 2, 100)
	s.Add(0, 0, 90)
	s.Add(50*time.Millisecond, 3, 110)
	s.Add(10*time.Millisecond, 1, 100)
	s.Excused = 4
	want := Line{Profile: "bgp/lan", Scenario: PowerLoss, Figure: Last, Runs: 4, MedianMs: 20, MaxMs: 50, Failed: 6, Requests: 400, BoundMs: 420, FailedMax: 3, Excused: 4}
	if got := s.Line("bgp/lan", PowerLoss, 420*time.Millisecond); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestWanted(t *testing.T) {
	if !Wanted(t, Leave) {
		t.Error("without a choice not all is wanted")
	}
	t.Setenv(Only, Leave+"|"+Reboot)
	if !Wanted(t, KillBGP, Reboot) || Wanted(t, KillBGP) || Wanted(t, Leave+"s") {
		t.Error("what is wanted is not what was chosen")
	}
}

// TestUnexcused holds that only a client which waited is excused, and only beside another one.
func TestUnexcused(t *testing.T) {
	begin := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	at := func(ms int, o traffic.Outcome) traffic.Request {
		start := begin.Add(time.Duration(ms) * time.Millisecond)
		return traffic.Request{Start: start, End: start.Add(200 * time.Millisecond), Outcome: o}
	}
	failed := traffic.Requests{at(0, traffic.Silent), at(1900, traffic.Late), at(2000, traffic.Refused), at(4000, traffic.Late)}
	others := traffic.Requests{at(1500, traffic.Silent), at(4000, traffic.Served)}
	if got := Unexcused(failed, others); !reflect.DeepEqual(got, traffic.Requests{failed[0], failed[2], failed[3]}) {
		t.Errorf("%v", got)
	}
}
