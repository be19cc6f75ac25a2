// Package identity makes Ironic's certificate, by which clients know it, and the account of its
// API, by which it knows clients. On a bootstrap machine both are made there, stay over restarts
// and are in no other place. A Bundle outlives the host: it is the data of a Secret.
package identity

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Files are the paths of an identity. The directories need not exist.
type Files struct{ Certificate, Key, Account, Htpasswd string }

// Machine is the identity on a bootstrap machine.
func Machine() Files {
	return Files{layout.Certificate, layout.Key, layout.Account, layout.Htpasswd}
}

// Ensure makes what is missing or not usable, and reports whether it made anything: programs that
// have read the files must read them again then. The certificate is for the names, DNS names or IP
// addresses. One that is good is kept, and so is an account.
func (f Files) Ensure(names []string, now time.Time) (changed bool, err error) {
	for _, path := range []string{f.Certificate, f.Key, f.Account, f.Htpasswd} {
		if err := makeDir(filepath.Dir(path)); err != nil {
			return false, fmt.Errorf("make a directory for %s: %w", path, err)
		}
	}
	certificate, err := f.ensureCertificate(names, now)
	if err != nil {
		return certificate, err
	}
	account, err := f.ensureAccount()
	return certificate || account, err
}

// makeDir makes a directory of secrets, for its owner alone. All may read those above it.
func makeDir(dir string) error {
	if err := os.MkdirAll(filepath.Dir(dir), 0o755); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

func (f Files) ensureCertificate(names []string, now time.Time) (changed bool, err error) {
	kept, err := f.keptCertificate(names, now)
	if err != nil || kept {
		return false, err
	}
	certificate, key, err := makeCertificate(names, now)
	if err != nil {
		return false, fmt.Errorf("make Ironic's certificate: %w", err)
	}
	// The key comes first: after a loss of power between both, they are no pair and made again.
	if err := file.Write(f.Key, key, 0o600); err != nil {
		return false, err
	}
	return true, file.Write(f.Certificate, certificate, 0o644)
}

// keptCertificate reports whether the certificate is good. One that cannot be read at the
// moment may be, and hosts that booted trust it: they could not report to an Ironic with another
// one.
func (f Files) keptCertificate(names []string, now time.Time) (bool, error) {
	certificate, err := os.ReadFile(f.Certificate)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read Ironic's certificate: %w", err)
	}
	key, err := os.ReadFile(f.Key)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read the key of Ironic's certificate: %w", err)
	}
	pair, err := tls.X509KeyPair(certificate, key)
	return err == nil && usable(pair.Leaf, names, now), nil
}

// Roots has Ironic's certificate alone: whoever shows another one is not Ironic.
func (f Files) Roots() (*x509.CertPool, error) {
	text, err := os.ReadFile(f.Certificate)
	if err != nil {
		return nil, fmt.Errorf("read Ironic's certificate: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("read Ironic's certificate: there is none in %s", f.Certificate)
	}
	return roots, nil
}

// Account is the account of Ironic's API.
type Account struct {
	Username string
	Password secret.Text
}

// account is the file.
type account struct {
	Username string `json:"username"`
	Password string `json:"password"`
}

// limit is more than an account needs, in bytes.
const limit = 4 << 10

var errAccount = errors.New("it holds no account")

// Credentials reads the account. Its errors quote nothing of the file.
func (f Files) Credentials() (Account, error) {
	text, err := os.ReadFile(f.Account)
	if err != nil {
		return Account{}, fmt.Errorf("read the account of Ironic's API: %w", err)
	}
	a, err := decode(text)
	if err != nil {
		return Account{}, fmt.Errorf("read %s: %w", f.Account, err)
	}
	return Account{a.Username, secret.New(a.Password)}, nil
}

func decode(text []byte) (a account, err error) {
	if len(text) > limit || json.Unmarshal(text, &a) != nil || a.Username == "" ||
		a.Password == "" {
		return account{}, errAccount
	}
	return a, nil
}

// ensureAccount keeps the account if the file of hashes has its hash, and else makes a new one.
func (f Files) ensureAccount() (changed bool, err error) {
	kept, err := f.kept()
	if err != nil || kept {
		return false, err
	}
	a, line, err := makeAccount()
	if err != nil {
		return false, fmt.Errorf("make the account of Ironic's API: %w", err)
	}
	// A loss of power between both leaves a hash that is not of the account: both are made again.
	if err := file.Write(f.Account, a, 0o600); err != nil {
		return false, err
	}
	return true, file.Write(f.Htpasswd, line, 0o600)
}

func (f Files) kept() (bool, error) {
	text, err := os.ReadFile(f.Account)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read the account of Ironic's API: %w", err)
	}
	line, err := os.ReadFile(f.Htpasswd)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("read the hash of Ironic's account: %w", err)
	}
	a, err := decode(text)
	return err == nil && a.is(line), nil
}
