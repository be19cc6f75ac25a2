package identity

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/bcrypt"
)

// The certificate is trusted because it is known, so its times protect nothing, and must not end an
// installation that is paused. It is valid since 1970: the clock of a host whose battery is empty
// is behind, sometimes by decades.
const (
	lifetime = 10 * 365 * 24 * time.Hour
	renewal  = 365 * 24 * time.Hour // before its end
)

// commonName is the same in each certificate: clients verify the alternative names alone.
const commonName = "onprem-infra Ironic"

// makeCertificate makes a key on P-256 and its certificate, in PEM.
func makeCertificate(names []string, now time.Time) (certificate, key []byte, err error) {
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return nil, nil, err
	}
	t := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: commonName},
		NotBefore: time.Unix(0, 0), NotAfter: now.Add(lifetime),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	t.DNSNames, t.IPAddresses = split(names)
	der, err := x509.CreateCertificate(rand.Reader, t, t, private.Public(), private)
	if err != nil {
		return nil, nil, err
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return nil, nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}),
		pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}), nil
}

func split(names []string) (dns []string, addresses []net.IP) {
	for _, name := range names {
		if ip := net.ParseIP(strings.Trim(name, "[]")); ip != nil {
			addresses = append(addresses, ip)
		} else {
			dns = append(dns, name)
		}
	}
	return dns, addresses
}

// usable reports whether a certificate is for all the names, and for long enough.
func usable(c *x509.Certificate, names []string, now time.Time) bool {
	if now.Add(renewal).After(c.NotAfter) {
		return false
	}
	return !slices.ContainsFunc(names, func(name string) bool {
		return c.VerifyHostname(name) != nil
	})
}

// username is the one account, of the programs of this machine.
const username = "onprem-infra"

// letters are those of a password, and passwordLength is how many it has: 190 bits.
const (
	letters        = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	passwordLength = 32
)

// cost is bcrypt's least: no one guesses 190 bits, and the hash is compared in each round.
const cost = bcrypt.MinCost

// makeAccount makes an account as a file, and its line for Ironic.
func makeAccount() (file, line []byte, err error) {
	a, line, err := newAccount()
	if err != nil {
		return nil, nil, err
	}
	if file, err = json.Marshal(a); err != nil {
		return nil, nil, err
	}
	return append(file, '\n'), line, nil
}

// newAccount makes an account, and its line for Ironic.
func newAccount() (a account, line []byte, err error) {
	password := make([]byte, passwordLength)
	for i := range password {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(letters))))
		if err != nil {
			return a, nil, err
		}
		password[i] = letters[n.Int64()]
	}
	hash, err := bcrypt.GenerateFromPassword(password, cost)
	if err != nil {
		return a, nil, err
	}
	line = slices.Concat([]byte(username+":"), marked(hash), []byte("\n"))
	return account{username, string(password)}, line, nil
}

// marked gives a hash the prefix $2y$ of htpasswd, which Ironic accepts. Package bcrypt writes
// the same hash with $2a$, the prefix of the first implementation, and reads both.
func marked(hash []byte) []byte {
	return append([]byte("$2y$"), bytes.TrimPrefix(hash, []byte("$2a$"))...)
}

// is reports whether a line of Ironic's file is of the account.
func (a account) is(line []byte) bool {
	name, hash, ok := strings.Cut(strings.TrimSpace(string(line)), ":")
	return ok && name == a.Username &&
		bcrypt.CompareHashAndPassword([]byte(hash), []byte(a.Password)) == nil
}
