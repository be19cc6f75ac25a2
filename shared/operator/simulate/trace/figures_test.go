package trace

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/schedule"
)

// TestFigures holds how the client's waits are counted.
func TestFigures(t *testing.T) {
	ms := func(n int) time.Duration { return time.Duration(n) * time.Millisecond }
	r := Result{
		Cluster:  schedule.Cluster{Client: ms(10)},
		Schedule: schedule.Schedule{Length: ms(1000), Faults: []schedule.Fault{{At: ms(300)}}},
	}
	for at := 0; at < 1000; at += 10 {
		q := Request{At: ms(at), Outcome: Served}
		if at > 100 && at < 250 || at > 300 && at < 550 || at > 600 && at < 750 {
			q.Outcome = Late
		}
		r.Requests = append(r.Requests, q)
	}
	if got := r.LongestGap(); got != ms(250) {
		t.Errorf("blackout %v, want 250ms: what was before the fault does not count", got)
	}
	if got := r.TotalGap(); got != ms(400) {
		t.Errorf("dark for %v, want 400ms", got)
	}
	r.Requests = r.Requests[:61]
	if got := r.LongestGap(); got != ms(400) {
		t.Errorf("outage %v, want 400ms: no request was served any more", got)
	}
}

// TestTimeline_Marks holds that what happens at one time is one mark, which names each host.
func TestTimeline_Marks(t *testing.T) {
	at := 300 * time.Millisecond
	r := Result{Schedule: schedule.Schedule{Length: time.Second, Faults: []schedule.Fault{{At: at}}}, Notes: []Note{
		{At: at, Host: "master-0", Text: "kill-lb"}, {At: at, Host: "master-0", Text: "kill-api"},
		{At: at, Host: "master-1", Text: "kill-lb"}, {At: at, Host: "master-1", Text: "releases"},
		{At: 2 * at, Host: "master-1", Text: "MASTER"},
	}}
	marks := r.Timeline("", "").Marks
	if len(marks) != 2 || marks[0].Label != "master-0 kill-lb, kill-api, master-1 kill-lb, releases" ||
		marks[1].Label != "master-1 MASTER" {
		t.Errorf("%+v", marks)
	}
}
