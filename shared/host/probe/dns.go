package probe

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// DNS asks a server for both addresses of a name and returns nil when both questions are answered
// with NOERROR. An answer without records is one: a name may have a single family.
func DNS(ctx context.Context, server netip.AddrPort, name string) error {
	_, err := Lookup(ctx, server, name)
	return err
}

// Lookup is DNS, and returns the addresses in order. It asks nobody else, and no file of the host:
// they are what that server answers.
func Lookup(ctx context.Context, server netip.AddrPort, name string) ([]netip.Addr, error) {
	answer, err := all(ctx, server, name, dns.TypeA, dns.TypeAAAA)
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, r := range answer {
		switch r := r.(type) {
		case *dns.A:
			out = append(out, addressOf(r.A.To4()))
		case *dns.AAAA:
			out = append(out, addressOf(r.AAAA))
		}
	}
	out = slices.DeleteFunc(out, func(a netip.Addr) bool { return !a.IsValid() })
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out), nil
}

// Text asks a server for the texts of a name (TXT), and returns them in the order of its answer.
// Like Lookup it asks nobody else.
func Text(ctx context.Context, server netip.AddrPort, name string) ([]string, error) {
	answer, err := all(ctx, server, name, dns.TypeTXT)
	var out []string
	for _, r := range answer {
		if r, ok := r.(*dns.TXT); ok {
			out = append(out, strings.Join(r.Txt, ""))
		}
	}
	return out, err
}

// all asks for records of some types, one after the other, and ends at the first that is not
// answered with NOERROR.
func all(ctx context.Context, server netip.AddrPort, name string, types ...uint16) (out []dns.RR, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "udp", server.String())
	if err != nil {
		return nil, plain(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	for _, kind := range types {
		answer, err := ask(conn, name, kind)
		if err != nil {
			return nil, fmt.Errorf("ask %s for %s %s: %w", server, dns.TypeToString[kind], name, plain(err))
		}
		out = append(out, answer...)
	}
	return out, nil
}

// NoSuchName is the Refusal of a server that knows that there is no such name.
const NoSuchName = Refusal("NXDOMAIN")

// Refusal is the error for a server that has answered, and not with addresses: DNS's own word for
// why.
type Refusal string

func (r Refusal) Error() string { return "the answer is " + string(r) }

// addressOf is invalid for what is no address.
func addressOf(ip net.IP) netip.Addr {
	a, _ := netip.AddrFromSlice(ip)
	return a
}

func ask(conn net.Conn, name string, kind uint16) ([]dns.RR, error) {
	question := new(dns.Msg)
	question.SetQuestion(dns.Fqdn(name), kind)
	if err := (&dns.Conn{Conn: conn}).WriteMsg(question); err != nil {
		return nil, err
	}
	for {
		answer, err := (&dns.Conn{Conn: conn, UDPSize: dns.MaxMsgSize}).ReadMsg()
		if err != nil {
			return nil, err
		}
		if answer.Id != question.Id { // late, for an earlier question
			continue
		}
		if answer.Rcode != dns.RcodeSuccess {
			return nil, Refusal(dns.RcodeToString[answer.Rcode])
		}
		return answer.Answer, nil
	}
}
