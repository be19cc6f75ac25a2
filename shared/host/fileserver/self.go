package fileserver

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// within is how long an answer of the server to itself may take.
const within = 5 * time.Second

// Ask asks the server for a file as a client does, at one of its addresses, and returns the file's
// size in bytes. Another server at the address, or a firewall, is an error.
func (s *Server) Ask(ctx context.Context, at netip.AddrPort, secure bool, name string) (int64,
	error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	where := url.URL{Scheme: "http", Host: at.String(), Path: "/" + name}
	if secure {
		where.Scheme = "https"
	}
	size, err := s.ask(ctx, where.String())
	if err != nil {
		var of *url.Error
		if errors.As(err, &of) {
			err = of.Err
		}
		return 0, fmt.Errorf("ask for %s: %w", where.String(), err)
	}
	return size, nil
}

func (s *Server) ask(ctx context.Context, where string) (int64, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, where, nil)
	if err != nil {
		return 0, err
	}
	request.Header.Set("Range", "bytes=0-0")
	request.Header.Set(selfHeader, s.self)
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: new(net.Dialer).DialContext, TLSClientConfig: s.pinned()}}
	answer, err := client.Do(request)
	if err != nil {
		return 0, err
	}
	_ = answer.Body.Close() // one byte
	if answer.Header.Get(selfHeader) != "yes" {
		return 0, errors.New("another server answers: is the address another machine's?")
	}
	_, total, ok := strings.Cut(answer.Header.Get("Content-Range"), "/")
	if !ok || answer.StatusCode != http.StatusPartialContent {
		return 0, errors.New("the answer is " + answer.Status)
	}
	return strconv.ParseInt(total, 10, 64)
}

// pinned accepts the server's own certificate and no other one, whatever its names are.
func (s *Server) pinned() *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS12,
		InsecureSkipVerify: true, // the next function verifies
		VerifyPeerCertificate: func(shown [][]byte, _ [][]*x509.Certificate) error {
			own, err := s.pair.get()
			if err != nil {
				return err
			}
			if len(shown) == 0 || !bytes.Equal(shown[0], own.Certificate[0]) {
				return errors.New("another certificate is shown")
			}
			return nil
		},
	}
}
