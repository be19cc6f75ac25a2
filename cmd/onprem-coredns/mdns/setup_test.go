package mdns

import (
	"fmt"
	"strings"
	"testing"

	"github.com/coredns/caddy"
)

// TestParse holds what may be written, configurations of years ago among them.
func TestParse(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"the domain alone", "mdns ostest.example.com", "ostest.example.com. 3 \"\" invalid IP []"},
		{"a node of 2019", "mdns ostest.example.com 0 ostest", "ostest.example.com. 0 \"ostest\" invalid IP []"},
		{"a node of 2020", "mdns Ostest.example.com. 0 ostest 192.0.2.10", "ostest.example.com. 0 \"ostest\" 192.0.2.10 []"},
		{"the bootstrap machine", "mdns ostest.example.com 3 ostest", "ostest.example.com. 3 \"ostest\" invalid IP []"},
		{"words that a template left empty", `mdns ostest.example.com "" "" ""`, "ostest.example.com. 3 \"\" invalid IP []"},
		{"networks", "mdns ostest.example.com 0 ostest 2001:db8::1 {\n networks 192.0.2.1/24 2001:db8::/64\n}", "ostest.example.com. 0 \"ostest\" 2001:db8::1 [192.0.2.0/24 2001:db8::/64]"},
		{"nothing", "mdns", "not with 0 words"},
		{"too much", "mdns a 1 b 192.0.2.1 c", "not with 5 words"},
		{"no domain", "mdns under_score", "the domain: "},
		{"no number", "mdns a.example three", `MIN_SRV is "three": write a whole number`},
		{"less than none", "mdns a.example -1", `MIN_SRV is "-1"`},
		{"no address", "mdns a.example 0 b eth0", `BIND_ADDRESS is "eth0"`},
		{"an unknown option", "mdns a.example {\n ttl 3\n}", `there is no option "ttl"`},
		{"no network", "mdns a.example {\n networks 192.0.2.1\n}", `"192.0.2.1" is no network`},
		{"twice", "mdns a.example\nmdns b.example", "this plugin can only be used once"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, err := parse(caddy.NewTestController("dns", tt.text))
			got := fmt.Sprintf("%s %d %q %v %v", s.zone, s.least, s.wish.Cluster, s.bind, s.wish.Networks)
			if err != nil {
				got = err.Error()
			}
			if got != tt.want && (err == nil || !strings.Contains(got, tt.want)) {
				t.Errorf("got %s, want %s", got, tt.want)
			}
		})
	}
}

// FuzzParse: whatever is written, it is refused or has a zone.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"mdns a.example 3 b 192.0.2.1 {\n networks 192.0.2.0/24\n}", "mdns \"\" {", "mdns a.example\nmdns", "mdns a.example 9999999999999999999"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parse(caddy.NewTestController("dns", text))
		if err == nil && s.zone != "" && (!strings.HasSuffix(s.zone, ".") || s.least < 0) {
			t.Errorf("%q became %+v", text, s)
		}
	})
}
