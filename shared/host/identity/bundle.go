package identity

import (
	"crypto/tls"
	"fmt"
	"maps"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
)

// The keys of a Bundle. metal3's operator reads the first three: by the certificate it knows
// Ironic.
const (
	CertificateKey = "tls.crt"
	UsernameKey    = "username"
	PasswordKey    = "password"
	PrivateKey     = "tls.key"
	HtpasswdKey    = "htpasswd"
)

// Bundle is an identity that outlives the host on which Ironic runs: the data of a Secret.
type Bundle map[string][]byte

// Complete returns the bundle with what was missing or not usable, as Files.Ensure makes it, and
// whether that is another bundle. The error quotes nothing of it.
func (b Bundle) Complete(names []string, now time.Time) (whole Bundle, changed bool, err error) {
	whole = maps.Clone(b)
	if whole == nil {
		whole = Bundle{}
	}
	pair, err := tls.X509KeyPair(b[CertificateKey], b[PrivateKey])
	if err != nil || !usable(pair.Leaf, names, now) {
		changed = true
		whole[CertificateKey], whole[PrivateKey], err = makeCertificate(names, now)
		if err != nil {
			return nil, false, fmt.Errorf("make Ironic's certificate: %w", err)
		}
	}
	a := account{string(b[UsernameKey]), string(b[PasswordKey])}
	if a.Username == "" || a.Password == "" || !a.is(b[HtpasswdKey]) {
		changed = true
		var line []byte
		if a, line, err = newAccount(); err != nil {
			return nil, false, fmt.Errorf("make the account of Ironic's API: %w", err)
		}
		whole[UsernameKey], whole[PasswordKey] = []byte(a.Username), []byte(a.Password)
		whole[HtpasswdKey] = line
	}
	return whole, changed, nil
}

// Place writes what Ironic and the server beside it read of a bundle: not the account itself, of
// which Ironic needs the hash alone.
func (f Files) Place(b Bundle) error {
	for _, one := range []struct {
		path    string
		content []byte
	}{{f.Key, b[PrivateKey]}, {f.Certificate, b[CertificateKey]}, {f.Htpasswd, b[HtpasswdKey]}} {
		if err := makeDir(filepath.Dir(one.path)); err != nil {
			return fmt.Errorf("make a directory for %s: %w", one.path, err)
		}
		if _, err := file.WriteIfChanged(one.path, one.content, 0o600); err != nil {
			return err
		}
	}
	return nil
}
