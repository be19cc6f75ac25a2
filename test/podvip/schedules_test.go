package podvip

import (
	"context"
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"slices"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/engine"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// stricken is a site under a schedule of faults.
type stricken struct {
	*site
	observer *lab.Observer
	foreign  *lab.Host // a machine with another DHCP server, which is off
	unlisted *worker   // a host that is none of the cluster's
	busy     map[string]bool
	runs     int // which node runs Ironic
}

// drawn is a schedule of one to three faults, after the cluster's own server was on. A node has one
// of them at most, and what the simulation calls minutes are seconds here.
func drawn(seed uint64) schedule.Schedule {
	random := schedule.NewRand(seed)
	within := func(least, most time.Duration) time.Duration {
		return (least + time.Duration(random.Int64N(int64(most-least)))).Round(time.Millisecond)
	}
	kinds := []schedule.Kind{schedule.PowerOff, schedule.PowerOff, schedule.CutMachine, schedule.CutBoot, schedule.Foreign,
		schedule.KillDHCP, schedule.KillIronic, schedule.MoveIronic}
	s := schedule.Schedule{Seed: seed}
	var hit []string
	for range 1 + random.IntN(3) {
		f := schedule.Fault{After: schedule.Taken, Kind: kinds[random.IntN(len(kinds))], At: within(0, 5*time.Second), For: within(2*time.Second, 8*time.Second)}
		switch f.Kind {
		case schedule.Foreign:
			f.Host = schedule.Network
		case schedule.KillDHCP:
			f.Host, f.For = schedule.Holder, time.Second // as kubelet starts it again
		case schedule.KillIronic, schedule.MoveIronic:
			f.Host, f.For = schedule.Pod, 0
		default:
			f.Host = []string{schedule.Holder, schedule.Holder, "m1", "m2", "m3"}[random.IntN(5)]
		}
		if !slices.Contains(hit, f.Host) {
			hit, s.Faults = append(hit, f.Host), append(s.Faults, f)
		}
	}
	slices.SortFunc(s.Faults, func(a, b schedule.Fault) int { return int(a.At - b.At) })
	return s
}

// begin begins a fault, and returns what ends it.
func (s *stricken) begin(f schedule.Fault) (end func()) {
	nothing := func() {}
	n := s.holder(s.observer)
	for _, one := range s.nodes {
		if one.Host.Name == f.Host {
			n = one
		}
	}
	switch f.Kind {
	case schedule.Foreign:
		return s.serveForeign()
	case schedule.KillIronic, schedule.MoveIronic:
		s.endIronic()
		s.place(f.Kind == schedule.MoveIronic)
		return nothing
	}
	if n == nil || s.busy[n.Host.Name] {
		s.t.Logf("nothing happens: %v", f)
		return nothing
	}
	name := n.Host.Name
	if f.Kind == schedule.KillDHCP { // kubelet starts it again
		if err := n.Signal("provisioning/dnsmasq-monitor", syscall.SIGKILL); err != nil {
			s.t.Error(err)
		}
		return nothing
	}
	s.busy[name] = true
	card := map[schedule.Kind]string{schedule.CutMachine: "eth0", schedule.CutBoot: "eno2"}[f.Kind]
	if card != "" {
		s.card(n.Host, card, "down")
		return func() { s.card(n.Host, card, "up"); s.busy[name] = false }
	}
	s.card(n.Host, "eno2", "down")
	if err := n.Off(); err != nil {
		s.t.Error(err)
	}
	if out, err := n.Host.Command(s.t.Context(), "ip", "address", "flush", "dev", "eno2").CombinedOutput(); err != nil {
		s.t.Errorf("%v: %s", err, out)
	}
	if s.ironic[name] != nil { // another node runs it
		s.endIronic()
		s.place(true)
	}
	return func() {
		if err := errors.Join(n.Host.On(), n.redirect()); err != nil {
			s.t.Error(err)
		}
		s.card(n.Host, "eno2", "up")
		n.start()
		s.busy[name] = false
	}
}

func (s *stricken) card(of *lab.Host, name, state string) {
	if out, err := of.Command(s.t.Context(), "ip", "link", "set", name, state).CombinedOutput(); err != nil {
		s.t.Errorf("%v: %s", err, out)
	}
}

func (s *stricken) endIronic() { s.ironic[s.nodes[s.runs].Host.Name]() }

// place has Ironic answer again, a second after it ended: where it was, or on the next node that can
// run it, as Kubernetes does.
func (s *stricken) place(elsewhere bool) {
	was := s.runs
	time.Sleep(time.Second)
	for i := range s.nodes {
		n := s.nodes[(was+i)%len(s.nodes)]
		if elsewhere && i == 0 || s.busy[n.Host.Name] {
			continue
		}
		s.runs = (was + i) % len(s.nodes)
		s.startIronic(n.Host)
		return
	}
}

// serveForeign has another DHCP server answer all hosts with addresses of its own.
func (s *stricken) serveForeign() (end func()) {
	ctx, cancel := context.WithCancel(s.t.Context())
	cmd := s.foreign.Command(ctx, need.Command(s.t, "dnsmasq"), "--no-daemon", "--conf-file=/dev/null", "--port=0", "--interface=eno2",
		"--bind-interfaces", "--dhcp-range=172.22.0.240,172.22.0.250,1h", "--dhcp-leasefile="+s.dir+"/foreign.leases", "--dhcp-authoritative")
	if err := cmd.Start(); err != nil {
		s.t.Error(err)
	}
	return func() {
		cancel()
		_ = cmd.Wait() // it was killed
		if err := os.Remove(s.dir + "/foreign.leases"); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.t.Error(err)
		}
	}
}

// play runs a schedule, waits until the worker is answered by one node for good, and judges.
func (s *stricken) play(run schedule.Schedule) {
	s.t.Helper()
	begun := time.Now()
	type change struct {
		at time.Time
		do func()
	}
	var changes []change
	for _, f := range run.Faults {
		changes = append(changes, change{begun.Add(f.At), func() {
			end := s.begin(f)
			changes = append(changes, change{time.Now().Add(f.For), end})
		}})
	}
	for len(changes) > 0 {
		slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
		next := changes[0]
		changes = changes[1:]
		time.Sleep(time.Until(next.at))
		next.do()
	}
	over := time.Now()
	s.until("one node answers the worker", 2*time.Minute, func() bool {
		return s.holder(s.observer) != nil && s.worker.answeredAfter(over) && s.worker.answeredAfter(time.Now().Add(-2*every))
	})
	s.t.Logf("%v after the last fault one node answers", time.Since(over).Round(10*time.Millisecond))
	s.judge(run, begun)
}

// judge holds the rules I1, I2, I4 and I5 of a run, by what was on the wire.
func (s *stricken) judge(run schedule.Schedule, begun time.Time) {
	s.t.Helper()
	for _, w := range []*worker{s.worker, s.unlisted} {
		for _, text := range w.wrong() { // of a foreign server nothing else is to be expected
			if text[0] == 'm' {
				s.t.Errorf("an answer that is not the plan's: %s", text)
			}
		}
	}
	split := slices.ContainsFunc(run.Faults, func(f schedule.Fault) bool { return f.Kind == schedule.CutMachine })
	answers, spans := s.worker.answers(begun), s.observer.Report().Spans
	for i, a := range answers {
		if i > 1 && !split && answers[i-1].by != a.by && answers[i-2].by == a.by && a.at.Sub(answers[i-2].at) < time.Second {
			s.t.Errorf("%s and %s answer at the same time", a.by, answers[i-1].by)
		}
		// noise is how late the observer, or this process, may see something.
		const noise = 200 * time.Millisecond
		if !slices.ContainsFunc(spans, func(span lab.Span) bool {
			return span.From.Before(a.at.Add(noise)) && (span.To.IsZero() || span.To.After(a.at.Add(-noise))) && slices.Contains(span.Holders, a.by)
		}) {
			s.t.Errorf("%s answered at %v, and has not the address then", a.by, a.at.Sub(begun))
		}
	}
}

// TestLongSchedules plays seeded schedules of faults on the cluster's side of an installation, on
// real parts, and simulates each of them too: neither breaks a rule.
func TestLongSchedules(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	const seeds = 20
	site := openSite(t)
	s := &stricken{site: site, observer: site.holders(), foreign: site.add("foreign", "192.0.2.60"), busy: map[string]bool{}}
	if err := s.foreign.Wire(s.network, "eno2", hostCard(98)); err != nil {
		t.Fatal(err)
	}
	if out, err := s.foreign.Command(t.Context(), "ip", "address", "add", "172.22.0.239/24", "dev", "eno2").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	s.unlisted = s.askAs(s.plug(s.add("unlisted", "192.0.2.70"), hostCard(97)), func(netip.Addr) bool { return false })
	s.startIronic(s.nodes[s.runs].Host)
	s.until("the worker is answered", time.Minute, func() bool { return !s.worker.last().IsZero() })
	simulated, err := schedule.Of(s.plan)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(seeds) {
		run := drawn(seed)
		t.Log(run)
		if err := simulated.Check(run); err != nil {
			t.Fatal(err)
		}
		if r := engine.Run(simulated, run); len(r.Broken) > 0 || r.Joined < 0 {
			t.Errorf("simulated:\n%s", r.Text())
		}
		s.play(run)
	}
}
