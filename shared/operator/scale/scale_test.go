package scale

import (
	"errors"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// running has two workers of a MachineSet and three control plane nodes; w1 belongs to its Machine.
func running() World {
	return World{
		Host:    Host{Name: "w1", Exists: true, State: "provisioned", On: true, Online: true},
		Machine: &Machine{Name: "prod-worker-b", Set: "prod-worker", Node: "w1"},
		Sets:    []Set{{Name: "prod-worker", Replicas: 2, Live: 2}},
		Nodes: []Node{{Name: "m0", Ready: true, Control: true}, {Name: "m1", Ready: true, Control: true}, {Name: "m2", Ready: true, Control: true},
			{Name: "w0", Ready: true}, {Name: "w1", Ready: true}},
		Ingress: []string{"w0", "w1"},
	}
}

// fresh is the same cluster before w1 is there.
func fresh() World {
	w := running()
	w.Host, w.Machine, w.Sets[0].Replicas, w.Sets[0].Live = Host{Name: "w1"}, nil, 1, 1
	w.Nodes, w.Ingress = w.Nodes[:4], []string{"w0"}
	return w
}

// actions are the actions of steps, and - for one that waits.
func actions(steps []Step) string {
	var all []string
	for _, s := range steps {
		switch {
		case s.Done:
			all = append(all, "done")
		case s.Action == "":
			all = append(all, "-")
		default:
			all = append(all, string(s.Action))
		}
	}
	return strings.Join(all, " ")
}

// TestForesee_Story holds the order of all steps, from no host to a node and back.
func TestForesee_Story(t *testing.T) {
	added, err := Foresee(fresh(), func(w World) (Step, error) { return Add(w, "") })
	if got := actions(added); err != nil || got != "create - raise - - - done" {
		t.Errorf("add: %s (%v)", got, err)
	}
	waits := fresh()
	waits.Host = Host{Name: "w1", Exists: true, Paused: true, Handover: true}
	waits.Bootstrap = true
	released, err := Foresee(waits, func(w World) (Step, error) { return Add(w, "") })
	if got := actions(released); err != nil || got != "- resume - raise - - - done" {
		t.Errorf("add after the handover: %s (%v)", got, err)
	}
	removed, err := Foresee(running(), Remove)
	if got := actions(removed); err != nil || got != "mark lower - - delete done" {
		t.Errorf("remove: %s (%v)", got, err)
	}
	for _, s := range append(added, removed...) {
		switch s.Action {
		case Raise:
			if s.Set != "prod-worker" || s.Replicas != 2 {
				t.Errorf("%+v", s)
			}
		case Lower:
			if s.Set != "prod-worker" || s.Replicas != 1 {
				t.Errorf("%+v", s)
			}
		case Mark:
			if s.Machine != "prod-worker-b" {
				t.Errorf("%+v", s)
			}
		}
	}
}

// TestAdd holds each decision on the way to a node.
func TestAdd(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*World)
		wanted string
		action Action
		text   string // of the wait or of the refusal
	}{
		"no host":                {func(w *World) {}, "", Create, ""},
		"waits for the handover": {func(w *World) { w.Host = Host{Name: "w1", Exists: true, Paused: true, Handover: true} }, "", Resume, ""},
		"paused by a person":     {func(w *World) { w.Host.Exists, w.Host.Paused = true, true }, "", "", "a person has paused host w1"},
		"two Machines claim it":  {func(w *World) { *w = running(); w.Other = "prod-worker-a" }, "", "", "prod-worker-b and prod-worker-a both claim"},
		"of another consumer":    {func(w *World) { w.Host.Exists, w.Host.Consumer = true, "HostClaim x" }, "", "", "belongs to HostClaim x"},
		"is deleted":             {func(w *World) { w.Host.Exists, w.Host.Deleting, w.Host.State = true, true, "available" }, "", "", "to be gone, as it is being deleted"},
		"provisioned by hand":    {func(w *World) { w.Host.Exists, w.Host.State = true, "provisioned" }, "", "", "is provisioned and belongs to no Machine"},
		"of another set":         {func(w *World) { *w = running() }, "other", "", "of MachineSet prod-worker, not of other"},
		"taken by a master":      {func(w *World) { *w = running(); w.Machine.Control = true }, "", "", "which is no worker's"},
		"a master's waits":       {func(w *World) { w.Idle = []Idle{{"master-0", ""}} }, "", "", "one of them would take this one: master-0"},
		"a spare":                {func(w *World) { w.Host.Exists, w.Host.State, w.Spares = true, "available", []string{"w8", "w9"} }, "", "", "these are too: w8, w9"},
		"another one goes":       {func(w *World) { w.Host.Exists, w.Host.State, w.Sets[0].Replicas = true, "available", 0 }, "", "", "to delete a Machine that was to go before"},
		"bootstrap provisions":   {func(w *World) { w.Bootstrap = true }, "", "", "the bootstrap machine to end"},
		"external":               {func(w *World) { w.Host.Exists, w.Host.External = true, true }, "", "", "another program"},
		"new":                    {func(w *World) { w.Host.Exists = true }, "", "", "to inspect the host and to prepare it; it is new"},
		"wrong":                  {func(w *World) { w.Host.Exists, w.Host.Problem = true, "no such BMC" }, "", "", "to be fixed in the host or its Secrets: no such BMC"},
		"available":              {func(w *World) { w.Host.Exists, w.Host.State = true, "available" }, "", Raise, ""},
		"its Machine is made":    {func(w *World) { w.Host.Exists, w.Host.State, w.Sets[0].Replicas = true, "available", 2 }, "", "", "to make its Machine"},
		"a Machine waits":        {func(w *World) { w.Host.Exists, w.Host.State, w.Idle = true, "available", []Idle{{"a", "prod-worker"}} }, "", "", "to take the host"},
		"replicas follow":        {func(w *World) { w.Host.Exists, w.Host.State, w.Sets[0].Follows = true, "available", true }, "", "", "to follow the number"},
		"no set":                 {func(w *World) { w.Host.Exists, w.Host.State, w.Sets = true, "available", nil }, "", "", "has no MachineSet"},
		"two sets": {func(w *World) {
			w.Host.Exists, w.Host.State, w.Sets = true, "available", append(w.Sets, Set{Name: "other"})
		}, "", "", "choose one of prod-worker, other"},
		"one of two": {func(w *World) {
			w.Host.Exists, w.Host.State, w.Sets = true, "available", append(w.Sets, Set{Name: "other"})
		}, "other", Raise, ""},
		"not one of them":        {func(w *World) { w.Host.Exists, w.Host.State = true, "available" }, "none", "", "no MachineSet none"},
		"belongs to one":         {func(w *World) { w.Host.Exists, w.Machine = true, &Machine{Name: "m"} }, "", "", "to be written, to boot and to join"},
		"its deployment fails":   {func(w *World) { w.Host.Exists, w.Host.Problem, w.Machine = true, "checksum", &Machine{Name: "m"} }, "", "", "and metal3 reports: checksum"},
		"belongs to one that is": {func(w *World) { w.Host.Exists, w.Machine = true, &Machine{Name: "m", Deleting: true} }, "", "", "is being deleted"},
		"not ready":              {func(w *World) { *w = running(); w.Nodes[4].Ready = false }, "", "", "node w1 to be Ready"},
	} {
		w := fresh()
		tt.change(&w)
		s, err := Add(w, tt.wanted)
		text := s.Waits
		if err != nil {
			text = err.Error()
		}
		if s.Action != tt.action || s.Done || tt.text != "" && !strings.Contains(text, tt.text) || tt.text == "" && text != "" {
			t.Errorf("%s: %+v, %v; want %q %q", name, s, err, tt.action, tt.text)
		}
	}
	if s, err := Add(running(), ""); !s.Done || err != nil {
		t.Errorf("a node that is Ready: %+v, %v", s, err)
	}
}

// TestRemove holds each decision on the way out, and what would break the cluster.
func TestRemove(t *testing.T) {
	alone := func(w *World) {
		w.Machine, w.Nodes = nil, w.Nodes[:4]
		w.Host.Online, w.Host.On, w.Host.State = false, false, "available"
	}
	for name, tt := range map[string]struct {
		change func(*World)
		action Action
		text   string
	}{
		"a node":             {func(w *World) {}, Mark, ""},
		"marked":             {func(w *World) { w.Machine.Marked = true }, Lower, ""},
		"lowered":            {func(w *World) { w.Machine.Marked, w.Sets[0].Replicas = true, 1 }, "", "to delete Machine prod-worker-b"},
		"goes":               {func(w *World) { w.Machine.Deleting = true; w.Sets[0].Replicas, w.Sets[0].Live = 1, 1 }, "", "to drain its node"},
		"of no set":          {func(w *World) { w.Machine.Set = "" }, Discard, ""},
		"of a set that went": {func(w *World) { w.Machine.Set = "gone" }, "", "which does not exist"},
		"replicas follow":    {func(w *World) { w.Sets[0].Follows = true }, "", "autoscale-to-hosts"},
		"is wiped":           {func(w *World) { alone(w); w.Host.State = "deprovisioning" }, "", "to wipe the host's disk"},
		"is deleted": {func(w *World) {
			alone(w)
			w.Host.State, w.Host.Deleting, w.Host.Problem = "deleting", true, "no answer"
		}, "", "to forget the host; it is deleting, and metal3 reports: no answer"},
		"is on":            {func(w *World) { alone(w); w.Host.Online, w.Host.On = true, true }, Off, ""},
		"goes off":         {func(w *World) { alone(w); w.Host.On = true }, "", "to be off"},
		"is off":           {alone, Delete, ""},
		"its BMC is dead":  {func(w *World) { alone(w); w.Host.On, w.Host.Problem = true, "no answer" }, Delete, ""},
		"is wiped, slowly": {func(w *World) { alone(w); w.Host.State, w.Host.Problem = "deprovisioning", "no answer" }, "", "metal3 reports: no answer"},
		"of no Machine":    {func(w *World) { alone(w); w.Host.State, w.Host.Online = "provisioned", true }, "", "without a Machine that would drain"},
		"a node of none":   {func(w *World) { w.Machine = nil; w.Host.State = "available" }, "", "is a node, and belongs to no Machine"},
		"a node of none, with a domain": {func(w *World) {
			alone(w)
			w.Nodes = append(w.Nodes, Node{Name: "w1.example.com"})
		}, "", "w1.example.com is a node, and belongs to no Machine"},
		"a member of etcd, with a domain": {func(w *World) {
			alone(w)
			w.Nodes = append(w.Nodes, Node{Name: "w1.example.com", Control: true})
		}, "", "is a member of etcd"},
		"its Machine went":             {func(w *World) { alone(w); w.Host.Consumer = "Machine prod-worker-b" }, "", "belongs to Machine prod-worker-b"},
		"two claim it":                 {func(w *World) { w.Other = "prod-worker-a" }, "", "both claim host w1"},
		"another is marked":            {func(w *World) { w.Sets[0].Before = []string{"prod-worker-a", "prod-worker-b"} }, "", "could delete another Machine, which is marked or has failed: prod-worker-a:"},
		"only it is marked":            {func(w *World) { w.Machine.Marked = true; w.Sets[0].Before = []string{"prod-worker-b"} }, Lower, ""},
		"one without a host":           {func(w *World) { w.Idle = []Idle{{"a", "other"}} }, "", "one would take this host"},
		"one of no set without a host": {func(w *World) { w.Machine.Set, w.Idle = "", []Idle{{"a", ""}} }, "", "one would take this host"},
		"it goes, and another comes":   {func(w *World) { w.Machine.Deleting = true; w.Sets[0].Live = 1 }, "", "lower its replicas to 1 first"},
		"it goes, replicas follow":     {func(w *World) { w.Machine.Deleting, w.Sets[0].Follows = true, true }, "", "autoscale-to-hosts"},
		"the oldest goes":              {func(w *World) { w.Sets[0].Oldest = true }, "", "set its deletePolicy to Random"},
		"one is made":                  {func(w *World) { w.Sets[0].Replicas = 3 }, "", "to make a Machine that was asked for before"},
		"an arbiter":                   {func(w *World) { w.Machine.Control, w.Machine.Set = true, "" }, "", "OpenShift's own procedure"},
		"of another program":           {func(w *World) { w.Host.External = true }, "", "by the means of that program"},
		"paused":                       {func(w *World) { w.Host.Paused = true }, "", "remove the annotation"},
		"last ingress":                 {func(w *World) { w.Ingress = []string{"w1"} }, "", "nothing serves the ingress VIP"},
		"another's ingress":            {func(w *World) { w.Ingress = []string{"w0"} }, Mark, ""},
		"quorum": {func(w *World) {
			w.Host.Name, w.Host.External, w.Machine.Node, w.Nodes[1].Ready = "m0", true, "m0", false
		},
			"", "1 of 3 are Ready, and etcd needs 2"},
		"control plane": {func(w *World) { w.Host.Name, w.Host.External, w.Machine.Node = "m0", true, "m0" }, "", "is a member of etcd: remove"},
		"its Machine's": {func(w *World) { w.Machine.Control, w.Machine.Node = true, "m1" }, "", "OpenShift's own procedure"},
	} {
		w := running()
		tt.change(&w)
		s, err := Remove(w)
		text := s.Waits
		if err != nil {
			if text = err.Error(); !errors.As(err, new(Refusal)) {
				t.Errorf("%s: %T", name, err)
			}
		}
		if s.Action != tt.action || s.Done || tt.text != "" && !strings.Contains(text, tt.text) || tt.text == "" && text != "" {
			t.Errorf("%s: %+v, %v; want %q %q", name, s, err, tt.action, tt.text)
		}
	}
	if s, err := Remove(World{Host: Host{Name: "w1"}}); !s.Done || err != nil {
		t.Errorf("no host: %+v, %v", s, err)
	}
}

// TestForesee_AnyWorld holds, from random worlds, that the steps end, and that no step is one that
// takes another host's Machine or more than one: replicas change by one, and are lowered for a Machine
// that is marked.
func TestForesee_AnyWorld(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	yes := func() bool { return r.IntN(2) == 0 }
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	ended := 0
	for range 20000 {
		w := running()
		w.Host = Host{Name: "w1", Exists: yes(), On: yes(), Online: yes(), Paused: r.IntN(4) == 0, Handover: yes(), External: r.IntN(8) == 0, Deleting: r.IntN(8) == 0,
			State: pick("", "registering", "inspecting", "available", "provisioning", "provisioned", "deprovisioning", "deleting"), Problem: pick("", "", "x")}
		w.Host.Handover = w.Host.Handover && w.Host.Paused
		if yes() || !w.Host.Exists {
			w.Machine = nil
		} else {
			w.Machine = &Machine{Name: "prod-worker-b", Set: pick("prod-worker", "prod-worker", "", "gone"), Node: pick("", "w1", "m0"), Marked: yes(), Deleting: yes()}
		}
		w.Sets[0] = Set{Name: "prod-worker", Replicas: r.IntN(3), Live: r.IntN(3), Follows: r.IntN(8) == 0, Oldest: r.IntN(8) == 0}
		if r.IntN(6) == 0 {
			w.Idle = []Idle{{"i", pick("", "prod-worker", "other")}}
		}
		w.Bootstrap = r.IntN(8) == 0
		if r.IntN(8) == 0 {
			w.Sets[0].Before = []string{"prod-worker-a"}
		}
		if w.Machine != nil && r.IntN(8) == 0 {
			w.Other = "prod-worker-a"
		}
		if yes() {
			w.Nodes = w.Nodes[:4]
		}
		if yes() {
			w.Sets = append(w.Sets, Set{Name: "other", Replicas: 1, Live: 1})
		}
		for i := range w.Nodes {
			w.Nodes[i].Ready = r.IntN(4) > 0
		}
		for way, next := range map[string]Next{"add": func(w World) (Step, error) { return Add(w, pick("", "prod-worker")) }, "remove": Remove} {
			before := slices.Clone(w.Sets)
			steps, err := Foresee(w, func(w World) (Step, error) {
				s, err := next(w)
				set, _ := w.set(s.Set)
				switch {
				case s.Action == Raise && (s.Replicas != set.Replicas+1 || set.Replicas != set.Live || len(w.Idle) > 0),
					s.Action == Lower && (s.Replicas != set.Replicas-1 || set.Replicas != set.Live || !w.Machine.Marked || len(set.Before) > 0 || len(w.Idle) > 0),
					s.Action == Discard && len(w.Idle) > 0,
					s.Action == Delete && (w.Machine != nil || (w.Host.On || w.Host.Online) && w.Host.Problem == ""),
					slices.Contains([]Action{Off, Delete}, s.Action) && w.Host.State == "provisioned",
					slices.Contains([]Action{Off, Delete, Discard, Mark, Lower}, s.Action) && w.Other != "",
					way == "add" && slices.Contains([]Action{Mark, Lower, Discard, Off, Delete}, s.Action),
					way == "remove" && slices.Contains([]Action{Create, Resume, Raise}, s.Action):
					t.Fatalf("%s: %+v in %+v", way, s, w)
				}
				return s, err
			})
			if err == nil && !steps[len(steps)-1].Done || !reflect.DeepEqual(before, w.Sets) {
				t.Fatalf("%s: %s from %+v", way, actions(steps), w)
			}
			if err == nil {
				ended++
			}
		}
	}
	if ended < 2000 {
		t.Errorf("%d runs ended", ended)
	}
}

// TestText holds that each step is described, and that kubectl can do each but the first.
func TestText(t *testing.T) {
	for _, a := range []Action{Create, Resume, Raise, Mark, Lower, Discard, Off, Delete} {
		s := Step{Action: a, Machine: "m1", Set: "set1", Replicas: 3}
		text, command := s.Text("w1"), s.Command("w1")
		if text == "" || strings.HasPrefix(text, "wait") || (command == "") != (a == Create) {
			t.Errorf("%s: %q, %q", a, text, command)
		}
	}
	if got := (Step{Waits: "x"}).Text("w1"); got != "wait for x" {
		t.Error(got)
	}
	if got := (Step{Done: true}).Text("w1"); got != "done" {
		t.Error(got)
	}
}
