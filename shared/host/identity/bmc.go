package identity

import (
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
)

// bundles are where Linux distributions keep the certificates that a machine trusts, in one file:
// those of Go's crypto/x509.
var bundles = []string{
	"/etc/ssl/certs/ca-certificates.crt",
	"/etc/pki/tls/certs/ca-bundle.crt",
	"/etc/ssl/ca-bundle.pem",
	"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
	"/etc/ssl/cert.pem",
}

// BMCs are the certificates by which BMCs are verified. It is for one goroutine.
type BMCs struct {
	Hosts string // the path of the file of the hosts

	read fs.FileInfo // of Hosts, when it was read last
}

// Write writes the certificates to a path: those of the file of the hosts or, if it has none, those
// of this machine, as a container has others or none. While the file is the same it does nothing.
func (b *BMCs) Write(to string) error {
	info, err := os.Stat(b.Hosts)
	if err != nil {
		return fmt.Errorf("read the file of the hosts' secrets: %w", err)
	}
	there, err := file.Exists(to)
	if err != nil {
		return err
	}
	if there && b.read != nil && os.SameFile(info, b.read) && info.Size() == b.read.Size() &&
		info.ModTime().Equal(b.read.ModTime()) {
		return nil
	}
	text, err := os.ReadFile(b.Hosts)
	if err != nil {
		return fmt.Errorf("read the file of the hosts' secrets: %w", err)
	}
	f, err := hostfile.Decode(text)
	if err != nil {
		return fmt.Errorf("%s: %w", b.Hosts, err)
	}
	trusted := []byte(f.CA)
	if len(trusted) == 0 {
		if trusted, err = bundle(); err != nil {
			return err
		}
	}
	if _, err = file.WriteIfChanged(to, trusted, 0o644); err == nil {
		b.read = info
	}
	return err
}

// bundle is empty on a machine that trusts nobody: BMCs are refused then.
func bundle() ([]byte, error) {
	for _, path := range bundles {
		text, err := os.ReadFile(path)
		if err == nil {
			return text, nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("read the certificates that this machine trusts: %w", err)
		}
	}
	return []byte{}, nil
}
