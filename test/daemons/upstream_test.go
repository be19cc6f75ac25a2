package daemons

import (
	"strings"
	"sync"
	"testing"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// upstream is a name server that knows a few names below forwarded.example and nothing else, and
// remembers what it was asked.
type upstream struct {
	mu    sync.Mutex
	asked []dns.Question
	sizes []uint16 // what the queries offer by EDNS, 0 for none
	tag   string
	stop  func()
}

// serveDNS opens the server on one address of a host, over UDP and TCP.
func serveDNS(t *testing.T, host *lab.Host, tag, address string) *upstream {
	t.Helper()
	u := &upstream{tag: tag}
	packets, err := host.ListenPacket(address)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := host.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	servers := []*dns.Server{{PacketConn: packets, Handler: u}, {Listener: listener, Handler: u}}
	for _, server := range servers {
		up := make(chan struct{})
		server.NotifyStartedFunc = func() { close(up) }
		wait.Go(func() {
			if err := server.ActivateAndServe(); err != nil {
				t.Errorf("serve DNS at %s: %v", address, err)
			}
		})
		<-up
	}
	u.stop = sync.OnceFunc(func() {
		for _, server := range servers {
			if err := server.Shutdown(); err != nil {
				t.Errorf("stop DNS at %s: %v", address, err)
			}
		}
		wait.Wait()
	})
	t.Cleanup(u.stop)
	return u
}

// ServeDNS answers NXDOMAIN to everything but *.forwarded.example: there, TXT has the server's tag,
// and big has 600 bytes.
func (u *upstream) ServeDNS(w dns.ResponseWriter, query *dns.Msg) {
	question := query.Question[0]
	reply := new(dns.Msg).SetReply(query)
	u.mu.Lock()
	u.asked = append(u.asked, question)
	size := uint16(0)
	if opt := query.IsEdns0(); opt != nil {
		size = opt.UDPSize()
	}
	u.sizes = append(u.sizes, size)
	u.mu.Unlock()
	switch name := strings.ToLower(question.Name); {
	case !strings.HasSuffix(name, ".forwarded.example."):
		reply.Rcode = dns.RcodeNameError
	case question.Qtype == dns.TypeTXT:
		texts := []string{u.tag}
		if strings.HasPrefix(name, "big.") {
			texts = []string{strings.Repeat("x", 200), strings.Repeat("y", 200), strings.Repeat("z", 200)}
		}
		reply.Answer = []dns.RR{&dns.TXT{Hdr: dns.RR_Header{Name: question.Name, Rrtype: dns.TypeTXT, Class: dns.ClassINET, Ttl: 300}, Txt: texts}}
	}
	if w.RemoteAddr().Network() == "udp" {
		reply.Truncate(max(dns.MinMsgSize, int(size)))
	}
	_ = w.WriteMsg(reply) // the asker notices
}

func (u *upstream) questions() []dns.Question {
	u.mu.Lock()
	defer u.mu.Unlock()
	return append([]dns.Question(nil), u.asked...)
}
