package bare

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/object"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

var image = object.Image{URL: "http://172.22.0.3:6180/images/os.raw", Checksum: "00", ChecksumType: "sha256", Format: "raw"}

func control() []scale.Node {
	return []scale.Node{{Name: "m0", Ready: true, Control: true}, {Name: "m1", Ready: true, Control: true}, {Name: "m2", Ready: true, Control: true}}
}

// running is a world with a worker that has joined.
func running() World {
	return World{Host: Host{Host: scale.Host{Name: "w1", Exists: true, State: "provisioned", On: true, Online: true}, Image: true, Version: "7"},
		Node: &Node{Node: scale.Node{Name: "w1", Ready: true}}, Control: control(), Ingress: []string{"w1", "w2"}, Ironic: true, Deployment: "metal3-ironic",
		Pods: []Pod{{Namespace: "a", Name: "p"}, {Namespace: "b", Name: "q"}}}
}

// fresh is a world without the host.
func fresh() World {
	return World{Host: Host{Host: scale.Host{Name: "w1"}}, Control: control(), Ironic: true, Deployment: "metal3-ironic"}
}

// step is a way's next step for a test, as the action and the text.
func judge(t *testing.T, name string, s Step, err error, action Action, text string) {
	t.Helper()
	got := s.Waits
	if err != nil {
		if got = err.Error(); !errors.As(err, new(scale.Refusal)) {
			t.Errorf("%s: %T", name, err)
		}
	}
	if s.Action != action || s.Done || text != "" && !strings.Contains(got, text) || text == "" && got != "" {
		t.Errorf("%s: %+v, %v; want %q %q", name, s, err, action, text)
	}
}

// TestAdd holds each decision on the way in.
func TestAdd(t *testing.T) {
	here := func(w *World, state string) { w.Host.Exists, w.Host.State, w.Host.Version = true, state, "7" }
	for name, tt := range map[string]struct {
		change  func(*World)
		missing bool // the document
		action  Action
		text    string
	}{
		"no host":                      {func(*World) {}, false, Create, ""},
		"no document":                  {func(*World) {}, true, "", "name one by --user-data"},
		"no document, and it is there": {func(w *World) { here(w, "available") }, true, "", "name one by --user-data"},
		"no document, and an image":    {func(w *World) { here(w, "available"); w.Host.Image = true }, true, "", "to write the host's disk; it is available"},
		"not described before":         {func(w *World) { w.Unlisted = true }, false, "", "do not know host w1: render the description"},
		"written, not described":       {func(w *World) { *w = running(); w.Node, w.Unlisted = nil, true }, false, "", "to join as node w1"},
		"paused until the handover":    {func(w *World) { here(w, ""); w.Host.Paused, w.Host.Handover = true, true }, false, Resume, ""},
		"paused by a person":           {func(w *World) { here(w, ""); w.Host.Paused = true }, false, "", "a person has paused"},
		"bootstrap provisions":         {func(w *World) { w.Bootstrap = true }, false, "", "the bootstrap machine to end"},
		"Ironic is away":               {func(w *World) { here(w, ""); w.Ironic = false }, false, "", "own Ironic to be ready (the Deployment metal3-ironic)"},
		"external":                     {func(w *World) { here(w, ""); w.Host.External = true }, false, "", "another program"},
		"is deleted":                   {func(w *World) { here(w, "deleting"); w.Host.Deleting = true }, false, "", "to be gone, as it is being deleted"},
		"of another program":           {func(w *World) { here(w, "available"); w.Host.Consumer = "Metal3Machine x" }, false, "", "belongs to Metal3Machine x, which deploys it"},
		"a node runs":                  {func(w *World) { here(w, "available"); w.Node = &Node{Node: scale.Node{Name: "w1"}} }, false, "", "that would end the node"},
		"a node runs, and no host":     {func(w *World) { w.Node = &Node{Node: scale.Node{Name: "w1", Ready: true}} }, false, "", "that would end the node"},
		"another host's node":          {func(w *World) { w.Node, w.Taken = &Node{Node: scale.Node{Name: "w2"}}, "w2" }, false, "", "node w2 has the name of host w2"},
		"provisioned by hand":          {func(w *World) { here(w, "provisioned") }, false, "", "is provisioned without an image"},
		"is new":                       {func(w *World) { here(w, "") }, false, "", "to inspect the host and to prepare it; it is new"},
		"is wrong":                     {func(w *World) { here(w, "registering"); w.Host.Problem = "no such BMC" }, false, "", "to be fixed in the host or its Secrets: no such BMC"},
		"available":                    {func(w *World) { here(w, "available") }, false, Deploy, ""},
		"available, in a former way":   {func(w *World) { here(w, "ready") }, false, Deploy, ""},
		"a node of another name":       {func(w *World) { *w = running(); w.Node.Name = "x" }, false, Note, ""},
		"it is noted":                  {func(w *World) { *w = running(); w.Node.Name, w.Node.Ready, w.Host.Host.Node = "x", false, "x" }, false, "", "node x to be Ready"},
		"another one is noted":         {func(w *World) { *w = running(); w.Node.Name, w.Host.Host.Node = "x", "y" }, false, Note, ""},
		"with a domain":                {func(w *World) { *w = running(); w.Node.Name, w.Node.Ready = "w1.example.com", false }, false, "", "node w1.example.com to be Ready"},
		"it was a node before":         {func(w *World) { here(w, "available"); w.Host.Host.Node = "x" }, false, Note, ""},
		"another document":             {func(w *World) { here(w, "provisioning"); w.Host.Image, w.Outdated = true, true }, false, Renew, ""},
		"another one, too late":        {func(w *World) { *w = running(); w.Node, w.Outdated = nil, true }, false, "", "to join as node w1"},
		"is written":                   {func(w *World) { here(w, "provisioning"); w.Host.Image, w.Host.Problem = true, "checksum" }, false, "", "and metal3 reports: checksum"},
		"is to join":                   {func(w *World) { *w = running(); w.Node = nil }, false, "", "to join as node w1"},
		"another node was named":       {func(w *World) { *w = running(); w.Node, w.Misnamed = nil, "w0.example.com" }, false, "", "the named node does not exist, and node w0.example.com"},
		"joined by another name":       {func(w *World) { *w = running(); w.Node, w.Unknown = nil, []string{"x"} }, false, "", "--node names one that is this host: x"},
		"not ready":                    {func(w *World) { *w = running(); w.Node.Ready = false }, false, "", "node w1 to be Ready"},
		"image before the handover":    {func(w *World) { *w = running(); w.Host.Paused, w.Host.Handover = true, true }, false, Resume, ""},
	} {
		w := fresh()
		tt.change(&w)
		s, err := Add(w, image, !tt.missing)
		judge(t, name, s, err, tt.action, tt.text)
		if s.Action == Deploy && (s.Image != image || s.Version != "7") {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if s, err := Add(running(), object.Image{}, false); !s.Done || err != nil {
		t.Errorf("a node that is Ready: %+v, %v", s, err)
	}
}

// TestRemove holds each decision on the way out, and what would break the cluster.
func TestRemove(t *testing.T) {
	drained := func(w *World) {
		w.Node.Cordoned, w.Node.Leaving, w.Pods = true, true, nil
	}
	wiped := func(w *World) {
		drained(w)
		w.Host.Image, w.Host.Online, w.Host.On, w.Host.State = false, false, false, "available"
	}
	for name, tt := range map[string]struct {
		change func(*World)
		alone  bool
		action Action
		text   string
	}{
		"a node":                 {func(*World) {}, false, Cordon, ""},
		"cordoned by a person":   {func(w *World) { w.Node.Cordoned = true }, false, Cordon, ""},
		"uncordoned by a person": {func(w *World) { w.Node.Leaving = true }, false, Cordon, ""},
		"cordoned":               {func(w *World) { drained(w); w.Pods = []Pod{{Namespace: "a", Name: "p"}} }, false, Evict, ""},
		"blocked":                {func(w *World) { drained(w); w.Pods = []Pod{{Namespace: "a", Name: "p", Blocked: "budget x"}} }, false, Evict, "pods that may not leave node w1 yet: a/p (budget x)"},
		"blocked a moment ago": {func(w *World) {
			drained(w)
			w.Pods = []Pod{{Namespace: "a", Name: "p", Blocked: "budget x", Rests: true}}
		}, false, "", "a/p (budget x)"},
		"pods end":       {func(w *World) { drained(w); w.Pods = []Pod{{Namespace: "a", Name: "p", Leaving: true}} }, false, "", "pods of node w1 to end: a/p"},
		"a pod is lost":  {func(w *World) { drained(w); w.Pods = []Pod{{Namespace: "a", Name: "p", Leaving: true, Lost: true}} }, false, Wipe, ""},
		"a pod alone":    {func(w *World) { w.Pods[1].Alone = true }, false, "", "nothing would start them elsewhere: b/q"},
		"drained":        {drained, false, Wipe, ""},
		"is written yet": {func(w *World) { w.Node, w.Host.State = nil, "provisioning" }, false, Wipe, ""},
		"image is away":  {func(w *World) { drained(w); w.Host.Image = false }, false, "", "to wipe the host's disk; it is provisioned"},
		"is wiped": {func(w *World) {
			drained(w)
			w.Host.Image, w.Host.State, w.Host.Problem = false, "deprovisioning", "no answer"
		}, false, "", "it is deprovisioning, and metal3 reports: no answer"},
		"is wiped by another":          {func(w *World) { w.Host.Image, w.Host.State = false, "deprovisioning" }, false, "", "to wipe the host's disk"},
		"is wiped without an Ironic":   {func(w *World) { drained(w); w.Host.Image, w.Ironic = false, false }, false, "", "(the Deployment metal3-ironic)"},
		"wiped":                        {wiped, false, Unlist, ""},
		"wiped, and on":                {func(w *World) { wiped(w); w.Host.On = true }, false, "", "the host to be off"},
		"wiped, on, without an Ironic": {func(w *World) { wiped(w); w.Host.On, w.Ironic = true, false }, false, "", "(the Deployment metal3-ironic)"},
		"is to be on":                  {func(w *World) { wiped(w); w.Node, w.Host.Online, w.Host.On = nil, true, true }, false, Off, ""},
		"its BMC is dead":              {func(w *World) { wiped(w); w.Node, w.Host.On, w.Host.Problem = nil, true, "no answer" }, false, Delete, ""},
		"is no node":                   {func(w *World) { wiped(w); w.Node = nil }, false, Delete, ""},
		"is deleted":                   {func(w *World) { wiped(w); w.Node, w.Host.Deleting, w.Host.State = nil, true, "deleting" }, false, "", "to forget the host; it is deleting"},
		"a node of another system":     {func(w *World) { w.Host.Image, w.Host.State = false, "available" }, false, "", "runs on another machine, or from another system"},
		"a node that is gone":          {func(w *World) { wiped(w); w.Node.Leaving, w.Node.Ready = false, false }, false, Unlist, ""},
		"a node of no host":            {func(w *World) { w.Host.Exists = false }, false, "", "no host of that name"},
		"nodes of another name":        {func(w *World) { w.Node, w.Unknown = nil, []string{"x", "y"} }, false, "", "no host has the name of: x, y: name it by --node"},
		"another node was named":       {func(w *World) { w.Node, w.Misnamed = nil, "w0.example.com" }, false, "", "the named node does not exist, and node w0.example.com is that of host w1"},
		"of a host that runs another system": {func(w *World) {
			w.Node, w.Misnamed, w.Host.Image, w.Host.State = nil, "w0.example.com", false, "available"
		}, false, "", "the named node does not exist"},
		"nodes that it is not":          {func(w *World) { w.Node, w.Unknown = nil, []string{"x", "y"} }, true, Wipe, ""},
		"it is one":                     {func(*World) {}, true, "", "leave --no-node out"},
		"another host's node":           {func(w *World) { w.Taken = "w2" }, false, "", "has the name of host w2"},
		"of another program":            {func(w *World) { w.Host.External = true }, false, "", "by the means of that program"},
		"of a Machine":                  {func(w *World) { w.Host.Consumer = "Metal3Machine x" }, false, "", "belongs to Metal3Machine x"},
		"paused":                        {func(w *World) { w.Host.Paused = true }, false, "", "remove the annotation"},
		"last ingress":                  {func(w *World) { w.Ingress = []string{"w1"} }, false, "", "nothing serves the ingress VIP"},
		"last ingress, when cordoned":   {func(w *World) { drained(w); w.Ingress = []string{"w1"} }, false, "", "nothing serves the ingress VIP"},
		"no ingress is known":           {func(w *World) { w.Ingress = nil }, false, Cordon, ""},
		"quorum":                        {func(w *World) { w.Node.Name, w.Node.Control, w.Control[1].Ready = "m0", true, false }, false, "", "1 of 3 are Ready, and etcd needs 2"},
		"control plane":                 {func(w *World) { w.Node.Name, w.Node.Control = "m0", true }, false, "", "a member of etcd: remove that member"},
		"control plane, another system": {func(w *World) { w.Node.Name, w.Node.Control, w.Host.External = "m0", true, true }, false, "", "a member of etcd: remove that member"},
	} {
		w := running()
		tt.change(&w)
		s, err := Remove(w, tt.alone)
		judge(t, name, s, err, tt.action, tt.text)
	}
	if s, err := Remove(fresh(), false); !s.Done || err != nil {
		t.Errorf("no host: %+v, %v", s, err)
	}
}

// TestForesee_AnyWorld holds, from random worlds, that the steps end, and that none wipes, switches
// off or deletes what runs pods, or what another one owns.
func TestForesee_AnyWorld(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	yes := func() bool { return r.IntN(2) == 0 }
	rarely := func() bool { return r.IntN(8) == 0 }
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	ended := map[string]int{}
	for range 20000 {
		w := running()
		w.Host = Host{Host: scale.Host{Name: "w1", Exists: r.IntN(4) > 0, On: yes(), Online: yes(), Paused: rarely(), Handover: yes(), External: rarely(), Deleting: rarely(),
			State: pick("", "registering", "inspecting", "available", "provisioning", "provisioned", "deprovisioning", "deleting"), Problem: pick("", "", "x"), Consumer: pick("", "", "", "Metal3Machine x")},
			Image: yes()}
		w.Host.Handover = w.Host.Handover && w.Host.Paused
		w.Ironic, w.Bootstrap, w.Outdated = yes(), rarely(), yes()
		w.Node.Name, w.Host.Host.Node = pick("w1", "w1", "x"), pick("", "", "x")
		w.Node.Ready, w.Node.Cordoned, w.Node.Leaving, w.Node.Control = yes(), yes(), yes(), rarely()
		for i := range w.Pods {
			w.Pods[i] = Pod{Namespace: "a", Name: "p", Leaving: yes(), Lost: rarely(), Blocked: pick("", "x"), Rests: yes(), Alone: rarely()}
		}
		if yes() {
			w.Pods = nil
		}
		if rarely() {
			w.Ingress = []string{w.Node.Name}
		}
		if yes() {
			w.Node, w.Pods = nil, nil
		}
		for way, next := range map[string]Next{"add": func(w World) (Step, error) { return Add(w, image, true) }, "remove": func(w World) (Step, error) { return Remove(w, false) }} {
			steps, err := Foresee(w, func(w World) (Step, error) {
				s, err := next(w)
				stay := slices.ContainsFunc(w.Pods, func(p Pod) bool { return !p.Lost })
				gone := []Action{Wipe, Off, Unlist, Delete}
				switch {
				case way == "add" && slices.Contains(append(gone, Cordon, Evict), s.Action), way == "remove" && slices.Contains([]Action{Create, Resume, Deploy, Renew, Note}, s.Action),
					s.Action == Wipe && (stay || w.Node != nil && !w.Node.Leaving || len(w.Ingress) == 1 && w.Node != nil),
					s.Action == Unlist && (w.Node.Ready && !w.Node.Leaving || w.Host.written() || w.Host.On && w.Host.Problem == ""),
					s.Action == Delete && (w.Node != nil || w.Host.written() || w.Host.On && w.Host.Problem == ""),
					s.Action == Deploy && (w.Node != nil || w.Host.Image || w.Host.State != "available" || w.Bootstrap || !w.Ironic),
					slices.Contains(gone, s.Action) && (w.Host.External || w.Host.Paused || w.Host.Consumer != "" || w.Node != nil && w.Node.Control):
					t.Fatalf("%s: %+v in %+v, node %+v", way, s, w, w.Node)
				}
				return s, err
			})
			if err == nil && !steps[len(steps)-1].Done {
				t.Fatalf("%s: %+v from %+v, node %+v", way, steps, w, w.Node)
			}
			if err == nil {
				ended[way]++
			}
		}
	}
	if ended["add"] < 1000 || ended["remove"] < 1000 {
		t.Errorf("%v runs ended", ended)
	}
}

// TestText holds that each step is described, that kubectl can do each but the first, and that the
// document itself is in none of it.
func TestText(t *testing.T) {
	for _, a := range []Action{Create, Resume, Deploy, Renew, Note, Cordon, Evict, Wipe, Off, Unlist, Delete} {
		s := Step{Action: a, Node: "n1", Pods: []Pod{{}}, Image: image}
		text, command := s.Text("w1"), s.Command("w1")
		if text == "" || strings.HasPrefix(text, "wait") || text == "done" || (command == "") != (a == Create) {
			t.Errorf("%s: %q, %q", a, text, command)
		}
	}
	if text, command := (Step{Action: Note}).Text("w1"), (Step{Action: Note}).Command("w1"); text != "forget which node host w1 was" || command != "kubectl --namespace onprem-infra-metal3 annotate bmh w1 onprem-infra.io/node-" {
		t.Errorf("%q, %q", text, command)
	}
	want := `kubectl --namespace onprem-infra-metal3 create secret generic w1-user-data-secret --from-file=userData=FILE && kubectl --namespace onprem-infra-metal3 patch bmh w1 --type=merge ` +
		`--patch='{"spec":{"image":{"checksum":"00","checksumType":"sha256","format":"raw","url":"http://172.22.0.3:6180/images/os.raw"},"online":true,"userData":{"name":"w1-user-data-secret","namespace":"onprem-infra-metal3"}}}'`
	if got := (Step{Action: Deploy, Image: image}).Command("w1"); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	for s, want := range map[string]Step{"wait for x": {Waits: "x"}, "done": {Done: true}, "wait for y": {Action: Evict, Waits: "y"}} {
		if got := want.Text("w1"); got != s {
			t.Error(got)
		}
	}
}

// TestEvict_Some holds that a drain names the first of many pods, and asks for all that may be asked.
func TestEvict_Some(t *testing.T) {
	w := running()
	w.Node.Cordoned, w.Node.Leaving, w.Pods = true, true, nil
	for _, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		w.Pods = append(w.Pods, Pod{Namespace: "x", Name: name, Blocked: "no"})
	}
	s, err := Remove(w, false)
	if err != nil || len(s.Pods) != 7 || !strings.HasSuffix(s.Waits, "x/e (no), and 2 more") {
		t.Errorf("%+v, %v", s, err)
	}
	w.Pods[0].Blocked = ""
	if s, _ := Remove(w, false); s.Waits != "" || len(s.Pods) != 7 {
		t.Errorf("one that was not asked for: %+v", s)
	}
}
