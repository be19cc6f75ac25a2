// Package spread finds out which hosts answer at a VIP that several announce to their routers: each
// answers with a certificate of its own.
package spread

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// Kubelet is the port at which kubelet listens at all addresses of its host, with a certificate
// that names the node.
const Kubelet = 10250

// The bounds of what is sent.
const (
	at      = 8 // connections that are open at a time
	answers = 2 * time.Second
	whole   = 8 * time.Second
)

// Question is what is asked.
type Question struct {
	VIP  netip.Addr
	Port uint16
	// Most is how many connections are made at most. Ask ends before that when Enough hosts have
	// answered.
	Most, Enough int
	// Dial opens a connection; nil for one of this host.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// Ask opens TLS connections, each from another port, and closes them after the handshake: no
// request is sent. It takes 8 s at most.
func Ask(ctx context.Context, q Question) facts.Spread {
	ctx, cancel := context.WithTimeout(ctx, whole)
	defer cancel()
	if q.Dial == nil {
		q.Dial = new(net.Dialer).DialContext
	}
	t := tally{Spread: facts.Spread{VIP: q.VIP}, question: q, hosts: map[[sha256.Size]byte]int{}}
	var running sync.WaitGroup
	for range at {
		running.Go(func() {
			for ctx.Err() == nil && t.next() {
				t.add(q.ask(ctx))
			}
		})
	}
	running.Wait()
	slices.SortFunc(t.Hosts, func(a, b facts.Answerer) int {
		return slices.Compare(a.Names, b.Names)
	})
	return t.Spread
}

// tally counts answers.
type tally struct {
	mu sync.Mutex
	facts.Spread
	question Question
	hosts    map[[sha256.Size]byte]int // by their certificates, in Hosts
}

// next reports whether one more connection is to be made, and counts it.
func (t *tally) next() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	// If all of the first connections fail, so would the others.
	if t.Asked >= t.question.Most || len(t.Hosts) >= t.question.Enough ||
		len(t.Hosts) == 0 && t.Failed >= at {
		return false
	}
	t.Asked++
	return true
}

func (t *tally) add(c *x509.Certificate, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if err != nil {
		t.Failed, t.Why = t.Failed+1, err.Error()
		return
	}
	sum := sha256.Sum256(c.Raw)
	n, known := t.hosts[sum]
	if !known {
		n = len(t.Hosts)
		t.hosts[sum], t.Hosts = n, append(t.Hosts, facts.Answerer{Names: names(c)})
	}
	t.Hosts[n].Times++
}

// ask returns the certificate of whichever host answers.
func (q Question) ask(ctx context.Context) (*x509.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, answers)
	defer cancel()
	raw, err := q.Dial(ctx, "tcp", netip.AddrPortFrom(q.VIP, q.Port).String())
	if err != nil {
		return nil, err
	}
	defer raw.Close()
	// The certificate only distinguishes hosts, and is not trusted: only the handshake is sent.
	c := tls.Client(raw, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // see above
	if err := c.HandshakeContext(ctx); err != nil {
		return nil, err
	}
	return c.ConnectionState().PeerCertificates[0], nil
}

// names are those of a node, as kubelet's own certificate (NAME@TIME) and that of a cluster
// (system:node:NAME) have them, and its addresses.
func names(c *x509.Certificate) (all []string) {
	add := func(name string) {
		if name != "" && !slices.Contains(all, name) {
			all = append(all, name)
		}
	}
	name, _, _ := strings.Cut(strings.TrimPrefix(c.Subject.CommonName, "system:node:"), "@")
	add(name)
	for _, name := range c.DNSNames {
		add(name)
	}
	for _, ip := range c.IPAddresses {
		if a, ok := netip.AddrFromSlice(ip); ok {
			add(a.Unmap().String())
		}
	}
	return all
}
