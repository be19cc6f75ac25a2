package chain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Outside is a name that only the network's own name server knows, and its address.
const (
	Outside   = "outside.example.net"
	OutsideIP = "198.51.100.7"
)

// nameServer is a name server of the network that the machine stands in.
type nameServer struct {
	server *dns.Server
	done   chan error // has the error of the end, and is closed then
}

// serveNames answers on a host whose addresses are self and the IPv6 one that goes with it.
func serveNames(host *lab.Host, self netip.Addr) (*nameServer, error) {
	conn, err := host.ListenPacket(":53")
	if err != nil {
		return nil, err
	}
	n := &nameServer{done: make(chan error, 1)}
	started := make(chan struct{})
	n.server = &dns.Server{PacketConn: conn, NotifyStartedFunc: func() { close(started) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		asked := self
		if client, err := netip.ParseAddrPort(w.RemoteAddr().String()); err == nil && !client.Addr().Unmap().Is4() {
			asked = prefix6(self).Addr()
		}
		// The client may have gone.
		_ = w.WriteMsg(answer(asked, q))
	})}
	go func() {
		n.done <- n.server.ActivateAndServe()
		close(n.done)
	}()
	select {
	case <-started:
		return n, nil
	case err := <-n.done:
		return nil, errors.Join(err, conn.Close())
	}
}

// answer knows Outside; the names below it, whose TXT is the server's own address, of the family
// that it was asked by; and one name for every address, as where an administrator has entered the
// API's name for the VIP and the bootstrap machine's name is not known. It refuses everything else.
func answer(self netip.Addr, q *dns.Msg) *dns.Msg {
	reply := new(dns.Msg).SetReply(q)
	question := q.Question[0]
	header := dns.RR_Header{Name: question.Name, Rrtype: question.Qtype, Class: dns.ClassINET, Ttl: 1}
	switch below := strings.HasSuffix(question.Name, "."+Outside+"."); {
	case question.Name == Outside+"." && question.Qtype == dns.TypeA:
		reply.Answer = []dns.RR{&dns.A{Hdr: header, A: net.ParseIP(OutsideIP)}}
	case below && question.Qtype == dns.TypeTXT:
		reply.Answer = []dns.RR{&dns.TXT{Hdr: header, Txt: []string{self.String()}}}
	case question.Qtype == dns.TypePTR:
		reply.Answer = []dns.RR{&dns.PTR{Hdr: header, Ptr: "api." + Zone + "."}}
	case !below && question.Name != Outside+".":
		reply.Rcode = dns.RcodeRefused
	}
	return reply
}

// AddNameServer plugs another name server into the network, at 192.0.2.last and 2001:db8:1::last.
func (c *Chain) AddNameServer(last byte) (netip.Addr, error) {
	ip := netip.AddrFrom4([4]byte{192, 0, 2, last})
	host, err := c.lab.Add(fmt.Sprintf("names-%d", last), prefix(ip), prefix6(ip))
	if err != nil {
		return ip, err
	}
	n, err := serveNames(host, ip)
	if err != nil {
		return ip, err
	}
	c.upstreams = append(c.upstreams, n)
	return ip, nil
}

func (n *nameServer) close() error { return errors.Join(n.server.Shutdown(), <-n.done) }

// ask asks the bootstrap machine's name server from the neighbour.
func (c *Chain) ask(ctx context.Context, name string, qtype uint16) (*dns.Msg, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := c.Neighbour.Dial(ctx, "udp", netip.AddrPortFrom(BootstrapIP, 53).String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), qtype)
	answer, _, err := new(dns.Client).ExchangeWithConnContext(ctx, question, &dns.Conn{Conn: conn})
	if err != nil {
		return nil, fmt.Errorf("resolve %s: %w", name, err)
	}
	if answer.Rcode != dns.RcodeSuccess {
		return nil, fmt.Errorf("resolve %s: %s", name, dns.RcodeToString[answer.Rcode])
	}
	return answer, nil
}

// Text asks the bootstrap machine's name server for a name's one TXT record, from the neighbour.
func (c *Chain) Text(ctx context.Context, name string) (string, error) {
	answer, err := c.ask(ctx, name, dns.TypeTXT)
	if err != nil {
		return "", err
	}
	for _, rr := range answer.Answer {
		if txt, ok := rr.(*dns.TXT); ok {
			return strings.Join(txt.Txt, " "), nil
		}
	}
	return "", fmt.Errorf("resolve %s: no TXT record: %v", name, answer.Answer)
}

// Lookup asks the bootstrap machine's name server from the neighbour. An empty answer without an
// error is NODATA.
func (c *Chain) Lookup(ctx context.Context, name string, qtype uint16) ([]netip.Addr, error) {
	answer, err := c.ask(ctx, name, qtype)
	if err != nil {
		return nil, err
	}
	addrs := []netip.Addr{}
	for _, rr := range answer.Answer {
		var ip net.IP
		switch rr := rr.(type) {
		case *dns.A:
			ip = rr.A
		case *dns.AAAA:
			ip = rr.AAAA
		default:
			return nil, fmt.Errorf("resolve %s: unexpected record %s", name, rr)
		}
		a, _ := netip.AddrFromSlice(ip)
		addrs = append(addrs, a.Unmap())
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs, nil
}
