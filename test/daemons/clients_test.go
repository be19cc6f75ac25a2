package daemons

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestClients holds whom CoreDNS answers where the cluster says who may ask: of both families, and
// nobody else, not even from its cache; and everybody where the cluster says nothing.
func TestClients(t *testing.T) {
	const name = "api." + string(zone) + "."
	for program, path := range map[string]string{"stock": program(t), "ours": ours(t)} {
		for _, tt := range []struct {
			name    string
			clients []netip.Prefix
			other   int
		}{
			{"everybody", nil, dns.RcodeSuccess},
			{"some", []netip.Prefix{
				netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/28"),
				netip.MustParsePrefix("2001:db8::/112"),
			}, dns.RcodeRefused},
		} {
			t.Run(program+", "+tt.name, func(t *testing.T) {
				l := lab.New(t)
				host := add(t, l, "node", "192.0.2.10/24", "2001:db8::10/64")
				allowed := add(t, l, "allowed", "192.0.2.11/24", "2001:db8::11/64")
				other := add(t, l, "other", "192.0.2.99/24", "2001:db8::1:99/64")
				rendered := config([]string{"192.0.2.5"}, []string{"192.0.2.6"})
				rendered.Clients = tt.clients
				c := serveBy(t, host, path, corefile.Render(rendered))
				if got := c.query(name, dns.TypeA).Rcode; got != dns.RcodeSuccess {
					t.Errorf("the host itself: %s", dns.RcodeToString[got])
				}
				for range 2 { // and of what is in the cache
					for _, server := range []string{"192.0.2.10:53", "[2001:db8::10]:53"} {
						if got := codeFrom(t, allowed, server, name); got != dns.RcodeSuccess {
							t.Errorf("an allowed client of %s: %s", server, dns.RcodeToString[got])
						}
						if got := codeFrom(t, other, server, name); got != tt.other {
							t.Errorf("another client of %s: %s, want %s", server, dns.RcodeToString[got], dns.RcodeToString[tt.other])
						}
					}
				}
			})
		}
	}
}

// codeFrom is the code of the answer that a host gets from a name server.
func codeFrom(t *testing.T, from *lab.Host, server, name string) int {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	conn, err := from.Dial(ctx, "udp", server)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	client := dns.Client{Timeout: 10 * time.Second}
	query := new(dns.Msg).SetQuestion(name, dns.TypeA)
	reply, _, err := client.ExchangeWithConnContext(ctx, query, &dns.Conn{Conn: conn})
	if err != nil {
		t.Fatal(err)
	}
	return reply.Rcode
}
