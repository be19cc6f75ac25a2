package supervised

import (
	"bytes"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// whole is a configuration in which every field is set.
func whole() keepalived.Config {
	ip := netip.MustParseAddr
	return keepalived.Config{
		Header: "Rendered by onprem-infra.", NotifyFIFO: "/run/notify.fifo",
		Leave: "/run/track/leave",
		Checks: []keepalived.Check{{
			Name: "chk", Command: "/bin/true", Interval: time.Second,
			Timeout: 900 * time.Millisecond,
			Rise:    3, Fall: 2, Weight: 5,
		}},
		Tracks: []keepalived.Track{{Name: "lb", File: "/run/track/lb", Weight: 20}},
		Groups: []keepalived.SyncGroup{{
			Name: "VG_API", Members: []vrrp.InstanceName{"ostest_API_0"},
			Tracks: []vrrp.CheckName{"lb"},
		}},
		Instances: []keepalived.Instance{{
			Name: "ostest_API_0", Interface: "enp1s0", ID: 14, Version: vrrp.V2, Priority: 40,
			Advert: time.Second, Refresh: 10 * time.Second, Source: ip("192.0.2.11"),
			Peers: []netip.Addr{ip("192.0.2.12")}, AuthPass: "ostest_a", VIP: ip("192.0.2.5"),
			Checks: []vrrp.CheckName{"chk"}, Grouped: true, Filter: keepalived.Filter{Known: true, Near: true},
		}, {
			Name: "ostest_API_1", Interface: "br-ex", ID: 14, Version: vrrp.V3, Priority: 40,
			Advert: 100 * time.Millisecond, VIP: ip("2001:db8::5"), Tracks: []vrrp.CheckName{"lb"},
			Device: "eno2", Bits: 64,
		}},
	}
}

// TestCandidate pins what goes from a monitor to a supervisor, which may be of two releases, and
// that it is read as it was.
func TestCandidate(t *testing.T) {
	file, text := EncodeCandidate(whole())
	golden.Check(t, file)
	got, err := DecodeCandidate(file)
	if err != nil || !reflect.DeepEqual(got, whole()) {
		t.Errorf("%v\ngot  %+v\nwant %+v", err, got, whole())
	}
	if !bytes.Equal(text, keepalived.Render(whole())) {
		t.Errorf("the text is\n%s", text)
	}
	for name, change := range map[string]func() ([]byte, []byte){
		"the text of another monitor": func() ([]byte, []byte) { return file, append(text, '#') },
		"no file":                     func() ([]byte, []byte) { return nil, text },
		"a broken file":               func() ([]byte, []byte) { return file[:len(file)-3], text },
	} {
		if NamesText(change()) {
			t.Errorf("%s counts as its own", name)
		}
	}
	if !NamesText(file, text) {
		t.Error("its own text counts as another monitor's")
	}
}

func TestDecodeCandidate_Refuses(t *testing.T) {
	file, _ := EncodeCandidate(whole())
	for _, tt := range []struct{ name, old, with, reports string }{
		{"a newer version", `"version": 2`, `"version": 3, "more": {}`,
			"its version is 3, this release reads up to 2"},
		{"no version", `"version": 2,`, "", "its version is 0"},
		{"an unknown field", `"vip": "192`, `"vips": [], "vip": "192`, `unknown field "vips"`},
		{"an address that is none", `"192.0.2.5"`, `"api"`, "api"},
		{"an ID that is none", `"id": 14`, `"id": 300`, "300"},
		{"a text for a number", `"rise": 3`, `"rise": "3"`, "rise"},
		{"two statements in a word", `"enp1s0"`, `"enp1s0\n priority 250"`, "interface"},
		{"half of it", string(file[len(file)/2:]), "", "unexpected EOF"},
		{"two of it", "\n}\n", "\n}\n{}", "more follows it"},
	} {
		bad := strings.Replace(string(file), tt.old, tt.with, 1)
		if got, err := DecodeCandidate([]byte(bad)); err == nil ||
			!reflect.DeepEqual(got, keepalived.Config{}) {
			t.Errorf("%s: %v, %+v", tt.name, err, got)
		} else if !strings.Contains(err.Error(), tt.reports) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.reports)
		}
	}
}

// FuzzDecodeCandidate holds that whatever is read renders as a text of the same meaning, and nothing
// more.
func FuzzDecodeCandidate(f *testing.F) {
	file, _ := EncodeCandidate(whole())
	f.Add(file)
	f.Add(bytes.Replace(file, []byte("enp1s0"), []byte(`a\n}`), 1))
	f.Add([]byte(`{"version": 1, "config": {"instances": [{}]}}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		c, err := DecodeCandidate(file)
		if err != nil {
			return
		}
		text := keepalived.Render(c)
		again, err := keepalived.Parse(text)
		if err != nil || !bytes.Equal(keepalived.Render(again), text) {
			t.Errorf("%v: %s makes\n%s", err, file, text)
		}
	})
}
