package notice

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// TestPublished holds that a list is read as it was written, and refused whole when a part of it is
// bad.
func TestPublished(t *testing.T) {
	worker := Candidate{Name: "worker-0", Addresses: addrs("192.0.2.10", "2001:db8::10"), Key: "a key of whichever kind"}
	for _, p := range []Published{{1, []Candidate{}}, {mostSerial - 1, []Candidate{worker}}} {
		got, err := ReadPublished(EncodePublished(p), cluster)
		if err != nil || !reflect.DeepEqual(got, p) {
			t.Errorf("%v became %v, %v", p, got, err)
		}
	}
	if got := EncodePublished(Published{Serial: 1}); got != `{"serial":1,"candidates":[]}` {
		t.Errorf("no candidates are written as %s", got)
	}
	if data := EncodeCandidates([]Candidate{worker}); strings.Contains(data[candidatesKey], "key") {
		t.Errorf("the former release gets %v", data)
	}
	for text, want := range map[string]string{
		"":                               "JSON",
		`{"serial":1}`:                   "want a list",
		`{"serial":1,"candidates":null}`: "want a list",
		`{"candidates":[]}`:              "the serial 0",
		`{"serial":-1,"candidates":[]}`:  "cannot unmarshal",
		fmt.Sprintf(`{"serial":%d,"candidates":[]}`, uint64(mostSerial)):                  "the serial",
		`{"serial":1,"candidates":[{"name":"a","addresses":["198.51.100.1"]}]}`:           "no machine network",
		`{"serial":1,"candidates":[{"name":"a","addresses":["192.0.2.5"]}]}`:              "VIP",
		`{"serial":1,"candidates":[` + strings.Repeat(" ", longest) + `]}`:                "bytes",
		`{"serial":1,"candidates":[{"name":"a","addresses":["192.0.2.1"]},{"name":"a"}]}`: "there twice",
	} {
		if _, err := ReadPublished(text, cluster); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60s: %v, want %q", text, err, want)
		}
	}
}
