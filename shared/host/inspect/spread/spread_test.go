package spread_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"math/big"
	"net"
	"net/netip"
	"slices"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect/spread"
)

// certificate is one that kubelet makes for itself, or that a cluster gives it.
func certificate(t *testing.T, name string, names ...string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), Subject: pkix.Name{CommonName: name}, DNSNames: names, IPAddresses: []net.IP{net.IPv4(192, 0, 2, 11)}}
	der, err := x509.CreateCertificate(rand.Reader, &c, &c, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serve has hosts answer one connection after the other, as routers lead them.
func serve(t *testing.T, hosts ...tls.Certificate) (q spread.Question, connections *atomic.Int32) {
	t.Helper()
	connections = new(atomic.Int32)
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) {
		return &hosts[int(connections.Add(1))%len(hosts)], nil
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() { _ = c.(*tls.Conn).Handshake(); c.Close() }()
		}
	}()
	at := netip.MustParseAddrPort(l.Addr().String())
	return spread.Question{VIP: at.Addr(), Port: at.Port(), Most: 40, Enough: 3}, connections
}

// TestAsk holds that hosts are known apart by their certificates and named by them, and that no more
// connections are made than are needed.
func TestAsk(t *testing.T) {
	one, two := certificate(t, "n1@1764158400"), certificate(t, "system:node:n2", "n2", "n2.example.com")
	q, connections := serve(t, one, two)
	s := spread.Ask(t.Context(), q)
	if len(s.Hosts) != 2 || s.Asked != 40 || s.Failed != 0 || s.Hosts[0].Times+s.Hosts[1].Times != 40 || connections.Load() != 40 ||
		!slices.Equal(s.Hosts[0].Names, []string{"n1", "192.0.2.11"}) || !slices.Equal(s.Hosts[1].Names, []string{"n2", "n2.example.com", "192.0.2.11"}) {
		t.Errorf("%+v", s)
	}
	q.Enough = 2
	if s := spread.Ask(t.Context(), q); len(s.Hosts) != 2 || s.Asked > 20 {
		t.Errorf("both have answered: %+v", s)
	}
}

// TestAsk_Failed holds that an address at which nothing answers is asked few times, and that one
// connection of many that fails is no host.
func TestAsk_Failed(t *testing.T) {
	refused := spread.Question{VIP: netip.MustParseAddr("127.0.0.1"), Port: 1, Most: 100, Enough: 3}
	if s := spread.Ask(t.Context(), refused); len(s.Hosts) != 0 || s.Failed != s.Asked || s.Asked > 16 || s.Why == "" {
		t.Errorf("%+v", s)
	}
	q, _ := serve(t, certificate(t, "n1@1"))
	var n atomic.Int32
	q.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		if n.Add(1)%10 == 0 {
			return nil, syscall.ETIMEDOUT
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}
	if s := spread.Ask(t.Context(), q); len(s.Hosts) != 1 || s.Failed != 4 || s.Hosts[0].Times != 36 {
		t.Errorf("%+v", s)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("stopped"))
	if s := spread.Ask(ctx, q); s.Asked != 0 {
		t.Errorf("it was stopped: %+v", s)
	}
}
