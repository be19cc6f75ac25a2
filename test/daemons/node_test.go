package daemons

import (
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestNodeNames holds D-06, D-07, D-08 and D-10 for the Corefile of a node, where the zone has a
// block of its own: the owned names before those of nodes, a node's families and nothing else of
// it, what only looks owned, names of addresses, and large answers from inside the zone.
func TestNodeNames(t *testing.T) {
	l := lab.New(t)
	serveDNS(t, add(t, l, "upstream", "198.51.100.1/24"), "upstream", "198.51.100.1:53")
	c := config([]string{"192.0.2.5", "2001:db8::5"}, []string{"192.0.2.6"}, "198.51.100.1")
	c.Hosts, c.Poll = true, false
	server := serve(t, add(t, l, "node", "198.51.100.10/24"), corefile.Render(c))
	server.clean()
	server.name(corefile.Host{Short: "master-0", Addresses: addresses([]string{"192.0.2.10", "2001:db8::10"})}, corefile.Host{Short: "worker-0", Addresses: addresses([]string{"192.0.2.20"})},
		corefile.Host{Short: "api", Addresses: addresses([]string{"192.0.2.66"})}) // a node that calls itself so is not the API
	until := func(name, want string) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); answers(server.query(name, dns.TypeA)) != want; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("%s is not %q", name, want)
			}
		}
	}
	until("master-0.ostest.example.com.", "master-0.ostest.example.com. IN A 192.0.2.10")
	until("worker-0.", "worker-0. IN A 192.0.2.20") // the other block looks by itself
	for range 2 {
		for asked, want := range map[string]string{
			"master-0.ostest.example.com. A": "NOERROR master-0.ostest.example.com. IN A 192.0.2.10", "MASTER-0.ostest.example.com. AAAA": "NOERROR master-0.ostest.example.com. IN AAAA 2001:db8::10",
			"worker-0.ostest.example.com. AAAA": "NOERROR ", "worker-0.ostest.example.com. TXT": "NOERROR ", "worker-0.ostest.example.com. HTTPS": "NOERROR ",
			"worker-0. A": "NOERROR worker-0. IN A 192.0.2.20", "20.2.0.192.in-addr.arpa. PTR": "NOERROR 20.2.0.192.in-addr.arpa. IN PTR worker-0.; 20.2.0.192.in-addr.arpa. IN PTR worker-0.ostest.example.com.",
			owned + " A": "NOERROR " + owned + " IN A 192.0.2.5", owned + " AAAA": "NOERROR " + owned + " IN AAAA 2001:db8::5", owned + " HTTPS": "NOERROR ",
			"x.apps.ostest.example.com. A": "NOERROR x.apps.ostest.example.com. IN A 192.0.2.6", "x.apps.ostest.example.com. AAAA": "NOERROR ",
			"xmaster-0.ostest.example.com. A": "NXDOMAIN ", "master-0.xostest.example.com. A": "NXDOMAIN ", "x.master-0.ostest.example.com. A": "NXDOMAIN ", "xapi.ostest.example.com. A": "NXDOMAIN ",
			"apps.ostest.example.com. A": "NXDOMAIN ", "fooapps.ostest.example.com. A": "NXDOMAIN ", "ostest.example.com. A": "NXDOMAIN ",
		} {
			name, kind, _ := strings.Cut(asked, " ")
			reply := server.query(name, typeOf(t, kind))
			if got := dns.RcodeToString[reply.Rcode] + " " + answers(reply); got != want {
				t.Errorf("%s: %q, want %q", asked, got, want)
			}
			for _, rr := range reply.Answer {
				if rr.Header().Ttl > 30 {
					t.Errorf("%s: a TTL of %d s", asked, rr.Header().Ttl)
				}
			}
		}
	}
	// D-06, of a name in the zone.
	inside := c
	inside.Zone, inside.Records = "forwarded.example", record.Cluster("forwarded.example", c.Records[0].Addresses, nil)
	server.write(corefile.Render(inside))
	server.reload()
	until("api.forwarded.example.", "api.forwarded.example. IN A 192.0.2.5")
	big := func() *dns.Msg { return new(dns.Msg).SetQuestion("big.forwarded.example.", dns.TypeTXT) }
	for name, query := range map[string]*dns.Msg{"without EDNS": big(), "with EDNS": big().SetEdns0(4096, false)} {
		if reply := server.ask(query, "udp"); !reply.Truncated || reply.Len() > dns.MinMsgSize {
			t.Errorf("%s: truncated: %t, %d bytes", name, reply.Truncated, reply.Len())
		}
	}
	if reply := server.ask(big(), "tcp"); reply.Truncated || len(reply.Answer) != 1 {
		t.Errorf("over TCP: %v", reply)
	}
}
