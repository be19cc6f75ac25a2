package daemons

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// answers writes the answer section, TTLs aside.
func answers(reply *dns.Msg) string {
	var out []string
	for _, rr := range reply.Answer {
		text := strings.Fields(rr.String())
		out = append(out, strings.Join(slices.Delete(text, 1, 2), " "))
	}
	return strings.Join(out, "; ")
}

const (
	owned  = "api.ostest.example.com."
	noData = "" // and no error
)

// TestNames asks the real CoreDNS for the names that clusters own, and for those that only look so.
// The upstream denies everything, so what falls through comes back as NXDOMAIN.
func TestNames(t *testing.T) {
	l := lab.New(t)
	serveDNS(t, add(t, l, "upstream", "198.51.100.1/24"), "upstream", "198.51.100.1:53")
	v4 := config([]string{"192.0.2.5"}, []string{"192.0.2.6"}, "198.51.100.1")
	v6 := config([]string{"2001:db8::5"}, []string{"2001:db8::6"}, "198.51.100.1")
	dual := config([]string{"192.0.2.5", "2001:db8::5"}, []string{"192.0.2.6", "2001:db8::6"}, "198.51.100.1")
	// Two addresses of one family are not a pair of families: the second one is nobody's answer.
	twice := config([]string{"192.0.2.5", "192.0.2.7"}, []string{"192.0.2.6"}, "198.51.100.1")
	external := corefile.Config{Zone: zone, Upstreams: v4.Upstreams, HealthPort: 18080}
	for i, tt := range []struct {
		name   string
		config corefile.Config
		want   map[string]string // by name, per type: the answer, or "NXDOMAIN"
	}{
		{name: "ipv4", config: v4, want: map[string]string{
			"A " + owned: owned + " IN A 192.0.2.5", "AAAA " + owned: noData, "HTTPS " + owned: noData, "TXT " + owned: noData, "ANY " + owned: noData, "SRV " + owned: noData,
			"A api-int.ostest.example.com.": "api-int.ostest.example.com. IN A 192.0.2.5", "AAAA api-int.ostest.example.com.": noData, "HTTPS api-int.ostest.example.com.": noData,
		}},
		{name: "ipv6", config: v6, want: map[string]string{
			"AAAA " + owned: owned + " IN AAAA 2001:db8::5", "A " + owned: noData, "HTTPS " + owned: noData, "TXT " + owned: noData, "ANY " + owned: noData,
			"AAAA x.apps.ostest.example.com.": "x.apps.ostest.example.com. IN AAAA 2001:db8::6", "A x.apps.ostest.example.com.": noData,
		}},
		{name: "dual", config: dual, want: map[string]string{
			"A " + owned: owned + " IN A 192.0.2.5", "AAAA " + owned: owned + " IN AAAA 2001:db8::5", "HTTPS " + owned: noData, "TXT " + owned: noData,
			"ANY " + owned: noData, "SOA " + owned: noData, "CNAME " + owned: noData, "DS " + owned: noData, "TYPE65280 " + owned: noData,
			// What is below apps, however deep, and in whatever case.
			"A console.apps.ostest.example.com.": "console.apps.ostest.example.com. IN A 192.0.2.6", "AAAA console.apps.ostest.example.com.": "console.apps.ostest.example.com. IN AAAA 2001:db8::6",
			"A a.b.c.apps.ostest.example.com.": "a.b.c.apps.ostest.example.com. IN A 192.0.2.6", "ANY a.b.apps.ostest.example.com.": noData,
			"A *.apps.ostest.example.com.": "*.apps.ostest.example.com. IN A 192.0.2.6", "A _x.apps.ostest.example.com.": "_x.apps.ostest.example.com. IN A 192.0.2.6",
			"A API.OsTest.EXAMPLE.com.": owned + " IN A 192.0.2.5", "AAAA X.APPS.ostest.example.com.": "x.apps.ostest.example.com. IN AAAA 2001:db8::6",
			// What only looks owned.
			"A xapi.ostest.example.com.": "NXDOMAIN", "A api-int-x.ostest.example.com.": "NXDOMAIN", "A x-api-int.ostest.example.com.": "NXDOMAIN",
			"A x.api.ostest.example.com.": "NXDOMAIN", "A fooapps.ostest.example.com.": "NXDOMAIN", "A x.fooapps.ostest.example.com.": "NXDOMAIN",
			"A apps.ostest.example.com.": "NXDOMAIN", "A x.apps-y.ostest.example.com.": "NXDOMAIN", "A x.appsostest.example.com.": "NXDOMAIN",
			"A api.ostest.example.com.evil.": "NXDOMAIN", "A apiXostest.example.com.": "NXDOMAIN", "A api.ostestXexample.com.": "NXDOMAIN", "A api.example.com.": "NXDOMAIN",
			"A ostest.example.com.": "NXDOMAIN", "A api.xostest.example.com.": "NXDOMAIN", `A x\.apps.ostest.example.com.`: "NXDOMAIN", "A master-0.ostest.example.com.": "NXDOMAIN",
			"PTR 5.2.0.192.in-addr.arpa.": "NXDOMAIN",
		}},
		{name: "two of one family", config: twice, want: map[string]string{"A " + owned: owned + " IN A 192.0.2.5", "AAAA " + owned: noData}},
		{name: "external", config: external, want: map[string]string{"A " + owned: "NXDOMAIN", "A x.apps.ostest.example.com.": "NXDOMAIN"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := serve(t, add(t, l, fmt.Sprintf("node%d", i), fmt.Sprintf("198.51.100.%d/24", 10+i)), corefile.Render(tt.config))
			for range 2 { // the second time from the cache
				for asked, want := range tt.want {
					kind, name, _ := strings.Cut(asked, " ")
					check(t, asked, server.query(name, typeOf(t, kind)), want)
				}
			}
			server.clean()
		})
	}
}

func typeOf(t *testing.T, kind string) uint16 {
	t.Helper()
	if number, ok := dns.StringToType[kind]; ok {
		return number
	}
	var number uint16
	if _, err := fmt.Sscanf(kind, "TYPE%d", &number); err != nil {
		t.Fatalf("type %s: %v", kind, err)
	}
	return number
}

func check(t *testing.T, asked string, reply *dns.Msg, want string) {
	t.Helper()
	if want == "NXDOMAIN" {
		if reply.Rcode != dns.RcodeNameError {
			t.Errorf("%s: %s %s, want NXDOMAIN of the upstream", asked, dns.RcodeToString[reply.Rcode], answers(reply))
		}
		return
	}
	if reply.Rcode != dns.RcodeSuccess || answers(reply) != want || !reply.Authoritative {
		t.Errorf("%s: %s %q, authoritative: %t, want %q", asked, dns.RcodeToString[reply.Rcode], answers(reply), reply.Authoritative, want)
	}
	for _, rr := range slices.Concat(reply.Answer, reply.Ns) {
		if ttl := rr.Header().Ttl; ttl == 0 || ttl > 60 {
			t.Errorf("%s: TTL %d in %s", asked, ttl, rr)
		}
	}
	if want != noData {
		return
	}
	// What lets a resolver keep the negative answer (RFC 2308 5).
	if len(reply.Ns) != 1 || reply.Ns[0].Header().Rrtype != dns.TypeSOA || reply.Ns[0].Header().Name != string(zone)+"." {
		t.Errorf("%s: no SOA of the zone: %v", asked, reply.Ns)
	}
}
