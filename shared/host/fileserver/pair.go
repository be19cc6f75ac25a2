package fileserver

import (
	"crypto/tls"
	"fmt"
	"os"
	"sync"
)

// pair is a certificate and its key, in files that another program writes.
type pair struct {
	certificate, key string

	mu   sync.Mutex
	of   [2]os.FileInfo // of the files that were read
	last *tls.Certificate
}

func (p *pair) config() *tls.Config {
	return &tls.Config{MinVersion: tls.VersionTLS12, GetCertificate: func(*tls.ClientHelloInfo) (
		*tls.Certificate, error) {
		return p.get()
	}}
}

// get reads the files again if they have changed. While they are no pair, as one was written and
// the other one was not yet, the former pair stays.
func (p *pair) get() (*tls.Certificate, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var now [2]os.FileInfo
	for i, path := range []string{p.certificate, p.key} {
		info, err := os.Stat(path)
		if err != nil {
			return p.former(err)
		}
		now[i] = info
	}
	if p.last != nil && same(p.of[0], now[0]) && same(p.of[1], now[1]) {
		return p.last, nil
	}
	read, err := tls.LoadX509KeyPair(p.certificate, p.key)
	if err != nil {
		return p.former(err)
	}
	p.last, p.of = &read, now
	return p.last, nil
}

func (p *pair) former(err error) (*tls.Certificate, error) {
	if p.last != nil {
		return p.last, nil
	}
	return nil, fmt.Errorf("read the certificate of the server: %w", err)
}

func same(a, b os.FileInfo) bool {
	return os.SameFile(a, b) && a.ModTime().Equal(b.ModTime()) && a.Size() == b.Size()
}
