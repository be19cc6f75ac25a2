package probe

import (
	"context"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"time"
)

// sntp is a packet of the simple network time protocol (RFC 4330 4).
const (
	sntpLength  = 48
	sntpClient  = 4<<3 | 3 // version 4, a client
	sntpServer  = 4
	sntpSent    = 40 // offset of the time at which the packet was sent
	sntpOrigin  = 24 // offset of that time of the request, in an answer
	sntpSeconds = 2208988800
)

// Time is how far the clock of a time server is ahead of the local host's. It takes both directions
// of the network for equally slow.
func Time(ctx context.Context, server netip.AddrPort) (ahead time.Duration, err error) {
	conn, end, err := dial(ctx, "udp", server)
	if err != nil {
		return 0, plain(err)
	}
	defer end()
	query := make([]byte, sntpLength)
	query[0] = sntpClient
	asked := time.Now()
	// the server returns it unchanged
	binary.BigEndian.PutUint64(query[sntpSent:], uint64(asked.UnixNano()))
	if _, err := conn.Write(query); err != nil {
		return 0, fmt.Errorf("query the time of %s: %w", server, plain(err))
	}
	answer := make([]byte, sntpLength)
	for {
		n, err := conn.Read(answer)
		if err != nil {
			return 0, fmt.Errorf("query the time of %s: %w", server, plain(err))
		}
		if n == sntpLength && string(answer[sntpOrigin:sntpOrigin+8]) == string(query[sntpSent:]) &&
			answer[0]&7 == sntpServer {
			break
		}
	}
	back := time.Now()
	if answer[1] == 0 || answer[0]>>6 == 3 {
		return 0, fmt.Errorf("query the time of %s: its own clock is not set", server)
	}
	seconds := binary.BigEndian.Uint32(answer[sntpSent:])
	fraction := binary.BigEndian.Uint32(answer[sntpSent+4:])
	era := int64(seconds) - sntpSeconds
	if seconds < 1<<31 {
		era += 1 << 32 // after 2036 (RFC 4330 3)
	}
	theirs := time.Unix(era, int64(fraction)*int64(time.Second)>>32)
	return theirs.Sub(asked.Add(back.Sub(asked) / 2)), nil
}

// Date is how far the clock of any HTTP server is ahead of the local host's, by the Date header of
// an answer, which is exact to a second. The server's certificate is not verified: if a clock is
// wrong it may seem invalid.
func Date(ctx context.Context, url string) (ahead time.Duration, err error) {
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, url, nil)
	if err != nil {
		return 0, err
	}
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DisableKeepAlives: true}
	asked := time.Now()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return 0, plain(err)
	}
	defer answer.Body.Close()
	middle := asked.Add(time.Since(asked) / 2)
	date, err := http.ParseTime(answer.Header.Get("Date"))
	if err != nil {
		return 0, errors.New("its answer has no date")
	}
	return date.Add(time.Second / 2).Sub(middle), nil
}
