package probe

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"time"
)

// sntp is a packet of the simple network time protocol (RFC 4330 4).
const (
	sntpLength  = 48
	sntpAsk     = 4<<3 | 3 // version 4, a client
	sntpServer  = 4
	sntpSent    = 40 // where a packet says when it was sent
	sntpOrigin  = 24 // and where an answer says that of the question
	sntpSeconds = 2208988800
)

// Time asks a time server how far its clock is ahead of this host's. What the way there and back
// takes is split in two, as its halves are not known.
func Time(ctx context.Context, server netip.AddrPort) (ahead time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "udp", server.String())
	if err != nil {
		return 0, plain(err)
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.SetDeadline(time.Unix(1, 0)) })()
	question := make([]byte, sntpLength)
	question[0] = sntpAsk
	asked := time.Now()
	binary.BigEndian.PutUint64(question[sntpSent:], uint64(asked.UnixNano())) // the server gives it back as it is
	if _, err := conn.Write(question); err != nil {
		return 0, fmt.Errorf("ask %s for the time: %w", server, plain(err))
	}
	answer := make([]byte, sntpLength)
	for {
		n, err := conn.Read(answer)
		if err != nil {
			return 0, fmt.Errorf("ask %s for the time: %w", server, plain(err))
		}
		if n == sntpLength && string(answer[sntpOrigin:sntpOrigin+8]) == string(question[sntpSent:]) && answer[0]&7 == sntpServer {
			break
		}
	}
	back := time.Now()
	if answer[1] == 0 || answer[0]>>6 == 3 {
		return 0, fmt.Errorf("ask %s for the time: its own clock is not set", server)
	}
	seconds, fraction := binary.BigEndian.Uint32(answer[sntpSent:]), binary.BigEndian.Uint32(answer[sntpSent+4:])
	era := int64(seconds) - sntpSeconds
	if seconds < 1<<31 {
		era += 1 << 32 // after 2036 (RFC 4330 3)
	}
	theirs := time.Unix(era, int64(fraction)*int64(time.Second)>>32)
	return theirs.Sub(asked.Add(back.Sub(asked) / 2)), nil
}

// Date asks any HTTP server how far its clock is ahead of this host's, by what it says of its
// answer, which is exact to a second. Its certificate is not looked at: one of two wrong clocks
// would refuse it.
func Date(ctx context.Context, url string) (ahead time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	asked := time.Now()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return 0, plain(err)
	}
	defer answer.Body.Close()
	middle := asked.Add(time.Since(asked) / 2)
	said, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return 0, errors.New("its answer has no date")
	}
	return said.Add(time.Second / 2).Sub(middle), nil
}
