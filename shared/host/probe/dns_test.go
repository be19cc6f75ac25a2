package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// dnsServer answers by handler, on a free port of the loopback.
func dnsServer(t *testing.T, handler dns.HandlerFunc) netip.AddrPort {
	t.Helper()
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	started := make(chan struct{})
	server := &dns.Server{PacketConn: conn, Handler: handler, NotifyStartedFunc: func() {
		close(started)
	}}
	go server.ActivateAndServe()
	<-started
	t.Cleanup(func() { server.Shutdown() })
	return netip.MustParseAddrPort(conn.LocalAddr().String())
}

func answer(code map[uint16]int) dns.HandlerFunc {
	return func(w dns.ResponseWriter, question *dns.Msg) {
		w.WriteMsg(new(dns.Msg).SetRcode(question, code[question.Question[0].Qtype]))
	}
}

func TestDNS(t *testing.T) {
	for _, tt := range []struct {
		name    string
		handler dns.HandlerFunc
		want    string // in the error, empty for none
	}{
		{"both families", answer(nil), ""},
		{"a name that is not there", answer(map[uint16]int{
			dns.TypeA: dns.RcodeNameError,
		}), "A api.example.com: the answer is NXDOMAIN"},
		{"one family refused", answer(map[uint16]int{
			dns.TypeAAAA: dns.RcodeRefused,
		}), "AAAA api.example.com: the answer is REFUSED"},
		{"no upstream", answer(map[uint16]int{dns.TypeA: dns.RcodeServerFailure}), "SERVFAIL"},
		{"a stray answer first", func(w dns.ResponseWriter, question *dns.Msg) {
			stray := new(dns.Msg).SetRcode(question, dns.RcodeServerFailure)
			stray.Id++
			w.WriteMsg(stray)
			answer(nil)(w, question)
		}, ""},
		{"not DNS", func(w dns.ResponseWriter, _ *dns.Msg) {
			w.Write([]byte("hello"))
		}, "A api.example.com"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := DNS(t.Context(), dnsServer(t, tt.handler), "api.example.com")
			if tt.want == "" && err != nil || tt.want != "" && (err == nil ||
				!strings.Contains(err.Error(), tt.want)) {
				t.Errorf("DNS() = %v, want %q", err, tt.want)
			}
		})
	}
}

func TestDNSEndsWithItsCaller(t *testing.T) {
	server := dnsServer(t, func(dns.ResponseWriter, *dns.Msg) {})
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(200*time.Millisecond, cancel)
	begin := time.Now()
	err := DNS(ctx, server, "api.example.com")
	if took := time.Since(begin); err == nil || took > 2*time.Second {
		t.Errorf("DNS() = %v after %v, want an error soon after 200ms", err, took)
	}
}

func TestDNS_NoListener(t *testing.T) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	absent := netip.MustParseAddrPort(conn.LocalAddr().String())
	conn.Close()
	first := DNS(t.Context(), absent, "api.example.com")
	if first == nil || !strings.Contains(first.Error(), "refused") {
		t.Fatalf("DNS() = %v, want refused", first)
	}
	if again := DNS(t.Context(), absent, "api.example.com"); again.Error() != first.Error() {
		t.Errorf("the same fault is reported as %q and as %q", first, again)
	}
}

// TestLookup holds that the addresses of both families are returned, each once and sorted.
func TestLookup(t *testing.T) {
	has := func(w dns.ResponseWriter, question *dns.Msg) {
		reply := new(dns.Msg).SetReply(question)
		lines := map[uint16][]string{dns.TypeA: {"api.example.com. 30 IN CNAME x.example.com.", "x.example.com. 30 IN A 192.0.2.6", "x.example.com. 30 IN A 192.0.2.5", "x.example.com. 30 IN A 192.0.2.5"},
			dns.TypeAAAA: {"api.example.com. 30 IN AAAA 2001:db8::5"}}
		for _, line := range lines[question.Question[0].Qtype] {
			record, err := dns.NewRR(line)
			if err != nil {
				panic(err)
			}
			reply.Answer = append(reply.Answer, record)
		}
		w.WriteMsg(reply)
	}
	for _, tt := range []struct {
		name    string
		handler dns.HandlerFunc
		want    string
	}{
		{"addresses", has, "[192.0.2.5 192.0.2.6 2001:db8::5] <nil>"},
		{"none", answer(nil), "[] <nil>"},
		{"no such name", answer(map[uint16]int{
			dns.TypeA: dns.RcodeNameError,
		}), "[] query SERVER for A api.example.com: the answer is NXDOMAIN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := dnsServer(t, tt.handler)
			got, err := Lookup(t.Context(), server, "api.example.com")
			if text := strings.ReplaceAll(
				fmt.Sprint(got, " ", err), server.String(), "SERVER",
			); text != tt.want {
				t.Errorf("%s, want %s", text, tt.want)
			}
		})
	}
}

// TestText holds that texts are returned whole and in order, and that no text is no error.
func TestText(t *testing.T) {
	has := func(w dns.ResponseWriter, question *dns.Msg) {
		reply := new(dns.Msg).SetReply(question)
		for _, line := range []string{
			`x.example.com. 0 IN TXT "one" "two"`, "x.example.com. 0 IN A 192.0.2.5",
			"x.example.com. 0 IN TXT three",
		} {
			record, err := dns.NewRR(line)
			if err != nil {
				panic(err)
			}
			reply.Answer = append(reply.Answer, record)
		}
		if question.Question[0].Qtype == dns.TypeTXT {
			w.WriteMsg(reply)
		}
	}
	for _, tt := range []struct {
		name    string
		handler dns.HandlerFunc
		want    string
	}{
		{"texts", has, "[onetwo three] <nil>"},
		{"none", answer(nil), "[] <nil>"},
		{"no such name", answer(map[uint16]int{
			dns.TypeTXT: dns.RcodeNameError,
		}), "[] query SERVER for TXT x.example.com: the answer is NXDOMAIN"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := dnsServer(t, tt.handler)
			got, err := Text(t.Context(), server, "x.example.com")
			if text := strings.ReplaceAll(
				fmt.Sprint(got, " ", err), server.String(), "SERVER",
			); text != tt.want {
				t.Errorf("%s, want %s", text, tt.want)
			}
		})
	}
}

// TestText_Truncated holds that records for which a datagram has no room are asked for over TCP, and
// that a server without TCP is one that does not answer.
func TestText_Truncated(t *testing.T) {
	handler := func(w dns.ResponseWriter, question *dns.Msg) {
		reply := new(dns.Msg).SetReply(question)
		for i := range 3 {
			reply.Answer = append(reply.Answer, &dns.TXT{Hdr: dns.RR_Header{Name: question.Question[0].Name,
				Rrtype: dns.TypeTXT, Class: dns.ClassINET}, Txt: []string{fmt.Sprint(i)}})
		}
		if _, udp := w.RemoteAddr().(*net.UDPAddr); udp {
			reply.Truncated, reply.Answer = true, reply.Answer[:1]
		}
		w.WriteMsg(reply)
	}
	server := dnsServer(t, handler)
	if got, err := Text(t.Context(), server, "a.example.com"); err == nil {
		t.Errorf("without TCP: %q", got)
	}
	listener, err := net.Listen("tcp", server.String())
	if err != nil {
		t.Fatal(err)
	}
	over := &dns.Server{Listener: listener, Handler: dns.HandlerFunc(handler)}
	go over.ActivateAndServe()
	t.Cleanup(func() { listener.Close() })
	if got, err := Text(t.Context(), server, "a.example.com"); err != nil || strings.Join(got, "") != "012" {
		t.Errorf("%q, %v", got, err)
	}
}
