package wire

import (
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"strings"
	"sync"
	"time"
)

// Verify is how a BMC's certificate is verified.
type Verify struct {
	Mode Mode
	Pool *x509.CertPool // nil: this host's
	Pin  string         // SHA-256 of the certificate, as hexadecimal digits
}

// Chain is the certificate that the BMC presented.
type Chain struct {
	Subject  string
	Issuer   string
	Names    []string // DNS names and addresses
	From     time.Time
	Until    time.Time
	Pin      string // SHA-256 of the certificate, as hexadecimal digits
	Verified bool   // by the CA pool, for the address that was asked
	Problem  string // why not
	Misnamed bool   // Problem is that it has other names than the address that was asked
	Trusted  bool   // by the verification that was asked for
}

// Mode is a kind of verification.
type Mode string

// The modes. An empty mode is ByCA.
const (
	ByCA  Mode = "ca"
	ByPin Mode = "pin"
	Off   Mode = "off"
)

// trust judges the certificate of one BMC. Until require is called, any certificate is taken, as
// no credentials are sent.
type trust struct {
	verify Verify
	host   string
	now    func() time.Time
	mu     sync.Mutex
	chain  *Chain
	must   bool
}

// errUntrusted is the error of a connection to a BMC whose certificate is not trusted.
var errUntrusted = errors.New("certificate is not trusted")

func (t *trust) config() *tls.Config {
	// Go's own verification would end the connection before the chain could be described.
	return &tls.Config{
		InsecureSkipVerify: true, ServerName: t.host, VerifyConnection: t.judge, //nolint:gosec
		MinVersion: tls.VersionTLS12,
	}
}

// require makes each further connection fail whose certificate is not trusted. It reports whether
// those of all present ones are, or there is none, as without TLS.
func (t *trust) require() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.must = true
	return t.chain == nil || t.chain.Trusted
}

func (t *trust) seen() *Chain {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.chain
}

func (t *trust) judge(state tls.ConnectionState) error {
	chain := t.describe(state.PeerCertificates)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.must && !chain.Trusted {
		return errUntrusted
	}
	if t.chain == nil || t.chain.Trusted {
		t.chain = &chain // of several connections the one that is not trusted counts
	}
	return nil
}

func (t *trust) describe(certificates []*x509.Certificate) Chain {
	if len(certificates) == 0 {
		return Chain{Problem: "presents no certificate"}
	}
	leaf, between := certificates[0], x509.NewCertPool()
	for _, c := range certificates[1:] {
		between.AddCert(c)
	}
	sum := sha256.Sum256(leaf.Raw)
	chain := Chain{
		Subject: Printable(leaf.Subject.String()), Issuer: Printable(leaf.Issuer.String()),
		From: leaf.NotBefore, Until: leaf.NotAfter, Pin: hex.EncodeToString(sum[:]),
	}
	for i, name := range leaf.DNSNames {
		if i < MaxMembers {
			chain.Names = append(chain.Names, Printable(name))
		}
	}
	for i, ip := range leaf.IPAddresses {
		if i < MaxMembers {
			chain.Names = append(chain.Names, ip.String())
		}
	}
	_, err := leaf.Verify(x509.VerifyOptions{
		DNSName: t.host, Roots: t.verify.Pool, Intermediates: between, CurrentTime: t.now(),
	})
	chain.Verified = err == nil
	if err != nil {
		var other x509.HostnameError
		chain.Misnamed = errors.As(err, &other)
		chain.Problem = Printable(strings.TrimPrefix(err.Error(), "x509: "))
	}
	switch t.verify.Mode {
	case Off:
		chain.Trusted = true
	case ByPin:
		chain.Trusted = pinOf(t.verify.Pin) == chain.Pin
	default:
		chain.Trusted = chain.Verified
	}
	return chain
}

// pinOf is a pin as it is compared: openssl writes colons and capitals.
func pinOf(pin string) string {
	pin = strings.ToLower(strings.TrimSpace(pin))
	return strings.ReplaceAll(strings.TrimPrefix(pin, "sha256:"), ":", "")
}
