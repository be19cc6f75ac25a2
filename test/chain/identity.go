package chain

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// identity is a cluster's certificate authority and what it signed, for the API server and the
// registry.
type identity struct {
	ca, cert, key []byte // PEM
	pool          *x509.CertPool
}

func newIdentity() (identity, error) {
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA of " + Zone},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	leaf := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "kube-apiserver"},
		NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames:    []string{"localhost", "api." + Zone, "api-int." + Zone},
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback, APIVIP.AsSlice(), APIVIP6.AsSlice(), BootstrapIP.AsSlice(), registryIP.AsSlice(), BMCIP.AsSlice()},
	}
	caKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return identity{}, err
	}
	caDER, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		return identity{}, err
	}
	leafDER, err := x509.CreateCertificate(rand.Reader, leaf, ca, key.Public(), caKey)
	if err != nil {
		return identity{}, err
	}
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return identity{}, err
	}
	id := identity{
		ca:   pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER}),
		cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: leafDER}),
		key:  pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: keyDER}),
		pool: x509.NewCertPool(),
	}
	id.pool.AppendCertsFromPEM(id.ca)
	return id, nil
}

// kubeconfig is a bootstrap machine's own: it asks the API server beside it.
func (id identity) kubeconfig() []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: %[1]s
  cluster:
    server: https://localhost:6443
    certificate-authority-data: %[2]s
users:
- name: admin
  user:
    token: fake
contexts:
- name: admin
  context:
    cluster: %[1]s
    user: admin
current-context: admin
`, Cluster, base64.StdEncoding.EncodeToString(id.ca))
}
