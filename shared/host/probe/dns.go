package probe

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
)

// DNS queries a server for both address types of a name and returns nil if both answers are
// NOERROR. An answer without records counts: a name may have a single family.
func DNS(ctx context.Context, server netip.AddrPort, name string) error {
	_, err := Lookup(ctx, server, name)
	return err
}

// Lookup is DNS, and returns the addresses in order. It queries no other server and reads no file
// of the host.
func Lookup(ctx context.Context, server netip.AddrPort, name string) ([]netip.Addr, error) {
	answer, err := all(ctx, server, name, dns.TypeA, dns.TypeAAAA)
	if err != nil {
		return nil, err
	}
	var out []netip.Addr
	for _, r := range answer {
		var ip net.IP
		switch r := r.(type) {
		case *dns.A:
			ip = r.A.To4()
		case *dns.AAAA:
			ip = r.AAAA
		}
		if a, ok := netip.AddrFromSlice(ip); ok {
			out = append(out, a)
		}
	}
	slices.SortFunc(out, netip.Addr.Compare)
	return slices.Compact(out), nil
}

// Text queries a server for the TXT records of a name, and returns them in the order of its answer.
// Like Lookup it queries no other server.
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

// all queries records of some types, one after the other, and ends at the first answer that is not
// NOERROR.
func all(
	ctx context.Context, server netip.AddrPort, name string, types ...uint16,
) (out []dns.RR, err error) {
	conn, end, err := dial(ctx, "udp", server)
	if err != nil {
		return nil, plain(err)
	}
	defer end()
	for _, kind := range types {
		answer, err := query(conn, name, kind)
		if errors.Is(err, errTruncated) {
			answer, err = overTCP(ctx, server, name, kind)
		}
		if err != nil {
			return nil, fmt.Errorf("query %s for %s %s: %w", server, dns.TypeToString[kind], name,
				plain(err))
		}
		out = append(out, answer...)
	}
	return out, nil
}

// overTCP makes a query whose answer is too long for a datagram.
func overTCP(
	ctx context.Context, server netip.AddrPort, name string, kind uint16,
) ([]dns.RR, error) {
	conn, end, err := dial(ctx, "tcp", server)
	if err != nil {
		return nil, err
	}
	defer end()
	return query(conn, name, kind)
}

// dial makes a socket that is of use within the budget and until ctx ends; end closes it.
func dial(
	ctx context.Context, network string, server netip.AddrPort,
) (conn net.Conn, end func(), err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	conn, err = new(net.Dialer).DialContext(ctx, network, server.String())
	if err != nil {
		cancel()
		return nil, nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })
	return conn, func() { stop(); cancel(); conn.Close() }, nil
}

// NoSuchName is the Refusal of a server that knows that the name does not exist.
const NoSuchName = Refusal("NXDOMAIN")

// Refusal is the response code of an answer that is not NOERROR, as an error.
type Refusal string

func (r Refusal) Error() string { return "the answer is " + string(r) }

// errTruncated is that an answer lacks records, for which there was no room (RFC 2181, 9).
var errTruncated = errors.New("the answer is truncated")

func query(conn net.Conn, name string, kind uint16) ([]dns.RR, error) {
	message := new(dns.Msg)
	message.SetQuestion(dns.Fqdn(name), kind)
	if err := (&dns.Conn{Conn: conn}).WriteMsg(message); err != nil {
		return nil, err
	}
	for {
		answer, err := (&dns.Conn{Conn: conn, UDPSize: dns.MaxMsgSize}).ReadMsg()
		if err != nil {
			return nil, err
		}
		if answer.Id != message.Id { // late, of an earlier query
			continue
		}
		if answer.Rcode != dns.RcodeSuccess {
			return nil, Refusal(dns.RcodeToString[answer.Rcode])
		}
		if answer.Truncated {
			return nil, errTruncated
		}
		return answer.Answer, nil
	}
}
