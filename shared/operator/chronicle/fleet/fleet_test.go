package fleet

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

var begin = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// m is so many minutes after the begin.
func m(minutes float64) time.Time {
	return begin.Add(time.Duration(minutes * float64(time.Minute)))
}

// op is an operation between two minutes; a negative end has not come.
func op(from, to float64) workers.Operation {
	if to < 0 {
		return workers.Operation{Start: m(from)}
	}
	return workers.Operation{Start: m(from), End: m(to)}
}

// a host in a state, with what metal3 did of register, inspect, provision and deprovision.
func of(name, state string, ops ...workers.Operation) workers.Host {
	h := workers.Host{Host: scale.Host{Name: name, State: state, On: true}, Updated: m(60)}
	for i, to := range []*workers.Operation{&h.Register, &h.Inspect, &h.Provision, &h.Deprovision} {
		if i < len(ops) {
			*to = ops[i]
		}
	}
	return h
}

// example has hosts that joined, that go on, that go no further, and that wait.
func example() workers.World {
	failed := of("w2", "inspecting", op(1, 1.5), op(1.5, -1))
	failed.Fault, failed.Problem, failed.Failures, failed.Updated = "inspection error", "timeout \x1b[2J", 1, m(31.5)
	noBMC := of("w3", "registering", op(5, -1))
	noBMC.Fault, noBMC.Problem, noBMC.Failures, noBMC.Updated = "registration error", "401", 4, m(20)
	waiting := of("w8", "")
	waiting.Paused, waiting.Handover = true, true
	other := of("m0", "externally provisioned")
	other.External = true
	return workers.World{Ironic: workers.Ironic{Ready: true, Since: m(0)}, Hosts: []workers.Host{
		other, of("w0", "provisioned", op(1, 1.5), op(1.5, 7), op(8, 20)), of("w1", "provisioned", op(1, 2), op(2, 8), op(8, 20)),
		failed, noBMC, of("w4", "provisioning", op(5.2, 6), op(6, 12), op(50, -1)), of("w5", "available", op(5.9, 7), op(7, 14)),
		of("w6", "deprovisioning", op(5.9, 7), op(7, 14), op(20, 30), op(55, -1)), of("w7", "provisioned", op(40, 41), op(7, 14), op(15, 27)), waiting, of("w9", "")},
		Nodes: []workers.Node{{Name: "w0", Created: m(25), Ready: true, Since: m(26)}, {Name: "w6", Created: m(35), Ready: true, Since: m(36)},
			{Name: "w7", Created: m(32), Ready: true, Since: m(32 + 600)}, {Name: "m0", Ready: true}}}
}

// text is what a report has of a fleet.
func text(f Fleet, ended time.Time) string {
	times := f.Times()
	slices.SortFunc(times, time.Time.Compare)
	end := times[len(times)-1]
	f = f.Until(end)
	rows := f.Rows(ended, end)
	slices.SortStableFunc(rows, func(a, b Row) int { return a.At.Compare(b.At) })
	var out strings.Builder
	for _, r := range rows {
		fmt.Fprintf(&out, "%s %v %s %s: %s: %s\n", r.At.Sub(begin), r.Alarm, r.Host, r.Source, r.What, r.Why)
	}
	at := func(t time.Time) time.Duration { return t.Sub(begin) }
	for _, l := range f.Lanes(Frame{At: at, End: at(end), Edge: at(end) + time.Minute}) {
		fmt.Fprintf(&out, "%s\n", l.Name)
		for _, r := range l.Rows {
			for _, s := range r.Spans {
				fmt.Fprintf(&out, "  %s %s..%s %s: %s\n", r.Name, s.From, s.To, s.Tone, s.Label)
			}
		}
	}
	return out.String() + strings.Join(f.Notes(), ".\n") + "\n"
}

// TestFleet holds each host's lane, its rows with how long each phase took, the batches of the
// handover, and what is noted of hosts that have not joined.
func TestFleet(t *testing.T) {
	golden.Check(t, []byte(text(Of(example()), begin.Add(-41*time.Second))))
}

// TestOf_Saved holds that of a host that was registered again the first time is not lost if an earlier
// file has it, and that the last file has the host's state, in whichever order they are named.
func TestOf_Saved(t *testing.T) {
	early := workers.World{Hosts: []workers.Host{of("w0", "provisioning", op(1, 2), op(2, 7), op(8, -1))}}
	early.Hosts[0].Updated = m(8)
	early.Operator, early.Ironic = scale.Operator{Exists: true, Paused: true}, workers.Ironic{Pods: 1, Since: m(7)}
	late := workers.World{Hosts: []workers.Host{of("w0", "provisioned", op(30, 31), op(2, 7), op(8, 20))}, Nodes: []workers.Node{{Name: "w0", Created: m(25), Ready: true, Since: m(26)}},
		Operator: scale.Operator{Exists: true}, Ironic: workers.Ironic{Ready: true, Pods: 1, Since: m(9)}}
	alone := text(Of(late), time.Time{})
	if !strings.Contains(alone, "w0 metal3: it was registered again: when it was so first is not known: metal3's operationHistory keeps the last time alone\n") {
		t.Error(alone)
	}
	both := text(Of(early, late), time.Time{})
	for _, want := range []string{"1m0s false w0 metal3: its registration begins: ", "30m0s false w0 metal3: its registration begins: ", "20m0s false w0 metal3: it is provisioned: after 12 m\n", "1 of 1 hosts"} {
		if !strings.Contains(both, want) {
			t.Errorf("no %q in\n%s", want, both)
		}
	}
	if strings.Contains(both, "is not known") || strings.Count(both, "8m0s false w0 metal3: its provisioning begins") != 1 {
		t.Error(both)
	}
	if strings.Contains(both, "is paused") || !strings.Contains(both, "the cluster's own Ironic is ready") {
		t.Error(both)
	}
	if swapped := text(Of(late, early), time.Time{}); swapped != both {
		t.Errorf("%s\nand in the other order\n%s", both, swapped)
	}
}

// TestFleet_Joined holds that no state but "provisioned" makes a host that has a Node one that joined.
func TestFleet_Joined(t *testing.T) {
	at := func(t time.Time) time.Duration { return t.Sub(begin) }
	for _, state := range []string{"provisioned", "externally provisioned", "deprovisioning", "deprovisioned", "provisioning", ""} {
		f := Of(workers.World{Hosts: []workers.Host{of("w0", state, op(1, 2), op(2, 3), op(3, 4))}, Nodes: []workers.Node{{Name: "w0", Created: m(5), Ready: true, Since: m(6)}}}).Until(m(60))
		joined := 0
		for _, l := range f.Lanes(Frame{At: at, End: time.Hour, Edge: time.Hour}) {
			for _, r := range l.Rows {
				joined += strings.Count(fmt.Sprint(r.Spans), string(timeline.Joined))
			}
		}
		joined += strings.Count(fmt.Sprint(f.Rows(time.Time{}, m(60))), "its Node is Ready") + strings.Count(strings.Join(f.Notes(), "\n"), "1 of 1 hosts")
		if want := map[string]int{"provisioned": 3}[state]; joined != want {
			t.Errorf("%q: %d times joined, want %d", state, joined, want)
		}
	}
}
