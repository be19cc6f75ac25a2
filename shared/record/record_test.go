package record

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestParseName(t *testing.T) {
	label63 := strings.Repeat("a", 63)
	name253 := strings.Repeat(label63+".", 3) + strings.Repeat("b", 61)
	tests := []struct {
		name, in, want, wrong string
	}{
		{name: "plain", in: "ostest.example.com", want: "ostest.example.com"},
		{name: "case", in: "OsTest.Example.COM", want: "ostest.example.com"},
		{name: "final dot", in: "example.com.", want: "example.com"},
		{name: "one label", in: "lan", want: "lan"},
		{name: "digits and hyphens", in: "1st.x--y.0", want: "1st.x--y.0"},
		{name: "63 in a label", in: label63 + ".com", want: label63 + ".com"},
		{name: "253 in all", in: name253 + ".", want: name253},
		{name: "empty", in: "", wrong: "is empty"},
		{name: "root", in: ".", wrong: "is empty"},
		{name: "two final dots", in: "example.com..", wrong: "nothing between two dots"},
		{name: "leading dot", in: ".example.com", wrong: "nothing between two dots"},
		{name: "64 in a label", in: label63 + "a.com", wrong: "has 64 characters"},
		{name: "254 in all", in: name253 + "b", wrong: "has 254 characters"},
		{name: "leading hyphen", in: "-a.com", wrong: "begins or ends with a hyphen"},
		{name: "trailing hyphen", in: "a-.com", wrong: "begins or ends with a hyphen"},
		{name: "underscore", in: "a_b.com", wrong: "only letters"},
		{name: "wildcard", in: "*.com", wrong: "only letters"},
		{name: "space", in: "a b", wrong: "only letters"},
		{name: "newline", in: "a\n", wrong: "only letters"},
		{name: "brace", in: "a{b", wrong: "only letters"},
		{name: "not ASCII", in: "bücher.de", wrong: "only letters"},
		{name: "lower case in ASCII, itself not", in: "\u212aelvin.com", wrong: "only letters"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := ParseName(tt.in)
			if tt.wrong == "" && (err != nil || string(got) != tt.want) {
				t.Errorf("ParseName = %q, %v; want %q", got, err, tt.want)
			}
			if tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
				t.Errorf("ParseName = %q, %v; want an error with %q", got, err, tt.wrong)
			}
		})
	}
}

func FuzzParseName(f *testing.F) {
	for _, seed := range []string{"example.com", "A.b.", "-", "a..b", "x_y", strings.Repeat("a.", 130)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := ParseName(s)
		if err != nil {
			if name != "" {
				t.Errorf("ParseName(%q) gives both %q and %v", s, name, err)
			}
			return
		}
		if again, err := ParseName(string(name)); err != nil || again != name {
			t.Errorf("%q is not stable: %q, %v", name, again, err)
		}
		if strings.ContainsFunc(string(name), func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-.", r) }) {
			t.Errorf("ParseName(%q) = %q", s, name)
		}
	})
}

func TestCluster(t *testing.T) {
	tests := []struct {
		name         string
		api, ingress []string
		want         string
	}{
		{name: "none", want: ""},
		{name: "IPv4", api: []string{"192.0.2.5"}, ingress: []string{"192.0.2.6"},
			want: "api.c.d [192.0.2.5]; api-int.c.d [192.0.2.5]; *.apps.c.d [192.0.2.6]"},
		{name: "both families in their order", api: []string{"2001:db8::5", "192.0.2.5"}, ingress: []string{"2001:db8::6", "192.0.2.6"},
			want: "api.c.d [2001:db8::5 192.0.2.5]; api-int.c.d [2001:db8::5 192.0.2.5]; *.apps.c.d [2001:db8::6 192.0.2.6]"},
		{name: "no ingress", api: []string{"192.0.2.5"}, want: "api.c.d [192.0.2.5]; api-int.c.d [192.0.2.5]"},
		{name: "no API", ingress: []string{"192.0.2.6"}, want: "*.apps.c.d [192.0.2.6]"},
		// D-09: two addresses of one family are not a pair of families.
		{name: "two of one family", api: []string{"192.0.2.5", "192.0.2.7"}, want: "api.c.d [192.0.2.5]; api-int.c.d [192.0.2.5]"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for _, r := range Cluster("c.d", addresses(tt.api), addresses(tt.ingress)) {
				star := ""
				if r.Wildcard {
					star = "*."
				}
				got = append(got, fmt.Sprintf("%s%s %v", star, r.Name, r.Addresses))
			}
			if text := strings.Join(got, "; "); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
}

func addresses(texts []string) []netip.Addr {
	var all []netip.Addr
	for _, s := range texts {
		all = append(all, netip.MustParseAddr(s))
	}
	return all
}
