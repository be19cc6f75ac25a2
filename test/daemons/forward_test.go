package daemons

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// forwarder is CoreDNS on a host of its own, with two upstreams on another one.
func forwarder(t *testing.T) (server coredns, first, second *upstream) {
	t.Helper()
	l := lab.New(t)
	host := add(t, l, "upstream", "198.51.100.1/24", "198.51.100.2/24")
	first, second = serveDNS(t, host, "first", "198.51.100.1:53"), serveDNS(t, host, "second", "198.51.100.2:53")
	return serve(t, add(t, l, "node", "198.51.100.10/24"), corefile.Render(forwards("198.51.100.1", "198.51.100.2"))), first, second
}

func forwards(upstreams ...string) corefile.Config {
	return config([]string{"192.0.2.5"}, []string{"192.0.2.6"}, upstreams...)
}

// tag asks for a name that nobody asked for before, and returns who answered.
func (c coredns) tag(unique string) string {
	c.t.Helper()
	reply := c.query(unique+".forwarded.example.", dns.TypeTXT)
	if len(reply.Answer) != 1 {
		return dns.RcodeToString[reply.Rcode]
	}
	return strings.Join(reply.Answer[0].(*dns.TXT).Txt, " ")
}

// TestForwardOrder: internal names must not reach the second server as long as the first one
// answers.
func TestForwardOrder(t *testing.T) {
	server, first, second := forwarder(t)
	for i := range 40 {
		if got := server.tag(fmt.Sprintf("name%d", i)); got != "first" {
			t.Errorf("query %d was answered by %s", i, got)
		}
	}
	if n := len(second.questions()); n != 0 {
		t.Errorf("the second server was asked %d times: %v", n, second.questions())
	}
	for _, q := range first.questions() {
		if strings.HasPrefix(strings.ToLower(q.Name), "api.") {
			t.Errorf("the upstream was asked for an owned name: %v", q)
		}
	}
	server.clean()
	first.stop()
	if got := server.tag("after"); got != "second" {
		t.Errorf("with the first server gone %s answers", got)
	}
}

// TestForwardSize: an answer above 512 bytes never goes out over UDP, whatever the client offers;
// over TCP it does.
func TestForwardSize(t *testing.T) {
	server, first, _ := forwarder(t)
	big := func() *dns.Msg { return new(dns.Msg).SetQuestion("big.forwarded.example.", dns.TypeTXT) }
	for name, query := range map[string]*dns.Msg{"without EDNS": big(), "with EDNS": big().SetEdns0(4096, false)} {
		reply := server.ask(query, "udp")
		if !reply.Truncated || reply.Len() > dns.MinMsgSize {
			t.Errorf("%s: truncated: %t, %d bytes", name, reply.Truncated, reply.Len())
		}
	}
	if reply := server.ask(big(), "tcp"); reply.Truncated || reply.Len() <= dns.MinMsgSize || len(reply.Answer) != 1 {
		t.Errorf("over TCP: %v", reply)
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	if i := slices.IndexFunc(first.sizes, func(size uint16) bool { return size > dns.MinMsgSize }); i >= 0 {
		t.Errorf("the upstream was offered %d bytes", first.sizes[i])
	}
}

// TestForward_NoUpstreams: without upstreams the cluster's own names are still there.
func TestForward_NoUpstreams(t *testing.T) {
	server := serve(t, add(t, lab.New(t), "node"), corefile.Render(forwards()))
	check(t, "A "+owned, server.query(owned, dns.TypeA), owned+" IN A 192.0.2.5")
	if reply := server.query("www.example.org.", dns.TypeA); reply.Rcode != dns.RcodeServerFailure {
		t.Errorf("CoreDNS says %s about a name that it cannot know, want SERVFAIL so that clients ask elsewhere", dns.RcodeToString[reply.Rcode])
	}
	server.clean()
}

// TestForwardChange: a changed file is in force within seconds, and a bad one changes nothing.
func TestForwardChange(t *testing.T) {
	server, _, _ := forwarder(t)
	if got := server.tag("before"); got != "first" {
		t.Fatalf("%s answers", got)
	}
	server.write([]byte(".:53 {\n    forward .\n}\n"))
	time.Sleep(4 * time.Second) // longer than it takes to read a change
	if got := server.tag("bad"); got != "first" {
		t.Fatalf("after a bad file %s answers", got)
	}
	server.write(corefile.Render(forwards("198.51.100.2")))
	changed := time.Now()
	for i := 0; server.tag(fmt.Sprintf("name%d", i)) != "second"; i++ {
		if time.Since(changed) > 5*time.Second {
			t.Fatal("the change is not in force after 5 s")
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Logf("in force after %s", time.Since(changed).Round(time.Millisecond))
}
