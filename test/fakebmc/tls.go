package fakebmc

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// Certificate describes what a BMC presents. The zero value is valid for the loopback.
type Certificate struct {
	Name    string        // or an address, instead of the loopback's addresses
	Expired time.Duration // how long ago it ended
}

// Made is a certificate that a CA of its own signed.
type Made struct {
	TLS  tls.Certificate
	Pool *x509.CertPool // has the CA
	PEM  []byte         // the CA
	Pin  string         // the certificate's SHA-256
}

// Make makes a CA, and signs the certificate.
func (c Certificate) Make() (Made, error) {
	now := time.Now()
	until := now.Add(time.Hour)
	if c.Expired > 0 {
		until = now.Add(-c.Expired)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Made{}, err
	}
	ca := &x509.Certificate{ // OpenSSL looks an issuer up by its name: each CA has another one
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "FAKE CA " + rand.Text()}, IsCA: true,
		NotBefore: now.Add(-time.Hour * 24 * 400), NotAfter: now.Add(time.Hour),
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "FAKE BMC"},
		NotBefore: now.Add(-time.Hour * 24 * 300), NotAfter: until,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
		KeyUsage:    x509.KeyUsageDigitalSignature,
	}
	if address := net.ParseIP(c.Name); address != nil {
		leaf.IPAddresses = []net.IP{address}
	} else if c.Name != "" {
		leaf.IPAddresses, leaf.DNSNames = nil, []string{c.Name}
	}
	top, err := x509.CreateCertificate(rand.Reader, ca, ca, key.Public(), key)
	if err != nil {
		return Made{}, err
	}
	der, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), key)
	if err != nil {
		return Made{}, err
	}
	sum := sha256.Sum256(der)
	made := Made{
		TLS: tls.Certificate{Certificate: [][]byte{der, top}, PrivateKey: key},
		PEM: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: top}),
		Pin: hex.EncodeToString(sum[:]), Pool: x509.NewCertPool(),
	}
	made.Pool.AppendCertsFromPEM(made.PEM)
	return made, nil
}

// Running is a BMC that a test serves on the loopback.
type Running struct {
	Made
	URL string
}

// Start serves a BMC until the test ends.
func Start(t testing.TB, handler http.Handler, c Certificate) Running {
	t.Helper()
	made, err := c.Make()
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(handler)
	server.TLS = &tls.Config{
		Certificates: []tls.Certificate{made.TLS}, MinVersion: tls.VersionTLS12,
	}
	server.Config.ErrorLog = quiet()
	server.StartTLS()
	t.Cleanup(func() {
		server.CloseClientConnections() // an answer may be without end
		server.Close()
	})
	return Running{Made: made, URL: server.URL}
}

// Client is a client that trusts the BMC.
func (r Running) Client() *http.Client {
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: r.Pool}}}
}
