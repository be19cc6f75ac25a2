package kubeapi

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"time"
)

// Identity is a certificate and its key, both PEM.
type Identity struct{ Cert, Key []byte }

// Authority signs for one cluster.
type Authority struct {
	Identity
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pool *x509.CertPool
}

// valid is how long a certificate is valid by default.
const valid = 24 * time.Hour

// NewAuthority makes one with a key of its own.
func NewAuthority() (*Authority, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "test CA"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(valid),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageDigitalSignature,
	}
	a := &Authority{pool: x509.NewCertPool()}
	var err error
	if a.Identity, a.key, err = sign(template, nil, nil); err != nil {
		return nil, err
	}
	block, _ := pem.Decode(a.Cert)
	if a.cert, err = x509.ParseCertificate(block.Bytes); err != nil {
		return nil, err
	}
	a.pool.AddCert(a.cert)
	return a, nil
}

// sign makes a key and a certificate for it, signed by parent or, without one, by itself.
func sign(template, parent *x509.Certificate, by *ecdsa.PrivateKey) (Identity, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Identity{}, nil, err
	}
	if parent == nil {
		parent, by = template, key
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return Identity{}, nil, err
	}
	cert, err := x509.CreateCertificate(rand.Reader, template, parent, key.Public(), by)
	if err != nil {
		return Identity{}, nil, err
	}
	der, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		return Identity{}, nil, err
	}
	return Identity{
		Cert: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: cert}),
		Key:  pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}),
	}, key, nil
}

// Pool trusts what it signs.
func (a *Authority) Pool() *x509.CertPool { return a.pool }

// Server is an API server's identity, valid for these names and addresses and for this machine's
// own.
func (a *Authority) Server(names []string, addresses []netip.Addr) (Identity, error) {
	template := &x509.Certificate{
		Subject: pkix.Name{CommonName: "kube-apiserver"}, NotBefore: a.cert.NotBefore, NotAfter: a.cert.NotAfter,
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		DNSNames: append([]string{"localhost"}, names...), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1), net.IPv6loopback},
	}
	for _, address := range addresses {
		template.IPAddresses = append(template.IPAddresses, address.AsSlice())
	}
	id, _, err := sign(template, a.cert, a.key)
	return id, err
}

// User is a user of the API.
type User struct {
	Name   string
	Groups []string
	Valid  time.Duration // from now on; 0 is a day
}

// Admin may do everything.
func Admin() User { return User{Name: "admin", Groups: []string{"system:masters"}} }

// Node is the kubelet of a node.
func Node(name string) User {
	return User{Name: "system:node:" + name, Groups: []string{"system:nodes"}}
}

// Sign makes a client certificate for a user.
func (c *Cluster) Sign(u User) (Identity, error) { return c.authority.Sign(u) }

// Sign makes a client certificate for a user.
func (a *Authority) Sign(u User) (Identity, error) {
	if u.Valid == 0 {
		u.Valid = valid
	}
	id, _, err := sign(&x509.Certificate{
		Subject: pkix.Name{CommonName: u.Name, Organization: u.Groups}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(u.Valid),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}, a.cert, a.key)
	return id, err
}

// CA is the certificate that signed all others, PEM.
func (c *Cluster) CA() []byte { return c.authority.Cert }

// Kubeconfig holds a user's credentials for the API at a URL, such as
// https://api-int.example.com:6443.
func (c *Cluster) Kubeconfig(url string, id Identity) []byte { return c.authority.Kubeconfig(url, id) }

// Kubeconfig holds a user's credentials for the API at a URL.
func (a *Authority) Kubeconfig(url string, id Identity) []byte {
	return a.kubeconfig(url, "client-certificate-data: "+base64.StdEncoding.EncodeToString(id.Cert)+"\n    client-key-data: "+base64.StdEncoding.EncodeToString(id.Key))
}

func (a *Authority) kubeconfig(url, user string) []byte {
	return fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters:
- name: test
  cluster:
    server: %s
    certificate-authority-data: %s
users:
- name: user
  user:
    %s
contexts:
- name: user
  context: {cluster: test, user: user}
current-context: user
`, url, base64.StdEncoding.EncodeToString(a.Cert), user)
}

// WriteKubelet writes what a kubelet has in /var/lib/kubelet once it has joined: kubeconfig, which
// names pki/kubelet-client-current.pem, a link to the certificate of the day. dir is the directory
// on this machine, and inside is its path as the kubelet sees it. Written again, it is a rotation
// of the certificate.
func (c *Cluster) WriteKubelet(dir, inside, url string, id Identity) error {
	pki := filepath.Join(dir, "pki")
	today := fmt.Sprintf("kubelet-client-%s.pem", time.Now().Format("2006-01-02-15-04-05.000000"))
	link := filepath.Join(pki, "kubelet-client-current.pem")
	seen := filepath.Join(inside, "pki", "kubelet-client-current.pem")
	kubeconfig := c.authority.kubeconfig(url, fmt.Sprintf("client-certificate: %s\n    client-key: %s", seen, seen))
	return errors.Join(
		os.MkdirAll(pki, 0o700),
		os.WriteFile(filepath.Join(pki, today), append(id.Cert[:len(id.Cert):len(id.Cert)], id.Key...), 0o600),
		os.Symlink(today, link+".new"),
		os.Rename(link+".new", link),
		os.WriteFile(filepath.Join(dir, "kubeconfig.new"), kubeconfig, 0o600),
		os.Rename(filepath.Join(dir, "kubeconfig.new"), filepath.Join(dir, "kubeconfig")),
	)
}

// tls is how a client with this identity connects to the cluster's servers, whatever address it
// dials.
func (c *Cluster) tls(id Identity) (*tls.Config, error) {
	pair, err := tls.X509KeyPair(id.Cert, id.Key)
	if err != nil {
		return nil, err
	}
	return &tls.Config{RootCAs: c.authority.pool, Certificates: []tls.Certificate{pair}, ServerName: "localhost"}, nil
}
