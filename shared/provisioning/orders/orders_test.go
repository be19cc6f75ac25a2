package orders

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

func TestOrders_ReadAsWritten(t *testing.T) {
	m, err := mac.Parse("52:54:00:00:00:01")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []Orders{{}, {Generation: 7, On: []Part{Address, DHCP}, Hosts: []mac.MAC{m}, Why: "deploy"}} {
		got, err := DecodeOrders(EncodeOrders(want))
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("read %+v, %v, want %+v", got, err, want)
		}
	}
	at := time.Unix(1_700_000_000, 0).UTC()
	want := Report{Part: DHCP, Generation: 7, On: true, Ready: true, Since: at, At: at, Why: "answers 3 hosts"}
	if got, err := DecodeReport(EncodeReport(want)); err != nil || got != want {
		t.Errorf("read %+v, %v, want %+v", got, err, want)
	}
}

// A file that is cut off, of another release or of no known part orders nothing.
func TestOrders_Refused(t *testing.T) {
	for file, want := range map[string]string{
		"":                           "end of JSON",
		`{"version":1}`:              "no content",
		`{"version":2,"content":{}}`: "version is 2",
		`{"version":1,"content":{"on":["address","telnet"]}}`: `no part "telnet"`,
	} {
		if o, err := DecodeOrders([]byte(file)); err == nil || !strings.Contains(err.Error(), want) || len(o.On) > 0 {
			t.Errorf("%s: %+v, %v, want an error with %q", file, o, err, want)
		}
	}
	if _, err := DecodeReport([]byte(`{"version":1,"content":{}}`)); err == nil {
		t.Error("a report of no part was read")
	}
}

func TestReport_Follows(t *testing.T) {
	now := time.Unix(1_700_000_000, 0)
	o := Orders{Generation: 3, On: []Part{Address}}
	good := Report{Part: Address, Generation: 3, On: true, Ready: true, At: now}
	if !good.Follows(o, now) {
		t.Error("a part that is on as ordered does not follow")
	}
	for name, change := range map[string]func(*Report){
		"former orders": func(r *Report) { r.Generation = 2 },
		"off":           func(r *Report) { r.On = false },
		"not ready":     func(r *Report) { r.Ready = false },
		"old":           func(r *Report) { r.At = now.Add(-Stale) },
		"other part":    func(r *Report) { r.Part = DHCP },
	} {
		r := good
		if change(&r); r.Follows(o, now) {
			t.Errorf("%s: it follows", name)
		}
	}
}
