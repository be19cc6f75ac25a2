package notice

import (
	"maps"
	"strings"
	"testing"
	"time"
)

// TestHandover holds that the object reads as it was written, with whole seconds, and that nothing is
// read of what no program of ours writes.
func TestHandover(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 5e8, time.FixedZone("", 3600))
	p := Progress{Phase: "takeover", Since: at, Machine: "boot", Waits: "Ironic\n" + strings.Repeat("ü", mostText), At: at.Add(time.Minute)}
	data := EncodeHandover(p)
	got := ReadHandover(data)
	if got.Phase != p.Phase || got.Machine != p.Machine || !got.Since.Equal(p.Since.Truncate(time.Second)) || !got.At.Equal(p.At.Truncate(time.Second)) || !strings.HasPrefix(p.Waits, got.Waits) || len(got.Waits) < mostText-2 {
		t.Errorf("%+v", got)
	}
	if !maps.Equal(EncodeHandover(got), data) {
		t.Errorf("%v is written as %v", data, EncodeHandover(got))
	}
	for name, wrong := range map[string]map[string]string{"nothing": nil, "no phase": {"phase": ""}, "no machine": {"machine": ""}, "no time": {"at": "noon"}, "no beginning": {"since": ""}, "long": {"waits": strings.Repeat("x", mostText+1)}} {
		all := maps.Clone(data)
		maps.Copy(all, wrong)
		if wrong == nil {
			all = nil
		}
		if got := ReadHandover(all); got != (Progress{}) {
			t.Errorf("%s: %+v", name, got)
		}
	}
	same := Progress{Phase: p.Phase, Since: p.Since, Machine: p.Machine}
	for _, other := range []Progress{{Phase: "x", Since: p.Since, Machine: "boot"}, {Phase: p.Phase, Machine: "boot"}, {Phase: p.Phase, Since: p.Since}} {
		if !same.Same(p) || p.Same(other) {
			t.Errorf("%+v", other)
		}
	}
}
