package events

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

var example = Event{Time: time.Unix(1_700_000_000, 5).UTC(), Host: "master-0",
	MAC: mac.MAC{0x52, 0x54, 0, 0, 0, 1}, Source: DHCP, Kind: "ack", Detail: "172.22.0.11"}

func TestEvent_ReadAsWritten(t *testing.T) {
	bare := Event{Time: example.Time, Source: HTTP, Kind: "get"}
	all, broken := Decode(slices.Concat(Encode(example), Encode(bare)))
	if broken != 0 || !slices.Equal(all, []Event{example, bare}) {
		t.Errorf("read %+v, %d broken lines", all, broken)
	}
	if strings.Contains(string(Encode(bare)), "mac") {
		t.Errorf("an unknown card is written: %s", Encode(bare))
	}
}

// TestEncode_Bounded holds that nothing that a host sends makes a line that is not read again.
func TestEncode_Bounded(t *testing.T) {
	for _, text := range []string{strings.Repeat("\x00", 4096), strings.Repeat("é", 4096), strings.Repeat("<\"\n", 4096), "\xff\xfe"} {
		line := Encode(Event{Time: time.Date(20000, 1, 1, 0, 0, 0, 0, time.UTC), Host: text, Source: TFTP, Kind: text, Detail: text})
		all, broken := Decode(line)
		if len(all) == 1 && text[0] == 0xc3 && (strings.Contains(all[0].Detail+all[0].Host, "\ufffd") || len(all[0].Detail) < maxText-1 || len(all[0].Host) != maxName-1) {
			t.Errorf("%.20q: cut within a character, or too short: %d and %d bytes", text, len(all[0].Detail), len(all[0].Host))
		}
		if len(line) > MaxLine || bytes.Count(line, []byte("\n")) != 1 || len(all) != 1 || broken != 0 || !utf8.ValidString(all[0].Detail) {
			t.Errorf("%.20q: %d bytes, read %d, broken %d", text, len(line), len(all), broken)
		}
	}
}

// TestDecode_Broken holds that one broken line costs no other.
func TestDecode_Broken(t *testing.T) {
	good := string(Encode(example))
	for _, bad := range []string{"x\n", "{}\n", good[:len(good)-9] + "\n", `{"source":"telnet","kind":"x"}` + "\n", `{"source":"dhcp","kind":"x","detail":"` + strings.Repeat("a", MaxLine) + "\"}\n"} {
		if all, broken := Decode([]byte(good + bad + good)); len(all) != 2 || broken != 1 {
			t.Errorf("%.40q: read %d, broken %d", bad, len(all), broken)
		}
	}
}

func TestOf(t *testing.T) {
	named, other := Event{Host: "master-0"}, Event{Host: "master-1", MAC: mac.MAC{2}}
	byCard := Event{MAC: example.MAC}
	unknown := Event{}
	if got := Of([]Event{named, other, byCard, unknown}, "master-0", example.MAC, mac.MAC{}); !slices.Equal(got, []Event{named, byCard}) {
		t.Errorf("got %+v", got)
	}
	late, early := Event{Time: time.Unix(2, 0)}, Event{Time: time.Unix(1, 0)}
	all := []Event{late, early}
	if Sort(all); all[0] != early {
		t.Errorf("sorted %+v", all)
	}
}

// FuzzDecode holds that what is read is written as what reads as the same.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(example))
	f.Add([]byte("{}\n\x00"))
	f.Fuzz(func(t *testing.T, file []byte) {
		all, _ := Decode(file)
		for _, e := range all {
			once, broken := Decode(Encode(e))
			if len(once) != 1 || broken != 0 || len(Encode(e)) > MaxLine {
				t.Fatalf("%+v is written as %q", e, Encode(e))
			}
			if again, _ := Decode(Encode(once[0])); len(again) != 1 || !again[0].Time.Equal(once[0].Time) || again[0].Detail != once[0].Detail {
				t.Errorf("%+v, then %+v", once, again)
			}
		}
	})
}
