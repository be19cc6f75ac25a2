package supervised

import (
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the golden files")

func sample() Status {
	return Status{
		PID:     17,
		Applied: Digest([]byte("in force")),
		Refused: &Refusal{Candidate: Digest([]byte("bad")), Output: "(candidate.conf: Line 3) Unknown keyword 'vrr'"},
		Instances: map[string]Instance{
			"demo_API_1": {State: Backup, Priority: 70},
			"demo_API_0": {State: Master, Priority: 70},
		},
		Restarts: 2,
	}
}

func TestEncode(t *testing.T) {
	got := Encode(sample())
	golden := filepath.Join("testdata", t.Name()+".golden")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

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
		{"a newer supervisor", `{"pid": 3, "weather": "fine"}`, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Decode([]byte(tt.text))
			if (err == nil) != (tt.wantErr == "") || err != nil && !strings.Contains(err.Error(), tt.wantErr) {
				t.Errorf("got %v, want %q", err, tt.wantErr)
			}
		})
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(sample()))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Decode(text)
		if err != nil {
			return
		}
		if again, err := Decode(Encode(s)); err != nil || again.PID != s.PID || len(again.Instances) != len(s.Instances) {
			t.Errorf("%q does not survive a round trip: %v", text, err)
		}
	})
}
