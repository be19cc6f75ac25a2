package haproxy

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// sample is what HAProxy 2.6.12 answered to "show stat"; most of its free slots are left out, and
// one check is under way.
func sample(t testing.TB) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("testdata", "stat.csv"))
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestParseStats(t *testing.T) {
	stats, err := ParseStats(sample(t))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range stats {
		got = append(got, fmt.Sprintf("%s/%s %s %s %q up=%t disabled=%t passed=%t %d %d", s.Backend, s.Server, s.Address, s.Status, s.Check, s.Up(), s.Disabled(), s.Passed(), s.Code, s.Sessions))
	}
	for _, want := range []string{
		`masters/s0 127.0.0.2:6443 UP "L7OK" up=true disabled=false passed=true 0 7`,
		`masters/s1 127.0.0.1:1 MAINT "" up=false disabled=true passed=false 0 0`,
		`masters-open/s0 127.0.0.2:6443 no check "" up=true disabled=false passed=false 0 0`,
		`machine-config/s0 192.0.2.10:22623 DOWN "L4CON" up=false disabled=false passed=false 0 0`,
	} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is missing", want)
		}
	}
	if len(got) != 4*3 {
		t.Errorf("%d servers, want 12:\n%s", len(got), strings.Join(got, "\n"))
	}
}

// TestReady holds that a server is not called ready before it has passed a check: HAProxy calls it
// up from the start.
func TestReady(t *testing.T) {
	for _, tt := range []struct {
		name string
		stat Stat
		want bool
	}{
		{"passed", Stat{Backend: Masters, Status: "UP", Check: "L7OK", Code: 200}, true},
		{"going down, by what was no answer", Stat{Backend: Masters, Status: "UP 1/2", Check: "L7RSP", Code: 200}, false},
		{"it refuses anonymous requests (401)", Stat{Backend: Masters, Status: "UP", Check: "L7OK", Code: 401}, false},
		{"it refuses anonymous requests (403)", Stat{Backend: Masters, Status: "UP", Check: "L7OK", Code: 403}, false},
		{"passed without a status", Stat{Backend: Masters, Status: "UP", Check: "L7OK"}, false},
		{"going up", Stat{Backend: Masters, Status: "DOWN 1/3", Check: "L7OK", Code: 200}, false},
		{"going down", Stat{Backend: Masters, Status: "UP 1/2", Check: "L7STS"}, false},
		{"not checked yet", Stat{Backend: Masters, Status: "UP"}, false},
		{"being initialised", Stat{Backend: Masters, Status: "UP", Check: "INI"}, false},
		{"not checked at all", Stat{Backend: MastersOpen, Status: "no check"}, false},
		{"another backend", Stat{Backend: MachineConfig, Status: "UP", Check: "L7OK", Code: 200}, false},
		{"connected only", Stat{Backend: Masters, Status: "UP", Check: "L4OK"}, false},
		{"out by order", Stat{Backend: Masters, Status: "MAINT", Check: "L7OK", Code: 200}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Ready([]Stat{{Backend: Masters, Status: "DOWN", Check: "L4CON"}, tt.stat}); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

// TestReserved holds that only those which clients may be sent to are asked again.
func TestReserved(t *testing.T) {
	at := func(i byte) netip.AddrPort { return netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, i}), 6443) }
	got := Reserved([]Stat{
		{Backend: Masters, Status: "UP", Check: "L7OK", Code: 401, Address: at(1)},
		{Backend: Masters, Status: "UP", Check: "L7OK", Code: 403, Address: at(2)},
		{Backend: Masters, Status: "UP", Check: "L7OK", Code: 200, Address: at(3)},
		{Backend: Masters, Status: "DOWN 1/3", Check: "L7OK", Code: 403, Address: at(4)},
		{Backend: Masters, Status: "DOWN", Check: "L7STS", Code: 500, Address: at(5)},
		{Backend: MachineConfig, Status: "UP", Check: "L7OK", Code: 403, Address: at(6)},
		{Backend: Masters, Status: "UP", Check: "L7OK", Code: 403},
	})
	if want := []netip.AddrPort{at(1), at(2)}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestParseStatsBad(t *testing.T) {
	whole := sample(t)
	for name, text := range map[string][]byte{
		"nothing":       nil,
		"no first line": whole[bytes.IndexByte(whole, '\n')+1:],
		"cut in a row":  whole[:len(whole)-40],
		"an error":      []byte("Permission denied\n"),
		"HTML":          []byte("<html><body><h1>503 Service Unavailable</h1>\n"),
	} {
		if stats, err := ParseStats(text); err == nil {
			t.Errorf("%s: got %d servers", name, len(stats))
		}
	}
}

func FuzzParseStats(f *testing.F) {
	f.Add(sample(f))
	f.Add([]byte("# pxname,svname,scur,status,lastchg,type,check_status,check_code,addr,\nmasters,s0,1,UP,3,2,* L7OK,200,[2001:db8::10]:6443,\n"))
	f.Add([]byte("# pxname\n\"a\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		stats, err := ParseStats(text)
		if err != nil && stats != nil {
			t.Errorf("%d servers beside %v", len(stats), err)
		}
	})
}
