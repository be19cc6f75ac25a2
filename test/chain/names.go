package chain

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Outside is a name that only the network's own name server knows, and its address.
const (
	Outside   = "outside.example.net"
	OutsideIP = "198.51.100.7"
)

// nameServer is the name server of the network that the machine stands in.
type nameServer struct {
	server *dns.Server
	done   chan error
}

// serveNames answers for Outside on a host, and refuses everything else.
func serveNames(host *lab.Host) (*nameServer, error) {
	conn, err := host.ListenPacket(":53")
	if err != nil {
		return nil, err
	}
	n := &nameServer{done: make(chan error, 1)}
	started := make(chan struct{})
	n.server = &dns.Server{PacketConn: conn, NotifyStartedFunc: func() { close(started) }, Handler: dns.HandlerFunc(func(w dns.ResponseWriter, q *dns.Msg) {
		answer := new(dns.Msg).SetReply(q)
		if answer.Rcode = dns.RcodeRefused; q.Question[0].Name == Outside+"." {
			answer.Rcode = dns.RcodeSuccess
			if q.Question[0].Qtype == dns.TypeA {
				answer.Answer = []dns.RR{&dns.A{Hdr: dns.RR_Header{Name: q.Question[0].Name, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 1}, A: net.ParseIP(OutsideIP)}}
			}
		}
		// The client may have gone.
		_ = w.WriteMsg(answer)
	})}
	go func() { n.done <- n.server.ActivateAndServe() }()
	select {
	case <-started:
		return n, nil
	case err := <-n.done:
		return nil, errors.Join(err, conn.Close())
	}
}

func (n *nameServer) close() error { return errors.Join(n.server.Shutdown(), <-n.done) }

// Lookup asks the bootstrap machine's name server from the neighbour. An empty answer without an error is NODATA.
func (c *Chain) Lookup(ctx context.Context, name string, qtype uint16) ([]netip.Addr, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	conn, err := c.Neighbour.Dial(ctx, "udp", netip.AddrPortFrom(bootstrapIP, 53).String())
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	question := new(dns.Msg).SetQuestion(dns.Fqdn(name), qtype)
	answer, _, err := new(dns.Client).ExchangeWithConnContext(ctx, question, &dns.Conn{Conn: conn})
	if err != nil {
		return nil, fmt.Errorf("look up %s: %w", name, err)
	}
	if answer.Rcode != dns.RcodeSuccess {
		return nil, fmt.Errorf("look up %s: %s", name, dns.RcodeToString[answer.Rcode])
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
			return nil, fmt.Errorf("look up %s: unexpected record %s", name, rr)
		}
		a, _ := netip.AddrFromSlice(ip)
		addrs = append(addrs, a.Unmap())
	}
	slices.SortFunc(addrs, netip.Addr.Compare)
	return addrs, nil
}
