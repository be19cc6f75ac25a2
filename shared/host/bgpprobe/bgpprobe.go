// Package bgpprobe asks a router whether it would have a BGP session with this host, before any
// speaker exists: it opens a connection, sends an OPEN, reads the answer, and closes. It never
// acknowledges the router's OPEN, so no session is established and no route passes.
package bgpprobe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Port is that of BGP (RFC 4271).
const Port = 179

// The bounds of a question: a SYN is sent three times meanwhile, and FRR waits a second before it
// answers some connections.
const (
	connects = 4 * time.Second
	answers  = 4 * time.Second
	most     = 4 // messages that are read
)

// Question is what a router is asked.
type Question struct {
	Router   netip.Addr
	ASN      bgp.ASN // of the router; 0 for whichever it has
	Own      message.Open
	Password secret.Text // by TCP MD5 (RFC 2385); empty for none
	Source   netip.Addr  // the zero value leaves it to the kernel
	// Hops is how many routers are between, plus one; 0 and 1 for none. TTLSecurity has packets
	// dropped that come from further away (RFC 5082).
	Hops        int
	TTLSecurity bool
}

// Ask asks a router. It takes 8 s at most.
func Ask(ctx context.Context, q Question) message.Answer {
	c, err := q.dial(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	_ = c.SetDeadline(time.Now().Add(answers)) // of a connection that is open
	if _, err := c.Write(q.Own.Encode()); err != nil {
		return message.Answer{Outcome: message.Closed, Why: err.Error()}
	}
	a := q.read(c)
	if a.Notification == nil {
		_, _ = c.Write(message.Cease().Encode()) // it may be closed
	}
	return a
}

// Connect asks a router for a connection and no more: a host that has a speaker has sessions of its
// own, which a second OPEN would disturb. It takes 4 s at most.
func Connect(ctx context.Context, q Question) message.Answer {
	c, err := q.dial(ctx)
	if err != nil {
		return failed(ctx, err)
	}
	_ = c.Close() // nothing was written
	return message.Answer{Outcome: message.Connected}
}

// read reads until the router acknowledges the OPEN, or ends the session.
func (q Question) read(c io.Reader) (a message.Answer) {
	for range most {
		m, err := message.Read(c)
		var late net.Error
		switch {
		case errors.As(err, &late) && late.Timeout():
			a.Outcome, a.Why = message.Silent, fmt.Sprintf(
				"it took the connection, and within %v sent no answer to an OPEN", answers)
			return a
		case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET):
			a.Outcome = message.Closed
			return a
		case err != nil:
			a.Outcome, a.Why = message.NoBGP, err.Error()
			return a
		}
		switch m.Kind {
		case message.KindOpen:
			a.Open = m.Open
		case message.KindNotification:
			a.Outcome, a.Notification = message.Notified, m.Notification
			return a
		case message.KindKeepalive: // it acknowledges the OPEN
			a.Outcome = message.Accepted
			if a.Open != nil && q.ASN != 0 && a.Open.ASN != q.ASN {
				a.Outcome = message.Unlike
			}
			return a
		}
	}
	a.Outcome, a.Why = message.NoBGP, "it sent messages of another order than BGP has"
	return a
}

// failed is the outcome of a connection that is not made.
func failed(ctx context.Context, err error) message.Answer {
	a := message.Answer{Outcome: message.Unreachable, Why: err.Error()}
	var late net.Error
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, syscall.ECONNREFUSED):
		a.Outcome = message.Refused
	case errors.Is(err, syscall.ECONNRESET):
		a.Outcome = message.Refused
	case errors.As(err, &late) && late.Timeout():
		a.Outcome = message.Silent
	}
	return a
}

func (q Question) dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{Timeout: connects, Control: func(_, _ string, raw syscall.RawConn) error {
		var failed error
		err := raw.Control(func(fd uintptr) { failed = q.prepare(int(fd)) })
		return errors.Join(err, failed)
	}}
	if q.Source.IsValid() {
		d.LocalAddr = net.TCPAddrFromAddrPort(netip.AddrPortFrom(q.Source, 0))
	}
	return d.DialContext(ctx, "tcp", netip.AddrPortFrom(q.Router, Port).String())
}

// prepare sets the TTL of packets, with TTLSecurity the least TTL it accepts, and the password.
func (q Question) prepare(fd int) error {
	level, ttl, least := unix.IPPROTO_IP, unix.IP_TTL, unix.IP_MINTTL
	if q.Router.Is6() {
		level, ttl, least = unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, unix.IPV6_MINHOPCOUNT
	}
	hops := max(q.Hops, 1)
	goes := hops
	if q.TTLSecurity {
		goes = 255
		if err := unix.SetsockoptInt(fd, level, least, 256-hops); err != nil {
			return fmt.Errorf("take no packet from further than %d hops: %w", hops, err)
		}
	}
	if err := unix.SetsockoptInt(fd, level, ttl, goes); err != nil {
		return fmt.Errorf("send packets no further than %d hops: %w", goes, err)
	}
	if q.Password.Empty() {
		return nil
	}
	return q.sign(fd)
}

// sign has the kernel sign every packet (RFC 2385).
func (q Question) sign(fd int) error {
	key := []byte(q.Password.Reveal())
	s := unix.TCPMD5Sig{Keylen: uint16(len(key))}
	if len(key) > len(s.Key) {
		return fmt.Errorf("the password has more than %d bytes (RFC 2385)", len(s.Key))
	}
	copy(s.Key[:], key)
	s.Addr = storage(q.Router)
	if err := unix.SetsockoptTCPMD5Sig(fd, unix.IPPROTO_TCP, unix.TCP_MD5SIG, &s); err != nil {
		return fmt.Errorf("sign packets by the password (TCP MD5): %w", err)
	}
	return nil
}
