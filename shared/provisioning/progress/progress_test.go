package progress

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

var start = time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)

func example() Progress {
	return Progress{Phase: Deploy, Since: start, At: start.Add(time.Minute), Waits: "2 hosts", DHCP: true,
		Deadline: start.Add(time.Hour), Served: []mac.MAC{{2, 0, 0, 0, 0, 1}}, Warnings: []string{"bmc of master-0: verification is off"},
		Hosts: []Host{{Name: "master-1", MAC: mac.MAC{2, 0, 0, 0, 0, 1}, Step: Inspect, State: "inspect wait",
			Waits: "the ramdisk to call back", Since: start, Deadline: start.Add(20 * time.Minute),
			LastSeen: Event{"kernel fetched", start.Add(10 * time.Second)},
			Next:     Event{"PXE again", start.Add(12 * time.Minute)}, Attempts: 1, Tries: 5}}}
}

func TestProgress_ReadAsWritten(t *testing.T) {
	for _, want := range []Progress{{Phase: Ended}, example()} {
		if got, err := Decode(Encode(want)); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, %v, want %+v", got, err, want)
		}
	}
}

func TestProgress_Refused(t *testing.T) {
	for text, want := range map[string]string{
		"":                            "EOF",
		`{"version":2,"progress":{}}`: "version is 2",
		`{"version":1,"progress":{}}`: `no phase ""`,
		strings.Repeat(" ", Most+1):   "more than",
		`{"version":1,"progress":{"phase":"ended","hosts":[{}]}}`: "no name",
	} {
		if _, err := Decode([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want an error with %q", text, err, want)
		}
	}
}

func TestHost_Line(t *testing.T) {
	h := example().Hosts[0]
	now := start.Add(4 * time.Minute)
	if got, want := h.Line(now), "master-1: waiting for the ramdisk to call back, 4 m of 20 m; "+
		"last seen: kernel fetched 3 m 50 s ago; next: PXE again at 10:42"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	h = Host{Name: "m", Step: Joined}
	if got := h.Line(now); got != "m: joined" {
		t.Error(got)
	}
	h.Blocker = "its BMC refuses the password: correct it"
	if got := h.Line(now); got != "m: blocked: its BMC refuses the password: correct it" {
		t.Error(got)
	}
}

func TestShort(t *testing.T) {
	for d, want := range map[time.Duration]string{-time.Second: "0 s", 59 * time.Second: "59 s", time.Hour + time.Minute: "1 h 1 m"} {
		if got := Short(d); got != want {
			t.Errorf("%s: %q, want %q", d, got, want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(Encode(example()))
	f.Add([]byte("{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Decode(text)
		if err != nil {
			return
		}
		for _, h := range p.Hosts {
			_ = h.Line(start)
		}
		if _, err := Decode(Encode(p)); err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
	})
}
