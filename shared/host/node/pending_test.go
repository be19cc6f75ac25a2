package node

import (
	"encoding/json"
	"log/slog"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestHost_Pending holds that a migration is to come until its instant, which counts if the nodes agreed on
// it for this one.
func TestHost_Pending(t *testing.T) {
	c := fakehost.Cluster("lan")
	c.Routing = fakehost.Routed().Routing
	c.Routing.Management, c.MigrateFrom.Management = routing.Both, spec.ByVRRP
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	at := fakehost.Begin.Truncate(5 * time.Minute).Add(5 * time.Minute)
	for _, tt := range []struct {
		name    string
		kept    migrate.Memory
		now, at time.Time
		comes   bool
	}{
		{"nothing is agreed", migrate.Memory{Speaks: "lan/unicast"}, fakehost.Begin, time.Time{}, true},
		{"an instant", migrate.Memory{Speaks: "lan/unicast", To: "lan/unicast/both", At: at}, fakehost.Begin, at, true},
		{"that of another migration", migrate.Memory{Speaks: "lan/unicast", To: "vm/unicast", At: at}, fakehost.Begin, time.Time{}, true},
		{"it is over", migrate.Memory{Speaks: "lan/unicast", To: "lan/unicast/both", At: at}, at.Add(time.Minute), time.Time{}, false},
		{"long ago", migrate.Memory{Speaks: "lan/unicast/both"}, fakehost.Begin, time.Time{}, false},
	} {
		h := New(t.TempDir())
		fakehost.Write(t, h.Files(), map[string]string{vip.MigrationPath: string(migrate.EncodeMemory(tt.kept))})
		got := h.Pending(p, tt.now, slog.New(slog.DiscardHandler))
		if (got != nil) != tt.comes || got != nil && (!got.At.Equal(tt.at) || got.Plan.Former == nil) {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	h := New(t.TempDir())
	waits := []string{"master-1 not yet", "the bootstrap machine has not left yet"}
	text, err := json.Marshal(waits)
	if err != nil {
		t.Fatal(err)
	}
	fakehost.Write(t, h.Files(), map[string]string{filepath.Join(supervised.RunDir, migrate.LacksFile): string(text)})
	got := h.Pending(p, fakehost.Begin, slog.New(slog.DiscardHandler))
	if got == nil || !slices.Equal(got.Waits, waits) {
		t.Errorf("what it waits for: %+v", got)
	}
	if p.Former, p.Fallback = nil, nil; New(t.TempDir()).Pending(p, fakehost.Begin, slog.New(slog.DiscardHandler)) != nil {
		t.Error("a migration without a former plan")
	}
}

// TestHost_Resume holds that a node which has yet to change still has its migration when its file has
// none any more, and that the timing in force is the former one until then.
func TestHost_Resume(t *testing.T) {
	c := fakehost.Cluster("lan")
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	for name, tt := range map[string]struct{ kept, comes string }{
		"it remembers nothing":    {"", ""},
		"it has changed":          {`{"speaks": "lan/unicast"}`, ""},
		"it has yet to change":    {`{"speaks": "compat/unicast"}`, "compat/unicast"},
		"it cannot be resumed":    {`{"speaks": "other/unicast"}`, ""},
		"its memory is damaged":   {`{"speaks": "compat/`, ""},
		"it is on another timing": {`{"speaks": "vm/unicast"}`, "vm/unicast"},
	} {
		h := New(t.TempDir())
		fakehost.Write(t, h.Files(), map[string]string{vip.MigrationPath: tt.kept})
		resumed := h.Resume(p, c)
		comes := ""
		if got := h.Pending(resumed, fakehost.Begin, log); got != nil {
			comes = got.From.String()
		}
		if comes != tt.comes || resumed.Way() != p.Way() {
			t.Errorf("%s: it comes from %q to %s", name, comes, resumed.Way())
		}
	}
}

// TestHost_FellBack holds which plan counts on a node whose timing needs a proof, and what is
// reported of it: a change that no node has asked for is not to come.
func TestHost_FellBack(t *testing.T) {
	c := fakehost.Cluster("fast")
	c.TimingProof = map[string]uint32{"a": 900, "b": 1100, "c": 2000}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	log, at := slog.New(slog.DiscardHandler), fakehost.Begin.Truncate(5*time.Minute).Add(5*time.Minute)
	for _, tt := range []struct {
		name  string
		kept  migrate.Memory
		now   time.Time
		fell  string
		comes bool
	}{
		{"it has begun", migrate.Memory{}, fakehost.Begin, "", false},
		{"all in time", migrate.Memory{Speaks: "fast/unicast"}, fakehost.Begin, "", false},
		{"an instant", migrate.Memory{Speaks: "fast/unicast", To: "lan/unicast", At: at}, fakehost.Begin, "", true},
		{"it is over", migrate.Memory{Speaks: "fast/unicast", To: "lan/unicast", At: at}, at.Add(time.Minute), "fast", false},
		{"long ago", migrate.Memory{Speaks: "lan/unicast", FellBack: true}, fakehost.Begin, "fast", false},
		{"it has yet to leave lan", migrate.Memory{Speaks: "lan/unicast"}, fakehost.Begin, "", false},
	} {
		h := New(t.TempDir())
		fakehost.Write(t, h.Files(), map[string]string{vip.MigrationPath: string(migrate.EncodeMemory(tt.kept))})
		got := h.Pending(p, tt.now, log)
		if fell := h.FellBack(p, tt.now, log); fell != tt.fell || (got != nil) != tt.comes {
			t.Errorf("%s: fell back from %q, and %+v is to come", tt.name, fell, got)
		}
		if got != nil && (!got.At.Equal(at) || got.To.String() != "lan/unicast" || got.From.String() != "fast/unicast") {
			t.Errorf("%s: %+v", tt.name, got)
		}
	}
	lan, err := plan.Compile(fakehost.Cluster("lan"))
	if err != nil {
		t.Fatal(err)
	}
	if fell := New(t.TempDir()).FellBack(lan, at, log); fell != "" {
		t.Errorf("lan fell back from %q", fell)
	}
	h := New(t.TempDir())
	for text, want := range map[string][]string{`[]`: nil, `["master-1 not yet"]`: {"master-1 not yet"}} {
		fakehost.Write(t, h.Files(), map[string]string{filepath.Join(supervised.RunDir, migrate.LacksFile): text})
		got := h.Pending(p, fakehost.Begin, log)
		if (got != nil) != (want != nil) || got != nil && (!got.Late || !got.At.IsZero() || !slices.Equal(got.Waits, want)) {
			t.Errorf("the monitor reports %s: %+v is to come", text, got)
		}
	}
}
