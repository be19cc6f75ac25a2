package query

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// TestLoad has a server that loses one question in ten and fails one: both count, and nothing else does.
func TestLoad(t *testing.T) {
	host, err := lab.New(t).Add("a", netip.MustParsePrefix("192.0.2.1/24"))
	if err != nil {
		t.Fatal(err)
	}
	conn, err := host.ListenPacket("192.0.2.1:53")
	if err != nil {
		t.Fatal(err)
	}
	server := &dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		reply := new(dns.Msg).SetReply(q)
		switch name := q.Question[0].Name; {
		case strings.HasPrefix(name, "n3."):
			return
		case strings.HasPrefix(name, "n7."):
			reply.Rcode = dns.RcodeServerFailure
		case strings.HasPrefix(name, "n8."):
			reply.Rcode = dns.RcodeNameError
		default:
			reply.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: name, Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{name}}}
		}
		_ = w.WriteMsg(reply) // the asker notices
	})}
	go server.ActivateAndServe()
	defer server.Shutdown()
	load, err := Start(host, "192.0.2.1:53", 500, func(i int) (string, uint16) { return fmt.Sprintf("n%d.example.", i%10), dns.TypeTXT })
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); len(load.Answers()) < 500 && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
	}
	answers, err := load.Stop()
	if err != nil || len(answers) < 500 {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	for i, a := range answers {
		if want := i%10 == 3 || i%10 == 7; a.Name != fmt.Sprintf("n%d.example.", i%10) || a.Lost() != want || !want && i%10 != 8 && a.Text != a.Name {
			t.Errorf("question %d: %+v, lost: %t, want %t", i, a, a.Lost(), want)
		}
	}
	if last, first := answers[len(answers)-1].Asked, answers[0].Asked; last.Sub(first) < 900*time.Millisecond*time.Duration(len(answers))/500 {
		t.Errorf("%d questions in %s", len(answers), last.Sub(first))
	}
}
