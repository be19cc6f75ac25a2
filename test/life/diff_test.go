package life

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// diffReport is what diff prints for programs.
type diffReport struct {
	Changes []drift.Change `json:"changes"`
	Worst   drift.Level    `json:"worst"`
	Refused string         `json:"refused"`
}

// of are the pods that effects of a level are about.
func (d diffReport) of(levels ...drift.Level) []string {
	all := []string{}
	for _, c := range d.Changes {
		for _, e := range c.Effects {
			if slices.Contains(levels, e.Level) {
				all = append(all, e.Of...)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// editor changes what the nodes of a cluster are given.
type editor struct {
	*clinic
	crowd *Crowd
	now   []byte // the description by which the nodes live
}

// describe writes a description to a file: the nodes' own with something changed.
func (e *editor) describe(change func(spec map[string]any)) (file string, text []byte) {
	e.Helper()
	var document map[string]any
	e.must(json.Unmarshal(e.now, &document))
	change(document["spec"].(map[string]any))
	text, err := json.MarshalIndent(document, "", "  ")
	e.must(err)
	file = filepath.Join(e.Machine.Scratch(), "described.json")
	e.must(os.WriteFile(file, text, 0o644))
	return file, text
}

// diff asks what differs on a node, and what mending it does.
func (e *editor) diff(n *Node, file string, flags ...string) (d diffReport) {
	e.Helper()
	args := append([]string{"diff", "--role", n.role, "-c", file, "--root", n.Root, "-o", "json"}, flags...)
	out, err := exec.Command(filepath.Join(e.Programs(), "onprem-infra"), args...).Output()
	var ended *exec.ExitError
	if err != nil && (!errors.As(err, &ended) || ended.ExitCode() != 1) {
		e.Fatalf("diff on %s: %v", n.Name, err)
	}
	if err := json.Unmarshal(out, &d); err != nil || (ended == nil) != (len(d.Changes) == 0) {
		e.Fatalf("diff on %s says %s: %v", n.Name, out, err)
	}
	return d
}

// apply gives a node the plan's files that diff has named, as whoever manages its files does, and
// has kubelet begin anew the pods whose manifests are others.
func (e *editor) apply(n *Node, file string, d diffReport, flags ...string) {
	e.Helper()
	tree, err := os.MkdirTemp(e.Machine.Scratch(), "tree-")
	e.must(err)
	if len(flags) > 0 { // the former settings show what migrates
		e.must(os.CopyFS(tree, os.DirFS(n.Root+"/etc/onprem-infra")))
		e.must(os.MkdirAll(filepath.Join(tree, path.Dir(plan.Path)), 0o755))
		e.must(os.Rename(filepath.Join(tree, "cluster.json"), filepath.Join(tree, plan.Path)))
	}
	args := append([]string{"render", "--role", n.role, "-c", file, "--out", tree}, flags...)
	if out, err := exec.Command(filepath.Join(e.Programs(), "onprem-infra"), args...).CombinedOutput(); err != nil {
		e.Fatalf("render: %v: %s", err, out)
	}
	for _, c := range d.Changes {
		if c.Kind == drift.LeftOver {
			continue
		}
		info, err := os.Stat(filepath.Join(tree, c.Path))
		e.must(err)
		text, err := os.ReadFile(filepath.Join(tree, c.Path))
		e.must(err)
		beside := filepath.Join(n.Root, c.Path+".new")
		e.must(os.MkdirAll(filepath.Dir(beside), 0o755))
		e.must(os.WriteFile(beside, text, info.Mode()))
		e.must(os.Chmod(beside, info.Mode()))
		e.must(os.Rename(beside, filepath.Join(n.Root, c.Path)))
		if path.Dir(c.Path) == "/etc/kubernetes/manifests" {
			e.must(n.Stop(strings.TrimSuffix(path.Base(c.Path), ".yaml")))
			e.must(n.Start(e.Context()))
		}
	}
}

// seen is what one can see of a node's daemons from outside.
type seen struct {
	programs map[string]int // the first process of each container
	read     map[string]int // how often a pod's daemon has logged that it read its configuration again
}

// words are what a daemon logs when it has read its configuration again.
var words = map[string]string{Keepalived: "Reload complete", HAProxy: "Reloading HAProxy", CoreDNS: "Reloading complete"}

func inspect(n *Node) (s seen, err error) {
	s = seen{map[string]int{}, map[string]int{}}
	for _, c := range n.Containers() {
		pid, err := n.PID(c)
		if err != nil {
			return s, err
		}
		s.programs[c] = pid
		if word := words[c]; word != "" {
			s.read[path.Dir(c)] = strings.Count(n.Log(c), word)
		}
	}
	return s, nil
}

func (s seen) equal(o seen) bool {
	return maps.Equal(s.programs, o.programs) && maps.Equal(s.read, o.read)
}

// rests waits until a node's daemons and monitors have been what they are for some seconds, and
// none of the monitors is the one that it was.
func (e *editor) rests(n *Node, before seen, anew bool) (now seen) {
	e.Helper()
	var since time.Time
	e.must(Until(e.Context(), time.Minute, func() error {
		s, err := inspect(n)
		if err != nil {
			return err
		}
		if !s.equal(now) {
			now, since = s, time.Now()
		}
		for c, pid := range before.programs {
			if anew && strings.HasSuffix(c, "-monitor") && s.programs[c] == pid {
				return fmt.Errorf("%s of %s has not begun anew", c, n.Name)
			}
		}
		if rest := time.Since(since); rest < 3*time.Second {
			return fmt.Errorf("%s has been as it is for %v", n.Name, rest)
		}
		return nil
	}))
	return now
}

// became reports what happened to a node's pods between two observations: whose daemons have read
// their configuration again, and which began anew.
func (s seen) became(now seen) (read, anew []string) {
	read, anew = []string{}, []string{}
	for pod, n := range now.read {
		switch daemon := pod + "/" + pod; {
		case s.programs[daemon] != now.programs[daemon]:
			anew = append(anew, pod)
		case n > s.read[pod]:
			read = append(read, pod)
		}
	}
	slices.Sort(read)
	slices.Sort(anew)
	return read, anew
}

// moves reports which host came to hold a VIP since a time, and how long two did.
func moves(r lab.Report, since time.Time, former string) (to []string, two time.Duration) {
	for _, span := range r.Spans {
		if span.To.Before(since) {
			continue
		}
		if len(span.Holders) > 1 {
			two += span.Length()
		}
		for _, h := range span.Holders {
			if h != former && !slices.Contains(to, h) {
				to = append(to, h)
			}
		}
	}
	return to, two
}

// amendment is a change that a person wants to make to the cluster, or has made to a
// node by hand and the plan undoes.
type amendment struct {
	name  string
	spec  func(spec map[string]any) // nil for the cluster as it is
	hand  map[string]func(string) string
	flags []string
	on    func(e *editor) []*Node
	want  drift.Level // that diff predicts, on the first of them
	check func(e *editor, s aftermath) error
}

// aftermath is what came of an amendment.
type aftermath struct {
	first      *Node
	begin      time.Time
	read, anew []string // on the first node
	api        []string // which host came to hold the API's VIP beside or after its holder
	two        time.Duration
	cut        int // watches
}

func everyone(e *editor) []*Node  { return e.all() }
func theOther(e *editor) []*Node  { return []*Node{e.other} }
func theHolder(e *editor) []*Node { return []*Node{e.holder} }

func set(key string, value any) func(map[string]any) {
	return func(s map[string]any) { s[key] = value }
}

func more(text string) string { return text + "# by hand\n" }

// image has the pods of one of the keys have another image, which is the same under another name.
func image(e *editor, key string) func(map[string]any) {
	return func(s map[string]any) {
		images := s["images"].(map[string]any)
		former := images[key].(string)
		e.images[former+"-next"] = e.images[former]
		images[key] = former + "-next"
	}
}

// moved reports whether the API's VIP has left its holder.
func moved(_ *editor, s aftermath) error {
	if len(s.api) == 0 {
		return errors.New("the API's VIP has not moved")
	}
	return nil
}

func amendments(e *editor) []amendment {
	return []amendment{
		{name: "nothing at all", on: theHolder, want: drift.Nothing},
		{name: "a file that is none of ours", hand: map[string]func(string) string{"/etc/motd": more, "/etc/onprem-infra/notes": more}, on: theHolder, want: drift.Nothing},
		{name: "a script that nothing runs", hand: map[string]func(string) string{"/etc/kubernetes/static-pod-resources/keepalived/scripts/chk_ingress.sh": more}, on: theHolder, want: drift.Nothing},
		{name: "a unit", hand: map[string]func(string) string{"/etc/systemd/system/onprem-vip-leave.service": more}, on: theHolder, want: drift.Later},
		{name: "metrics", spec: set("metrics", "node"), on: theHolder, want: drift.Reload},
		{name: "who has the records", spec: set("dnsRecords", "External"), on: theHolder, want: drift.Reload},
		{name: "a port of HAProxy", spec: set("ports", map[string]any{"lb-stats": 29999}), on: theHolder, want: drift.MayMove},
		{name: "a machine network more", spec: func(s map[string]any) { s["machineNetworks"] = append(s["machineNetworks"].([]any), "198.51.100.0/24") }, on: everyone, want: drift.MayMove},
		{name: "another ingress VIP", spec: set("ingressVIPs", []string{"192.0.2.8"}), on: everyone, want: drift.Moves, check: moved},
		{name: "a DNS VIP", spec: set("dnsVIP", "192.0.2.7"), on: everyone, want: drift.Moves, check: moved},
		{name: "another image of HAProxy", spec: image(e, spec.HAProxyImage), on: theHolder, want: drift.MayMove},
		{name: "another image of CoreDNS", spec: image(e, spec.CoreDNSImage), on: theHolder, want: drift.Restart},
		{name: "keepalived's pod, on who holds nothing", spec: image(e, spec.KeepalivedImage), on: theOther, want: drift.Moves, check: func(_ *editor, s aftermath) error {
			if len(s.api) > 0 || s.cut > 0 {
				return fmt.Errorf("it held nothing, and the VIP went to %v, and %d watches were cut", s.api, s.cut)
			}
			return nil
		}},
		{name: "keepalived's pod, on the holder", spec: image(e, spec.KeepalivedImage), on: theHolder, want: drift.Moves, check: moved},
		{name: "another timing", spec: set("timing", "compat"), on: theOther, want: drift.TwoHolders, check: func(e *editor, s aftermath) error {
			if s.two < time.Second {
				return fmt.Errorf("two held the VIP for %v alone", s.two)
			}
			return nil
		}},
		{name: "another timing, by a migration", spec: set("timing", "vm"), flags: []string{"--migrate"}, on: everyone, want: drift.MayMove},
	}
}

// stays holds what the levels promise of VIPs, connections and pods.
func (s aftermath) stays(d diffReport) (faults []string) {
	if d.Worst.Compare(drift.MayMove) < 0 && (len(s.api) > 0 || s.two > 0 || s.cut > 0) {
		faults = append(faults, fmt.Sprintf("%s: the VIP went to %v, two held it for %v, and %d watches were cut", d.Worst, s.api, s.two, s.cut))
	}
	begin := d.of(drift.Restart, drift.MayMove, drift.Moves)
	predicted := slices.DeleteFunc(d.of(drift.Reload), func(pod string) bool { return slices.Contains(begin, pod) })
	if !slices.Equal(predicted, s.read) {
		faults = append(faults, fmt.Sprintf("these read their configuration again: %v, and diff says %v", s.read, predicted))
	}
	if predicted := begin; !slices.Equal(predicted, s.anew) {
		faults = append(faults, fmt.Sprintf("these pods began anew: %v, and diff says %v", s.anew, predicted))
	}
	if d.Worst != drift.TwoHolders && s.two > time.Second {
		faults = append(faults, fmt.Sprintf("two hosts held the VIP for %v, and diff does not say so", s.two))
	}
	return faults
}

// TestLongDiff compares what diff prints of a change with what comes of it, on nodes that live.
func TestLongDiff(t *testing.T) {
	needLong(t)
	e := &editor{clinic: newClinic(t)}
	e.must(e.worker.StartRouter())
	text, err := os.ReadFile(filepath.Join(e.holder.Root, plan.Path))
	e.must(err)
	e.now = text
	e.crowd = e.attend(2 * time.Second)
	e.forgets()
	for _, a := range amendments(e) {
		t.Run(a.name, func(t *testing.T) { e.try(t, a) })
	}
}

// forgets waits until no node expects a bootstrap machine any more: a minute after one of them has
// taken the VIP each configures keepalived without it.
func (e *editor) forgets() {
	e.Helper()
	for _, n := range e.Nodes {
		e.must(Until(e.Context(), 2*time.Minute, func() error {
			text, err := os.ReadFile(filepath.Join(n.Root, nodestate.Path))
			if err != nil {
				return err
			}
			if m, err := nodestate.Decode(text); err != nil || !m.BootstrapGone {
				return fmt.Errorf("%s expects a bootstrap machine: %v", n.Name, err)
			}
			return nil
		}))
		e.rests(n, seen{}, false)
	}
}

// try makes an amendment, holds its outcome against diff's words, and takes it back.
func (e *editor) try(t *testing.T, a amendment) {
	e.roles()
	change := a.spec
	if change == nil {
		change = func(map[string]any) {}
	}
	nodes := a.on(e)
	s := aftermath{first: nodes[0]}
	for file, by := range a.hand {
		undo, err := edit(s.first, file, by)
		e.must(err)
		t.Cleanup(func() { e.must(undo()) })
	}
	file, _ := e.describe(change)
	d := e.diff(s.first, file, a.flags...)
	if d.Worst != a.want || (d.Refused != "") != (a.want == drift.TwoHolders) {
		t.Errorf("diff says %s, want %s; render would refuse: %q\n%+v", d.Worst, a.want, d.Refused, d.Changes)
	}
	before := map[*Node]seen{}
	for _, n := range nodes {
		var err error
		before[n], err = inspect(n)
		e.must(err)
	}
	e.crowd.Watches.Forget()
	s.begin = time.Now()
	decided := slices.ContainsFunc(d.Changes, func(c drift.Change) bool { return c.Path == plan.Path })
	for _, n := range nodes {
		e.apply(n, file, e.diff(n, file, a.flags...), a.flags...)
	}
	for _, n := range slices.Backward(nodes) {
		now := e.rests(n, before[n], decided)
		s.read, s.anew = before[n].became(now)
	}
	s.api, s.two = moves(e.Report(), s.begin, e.holder.Name)
	breaks, _ := e.crowd.Watches.Report()
	s.cut = len(breaks)
	t.Logf("%s: read again %v, begun anew %v; the API's VIP went to %v, two held it for %v; %d watches cut", d.Worst, s.read, s.anew, s.api, s.two.Round(time.Millisecond), s.cut)
	for _, fault := range s.stays(d) {
		t.Error(fault)
	}
	if a.check != nil {
		if err := a.check(e, s); err != nil {
			t.Error(err)
		}
	}
	if again := e.diff(s.first, file); len(again.Changes) > 0 && len(a.flags) == 0 {
		t.Errorf("afterwards diff says %+v", again.Changes)
	}
	if len(a.flags) == 0 && a.spec != nil { // the cluster does not go back on a migration
		e.restore(nodes)
	}
}

// restore gives nodes the description by which they lived, and waits until all is as it was.
func (e *editor) restore(nodes []*Node) {
	file := filepath.Join(e.Machine.Scratch(), "former.json")
	e.must(os.WriteFile(file, e.now, 0o644))
	before := map[*Node]seen{}
	for _, n := range nodes {
		var err error
		before[n], err = inspect(n)
		e.must(err)
		e.apply(n, file, e.diff(n, file))
	}
	for _, n := range nodes {
		e.rests(n, before[n], true)
	}
	e.must(e.Settled(e.Context()))
	e.must(e.held(e.Context()))
}
