package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/miekg/dns"
)

// DNS asks a server for both addresses of a name and returns nil when both questions are answered with NOERROR. An answer without records is
// one: a name may have a single family.
func DNS(ctx context.Context, server netip.AddrPort, name string) error {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", server.String())
	if err != nil {
		return plain(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	for _, family := range []uint16{dns.TypeA, dns.TypeAAAA} {
		if err := ask(conn, name, family); err != nil {
			return fmt.Errorf("ask %s for %s %s: %w", server, dns.TypeToString[family], name, plain(err))
		}
	}
	return nil
}

func ask(conn net.Conn, name string, family uint16) error {
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), family)
	if err := (&dns.Conn{Conn: conn}).WriteMsg(question); err != nil {
		return err
	}
	for {
		answer, err := (&dns.Conn{Conn: conn, UDPSize: dns.MaxMsgSize}).ReadMsg()
		if err != nil {
			return err
		}
		if answer.Id != question.Id { // late, for an earlier question
			continue
		}
		if answer.Rcode != dns.RcodeSuccess {
			return fmt.Errorf("the answer is %s", dns.RcodeToString[answer.Rcode])
		}
		return nil
	}
}
