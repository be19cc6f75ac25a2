package supervised

import (
	"bytes"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/golden"
)

func sample() Status {
	return Status{
		PID:     17,
		Applied: Digest([]byte("in force")),
		Refused: &Refusal{Candidate: Digest([]byte("bad")),
			Output: "(candidate.conf: Line 3) Unknown keyword 'vrr'"},
		Instances: map[string]Instance{
			"demo_API_1": {State: Backup, Priority: 70},
			"demo_API_0": {State: Master, Priority: 70},
		},
		Restarts: 2, Leaving: Asked, MonitorStale: true,
		Contested: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, Outlives: time.Second,
		Troubles: []string{"write the status: no space left on device"},
	}
}

func TestEncode(t *testing.T) { golden.Check(t, Encode(sample())) }

func TestRoundTrip(t *testing.T) {
	for _, want := range []Status{sample(), {Instances: map[string]Instance{}}} {
		got, err := Decode(Encode(want))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("got %+v, want %+v", got, want)
		}
	}
}

func TestDecode(t *testing.T) {
	tests := []struct {
		name, text, wantErr string
	}{
		{"empty file", "", "read supervisor status"},
		{"half a file", `{"pid": 3, "inst`, "read supervisor status"},
		{"unknown state", `{"instances": {"a": {"state": "KING"}}}`, `unknown state "KING"`},
		{"unknown step of leaving", `{"leaving": "soon"}`, `unknown step "soon"`},
		{"a newer supervisor", `{"pid": 3, "weather": "fine"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.text))
			if (err == nil) != (tt.wantErr == "") || err != nil &&
				!strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("got %v, want %q", err, tt.wantErr)
			}
		})
	}
}

// FuzzDecode holds that a status that is read is one that could have been written, to the letter:
// half a file is none.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(sample()))
	f.Add([]byte(`{"pid": 3, "applied": null, "refused": {}, "instances": {"a": {"state": "INIT"}, "\u0000": {"state": "MASTER", "priority": -1}}}`))
	f.Add([]byte(`{"instances": {"a": {"state": "KING"}}}`))
	f.Add([]byte(`{"pid": 1e400}`))
	f.Add([]byte(`null`))
	f.Add([]byte(`{"troubles": []}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Decode(text)
		if err != nil {
			if !reflect.DeepEqual(s, Status{}) {
				t.Errorf("%q gives %+v beside %v", text, s, err)
			}
			return
		}
		for name, i := range s.Instances {
			if !slices.Contains([]State{Init, Backup, Master, Fault}, i.State) {
				t.Errorf("%q gives %q the state %q", text, name, i.State)
			}
		}
		again, err := Decode(Encode(s))
		if s.Instances == nil {
			s.Instances = map[string]Instance{}
		}
		if err != nil || !bytes.Equal(Encode(again), Encode(s)) {
			t.Errorf("%q reads as %+v and, written again, as %+v (%v)", text, s, again, err)
		}
	})
}
