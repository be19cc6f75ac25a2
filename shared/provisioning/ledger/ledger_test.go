package ledger

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

func at(s int) time.Time { return time.Date(2026, 11, 20, 10, 0, s, 0, time.UTC) }

// run is a journal in which most kinds occur.
func run() []Entry {
	return []Entry{
		{Time: at(0), Kind: Started},
		{Time: at(1), Kind: Secrets, Evidence: "1 700"},
		{Time: at(2), Kind: Phase, Phase: progress.Services},
		{Time: at(3), Kind: Orders, Orders: &orders.Orders{Generation: 2, On: []orders.Part{orders.Address}, Hosts: []mac.MAC{{2}}, Why: "deploy"}},
		{Time: at(4), Kind: Phase, Phase: progress.Deploy},
		{Time: at(5), Kind: Asked, Host: "m0", Verb: node.Create},
		{Time: at(6), Kind: Done, Host: "m0", Verb: node.Create, Evidence: "1 700"},
		{Time: at(7), Kind: Asked, Host: "m0", Verb: node.Manage},
		{Time: at(8), Kind: Failed, Host: "m0", Verb: node.Manage, Cause: "the BMC does not answer"},
		{Time: at(9), Kind: Disk, Host: "m0", Disk: &node.Pinned{Serial: "S1"}},
		{Time: at(10), Kind: Asked, Host: "m0", Verb: node.Deploy},
		{Time: at(11), Kind: Begun, Host: "m0"},
		{Time: at(12), Kind: Asked, Host: "m0", Verb: node.BootNet},
		{Time: at(13), Kind: Fetched, Host: "m0"},
		{Time: at(14), Kind: Blocked, Host: "m1", Cause: "no disk"},
	}
}

func TestFold(t *testing.T) {
	m := Fold(run())
	h := m.Hosts["m0"]
	if m.Phase != progress.Deploy || !m.Deploy.Equal(at(4)) || m.Orders.Generation != 2 || m.Secrets != "1 700" || !m.Started.Equal(at(0)) {
		t.Errorf("the run: %+v", m)
	}
	if h.Asked != node.Deploy || !h.AskedAt.Equal(at(10)) || h.Boots != 1 || h.Failures[node.Manage] != 1 || h.Accounts != "1 700" || h.Disk.Serial != "S1" {
		t.Errorf("the host: %+v", h)
	}
	if w := h.Write; !w.Intent.Equal(at(10)) || !w.Begun.Equal(at(11)) || !w.Fetched.Equal(at(13)) || h.Never() {
		t.Errorf("the write: %+v", w)
	}
	if m.Hosts["m1"].Blocker != "no disk" {
		t.Error("the blocker is lost")
	}
	m = m.With(Entry{Time: at(20), Kind: Secrets, Evidence: "2"})
	if h := m.Hosts["m0"]; len(h.Failures) != 0 || m.Hosts["m1"].Blocker != "" || h.Accounts != "1 700" {
		t.Errorf("other accounts: %+v", h)
	}
}

// TestFold_Warnings holds that what the preflight warned of is known until the next one, however much that
// is, and that a shortened journal has it still.
func TestFold_Warnings(t *testing.T) {
	all := []Entry{{Kind: Phase, Phase: progress.Preflight}}
	for i := range 2 * maxWarnings {
		all = append(all, Entry{Kind: Warned, Cause: fmt.Sprint(i, strings.Repeat("<", 2*maxText))})
	}
	all = append(all, Entry{Kind: Phase, Phase: progress.Deploy})
	m := Fold(all)
	if len(m.Warnings) != maxWarnings || !strings.HasPrefix(m.Warnings[1], "1<") {
		t.Errorf("%d warnings", len(m.Warnings))
	}
	short := Shorten(all)
	if whole := short[len(short)-1]; len(Encode(whole)) > MaxLine || !reflect.DeepEqual(Fold(short), m) {
		t.Errorf("the sum has %d bytes", len(Encode(whole)))
	}
	m = m.With(Entry{Kind: Accepted, Evidence: "bmc-tls:m0: it has expired"})
	if !reflect.DeepEqual(m.Accepted, []string{"bmc-tls:m0"}) {
		t.Errorf("accepted %q", m.Accepted)
	}
	m = m.With(Entry{Kind: Phase, Phase: progress.Announce}).With(Entry{Kind: Back}).With(Entry{Kind: Phase, Phase: progress.Preflight})
	if len(m.Warnings)+len(m.Accepted) > 0 {
		t.Errorf("another preflight has the warnings %q, and accepts %q", m.Warnings, m.Accepted)
	}
}

// What an answer or a failure ends is the request that it belongs to, and no other.
func TestHost_With(t *testing.T) {
	for _, tt := range []struct {
		name     string
		asked    node.Verb
		e        Entry
		left     node.Verb // that is asked of Ironic afterwards
		accounts string
	}{
		{"enrolled", node.Create, Entry{Kind: Done, Verb: node.Create, Evidence: "2"}, "", "2"},
		{"noted", node.Update, Entry{Kind: Done, Verb: node.Update, Evidence: "2"}, "", "2"},
		{"a card enrolled", node.Port, Entry{Kind: Done, Verb: node.Port, Evidence: "2"}, "", "1"},
		{"a disk noted", node.Pin, Entry{Kind: Done, Verb: node.Pin, Evidence: "2"}, "", "1"},
		{"answered, and it has begun", node.Manage, Entry{Kind: Done, Verb: node.Manage, Evidence: "2"}, node.Manage, "1"},
		{"another one is answered", node.Manage, Entry{Kind: Done, Verb: node.Update, Evidence: "2"}, node.Manage, "2"},
		{"failed", node.Manage, Entry{Kind: Failed, Verb: node.Manage}, "", "1"},
		{"another one failed", node.Deploy, Entry{Kind: Failed, Verb: node.Clear}, node.Deploy, "1"},
	} {
		h := Host{Asked: tt.asked, Accounts: "1"}.With(tt.e)
		if h.Asked != tt.left || h.Accounts != tt.accounts {
			t.Errorf("%s: asked %q, accounts %s", tt.name, h.Asked, h.Accounts)
		}
	}
}

// A host that was adopted stays so whatever is asked of it later, until it is deployed or that ends. One
// whose deployment has ended is off until it is started.
func TestHost_Adopted(t *testing.T) {
	h := Host{}
	for _, tt := range []struct {
		verb           node.Verb
		adopted, ended bool
	}{{node.Manage, false, false}, {node.Adopt, true, false}, {node.Update, true, false}, {node.Clear, true, false}, {node.BootDisk, true, false}, {node.Deploy, false, false},
		{node.Clear, false, false}, {node.Undeploy, false, true}, {node.Manage, false, true}, {node.Adopt, true, true}, {node.Undeploy, false, true}, {node.Adopt, true, true},
		{node.BootDisk, true, true}, {node.Undeploy, false, true}, {node.Deploy, false, false}, {node.Undeploy, false, true}} {
		if h = h.With(Entry{Time: at(1), Kind: Asked, Verb: tt.verb}); h.Adopted != tt.adopted || h.Ended != tt.ended {
			t.Errorf("after %q: %t, %t", tt.verb, h.Adopted, h.Ended)
		}
	}
	for _, e := range []Entry{{Kind: Failed, Verb: node.BootDisk}, {Kind: Done, Verb: node.Update}} {
		if h = h.With(e); !h.Ended {
			t.Errorf("after %+v: it runs", e)
		}
	}
	if h = h.With(Entry{Kind: Done, Verb: node.BootDisk}); h.Ended {
		t.Error("it was seen to run, and may still be off")
	}
}

// Another file of accounts has other hints, so that a disk is chosen anew. One that is being written
// stays the same.
func TestFold_OtherHints(t *testing.T) {
	disk := Entry{Kind: Disk, Host: "m", Disk: &node.Pinned{Serial: "S1"}}
	m := Fold([]Entry{disk, {Kind: Secrets, Evidence: "2"}})
	if d := m.Hosts["m"].Disk; d != (node.Pinned{}) {
		t.Errorf("the disk is still %v", d)
	}
	m = Fold([]Entry{disk, {Time: at(1), Kind: Asked, Host: "m", Verb: node.Deploy}, {Time: at(2), Kind: Secrets, Evidence: "2"}})
	if d := m.Hosts["m"].Disk; d != *disk.Disk {
		t.Errorf("the disk that is written is %v", d)
	}
	m = m.With(Entry{Time: at(3), Kind: Failed, Host: "m", Verb: node.Deploy})
	if d := m.Hosts["m"].Disk; d != (node.Pinned{}) {
		t.Errorf("the disk that is to be written next is %v", d)
	}
	m = m.With(disk).With(Entry{Time: at(4), Kind: Asked, Host: "m", Verb: node.Deploy}).With(Entry{Time: at(5), Kind: Failed, Host: "m", Verb: node.Deploy})
	if d := m.Hosts["m"].Disk; d != *disk.Disk {
		t.Errorf("the disk that is written again is %v", d)
	}
}

// A host that may still be written has its time anew with another file of accounts. One that counts as
// written has not.
func TestFold_Renewed(t *testing.T) {
	for _, tt := range []struct {
		kinds []Kind
		want  time.Time
	}{
		{[]Kind{Blocked, Secrets}, at(2)}, {[]Kind{Written, Secrets}, time.Time{}}, {[]Kind{Doubt, Secrets}, time.Time{}}, {[]Kind{Joined, Secrets}, time.Time{}},
		{[]Kind{Doubt, Allowed}, at(2)}, {[]Kind{Doubt, Allowed, Secrets}, at(3)}, {[]Kind{Secrets, Doubt, Allowed}, at(3)}, {[]Kind{Blocked}, time.Time{}},
	} {
		var all []Entry
		for i, k := range tt.kinds {
			e := Entry{Time: at(1 + i), Kind: k, Host: "m"}
			if k == Secrets {
				e.Host = ""
			}
			all = append(all, e)
		}
		if got := Fold(all).Hosts["m"].Since(); !got.Equal(tt.want) {
			t.Errorf("%v: since %v, want %v", tt.kinds, got, tt.want)
		}
	}
}

// Phases never go back, whatever a journal has.
func TestFold_PhasesGoOn(t *testing.T) {
	m := Fold([]Entry{{Kind: Phase, Phase: progress.DHCPOff}, {Kind: Phase, Phase: progress.Deploy}})
	if m.Phase != progress.DHCPOff {
		t.Errorf("DHCP is on again: %s", m.Phase)
	}
}

// A failed deployment is continued; one that may have been complete is not.
func TestFold_Writes(t *testing.T) {
	asked, failed := Entry{Time: at(1), Kind: Asked, Host: "m", Verb: node.Deploy}, Entry{Time: at(3), Kind: Failed, Host: "m", Verb: node.Deploy}
	for _, tt := range []struct {
		name  string
		kinds []Kind
		never bool
	}{
		{"failed", nil, false}, {"fetched", []Kind{Fetched}, false}, {"written", []Kind{Begun, Written}, true},
		{"allowed", []Kind{Begun, Doubt, Allowed}, false}, {"allowed, and joined", []Kind{Begun, Doubt, Allowed, Joined}, true},
		{"in doubt", []Kind{Begun, Doubt}, true}, {"joined", []Kind{Joined}, true},
	} {
		all := []Entry{asked}
		for _, k := range tt.kinds {
			all = append(all, Entry{Time: at(2), Kind: k, Host: "m"})
		}
		all = append(all, failed, asked, failed)
		h := Fold(all).Hosts["m"]
		if h.Never() != tt.never {
			t.Errorf("%s: %+v", tt.name, h)
		}
		if !tt.never && h.Write != (Write{}) {
			t.Errorf("%s: the failed write is remembered: %+v", tt.name, h.Write)
		}
	}
}

func TestShorten(t *testing.T) {
	all := run()
	for i := range 3 * kept {
		all = append(all, Entry{Time: at(30 + i), Kind: Started})
	}
	short := Shorten(all)
	if len(short) != kept+1 {
		t.Errorf("%d lines", len(short))
	}
	var file []byte
	for _, e := range short {
		file = append(file, Encode(e)...)
	}
	read, err := Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := Fold(read), Fold(all); !reflect.DeepEqual(got, want) {
		t.Errorf("memory %+v\nwant %+v", got, want)
	}
	if Shorten(nil) != nil {
		t.Error("an empty journal has lines")
	}
}

// TestShorten_LongLines holds that a journal of long lines is shorter than a file, also if each new line
// has it shortened again.
func TestShorten_LongLines(t *testing.T) {
	all, long := run(), Entry{Time: at(30), Kind: Failed, Host: "m0", Verb: node.Inspect, Cause: strings.Repeat("<", maxText)}
	for range kept {
		all = append(all, long)
	}
	for range 50 {
		all = Shorten(append(all, long))
		size := 0
		for _, e := range all {
			size += len(Encode(e))
		}
		if size > MaxFile || len(all) < 3 {
			t.Fatalf("%d lines of %d bytes", len(all), size)
		}
	}
}

func TestDecode(t *testing.T) {
	var file []byte
	for _, e := range run() {
		file = append(file, Encode(e)...)
	}
	got, err := Decode(append(bytes.Clone(file), `{"time":"2026-11-20T1`...))
	if err != nil || !reflect.DeepEqual(got, run()) {
		t.Errorf("with a torn line: %v, %v", got, err)
	}
	for line, want := range map[string]string{
		"{}\n": "no kind", `{"kind":"phase","phase":"x"}` + "\n": `no phase "x"`, `{"kind":"orders"}` + "\n": "no orders",
		`{"kind":"disk"}` + "\n": "no disk", `{"kind":"whole"}` + "\n": "no memory", "x\n": "line 16",
		`{"kind":"started","cause":"` + strings.Repeat("x", MaxLine) + "\"}\n": "more than",
	} {
		if _, err := Decode(append(bytes.Clone(file), line...)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %q", line, err, want)
		}
	}
	if e := Encode(Entry{Kind: Failed, Cause: strings.Repeat("ü", MaxLine)}); len(e) > 2*maxText {
		t.Errorf("a line of %d bytes", len(e))
	}
}

func FuzzDecode(f *testing.F) {
	for _, e := range run() {
		f.Add(Encode(e))
	}
	f.Add([]byte(`{"kind":"whole","memory":{"Phase":"deploy"}}` + "\n" + `{"kind":"begun","host":"m"}` + "\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		all, err := Decode(file)
		if err != nil {
			return
		}
		if short := Shorten(all); len(short) > 0 && !reflect.DeepEqual(Fold(short), Fold(all)) {
			t.Fatal("a shortened journal has another memory")
		}
	})
}

// TestRetries holds that what was tried again stays counted: neither another request, nor other
// accounts, nor a shortened journal takes it back.
func TestRetries(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	var all []Entry
	for _, e := range []Entry{
		{Kind: Asked, Verb: node.Manage}, {Kind: Failed, Verb: node.Manage}, {Kind: Asked, Verb: node.Inspect}, {Kind: Asked, Verb: node.BootNet},
		{Kind: Secrets}, {Kind: Failed, Verb: node.Inspect}, {Kind: Asked, Verb: node.Deploy}, {Kind: Asked, Verb: node.BootDisk},
	} {
		if e.Time = at; e.Kind != Secrets {
			e.Host = "m"
		}
		all = append(all, e)
	}
	short := Shorten(all)
	if a, b := Fold(all).Hosts["m"].Retries, Fold(short[len(short)-1:]).Hosts["m"].Retries; a != 3 || b != 3 {
		t.Errorf("%d retries, %d after it was shortened", a, b)
	}
}

// TestMemory_Took holds how long each phase took, and that a memory shares nothing with the next one.
func TestMemory_Took(t *testing.T) {
	at := time.Unix(1_700_000_000, 0).UTC()
	first := Fold([]Entry{{Time: at, Kind: Started}, {Time: at.Add(2 * time.Second), Kind: Phase, Phase: progress.Services}})
	second := first.With(Entry{Time: at.Add(9 * time.Second), Kind: Phase, Phase: progress.Preflight})
	second = second.With(Entry{Time: at.Add(20 * time.Second), Kind: Started})
	if first.Took[progress.Address] != 2*time.Second || len(first.Took) != 1 || second.Took[progress.Services] != 7*time.Second || len(second.Took) != 2 {
		t.Errorf("%v, then %v", first.Took, second.Took)
	}
}
