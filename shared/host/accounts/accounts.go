// Package accounts reads the files that a cluster description names beside itself: the accounts of
// BMCs, and the certificates by which BMCs are verified.
package accounts

import (
	"cmp"
	"crypto/x509"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// limit, in bytes, is far above the size of an account, and of a host's trusted certificates.
const limit = 1 << 20

// Of are the accounts of the hosts' BMCs, in the order of the hosts, and what is wrong with the
// files that have them. The account of an install-config stands in the host itself. A relative
// path begins at the directory of the description.
func Of(description string, hosts []spec.Host) ([]grammar.Account, spec.Findings) {
	all := make([]grammar.Account, len(hosts))
	read := map[string]grammar.Account{}
	r := &document.Report{}
	for i, h := range hosts {
		path, at := h.BMC.Credentials, h.BMC.CredentialsAt
		if path == "" {
			all[i] = grammar.Account{Username: h.BMC.Username, Password: h.BMC.Password}
			if h.BMC.Address != (bmc.Address{}) && h.BMC.Password.Empty() {
				r.Errorf(at, "is missing: write the path of a file with username and password")
			}
			continue
		}
		path = beside(description, path)
		account, known := read[path]
		if !known {
			account = one(r, path, at)
			read[path] = account
		}
		all[i] = account
	}
	return all, r.Findings
}

// one reads the file at a path, which the description names at a place.
func one(r *document.Report, path string, at document.Place) grammar.Account {
	text, ok := readNamed(r, path, at, "username: and password:")
	if !ok {
		return grammar.Account{}
	}
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		r.Warnf(at, "others can read %s: run chmod 600 %[1]s", path)
	}
	account, wrong := grammar.ParseAccount(path, text)
	r.Findings = append(r.Findings, wrong...)
	return account
}

// readNamed reads a file that a description names; what says what belongs into it.
func readNamed(r *document.Report, path string, at document.Place, what string) ([]byte, bool) {
	text, err := file.ReadGiven(path, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.Errorf(at, "there is no file %s: write %s into it", path, what)
	case err != nil:
		r.Errorf(at, "%v", err)
	}
	return text, err == nil
}

// CA are the certificates by which BMCs are verified, and their text, with what is wrong with the
// file that has them. Nil and an empty text stand for those of the host that verifies BMCs. Those
// of an install-config stand in it, and are known to be right.
func CA(description string, s provisioning.Settings) (*x509.CertPool, string, spec.Findings) {
	text := s.BMCCA
	if s.BMCCAFile != "" {
		path, r := beside(description, s.BMCCAFile), &document.Report{}
		read, ok := readNamed(r, path, s.BMCCAAt, "certificates in PEM")
		if text = string(read); ok {
			if why := grammar.NoCertificate(text); why != "" {
				r.Errorf(s.BMCCAAt, "%s %s", path, why)
			}
		}
		if len(r.Findings) > 0 {
			return nil, "", r.Findings
		}
	}
	if text == "" {
		return nil, "", nil
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM([]byte(text))
	return pool, text, nil
}

// beside is a path that the description names: a relative one begins at its directory.
func beside(description, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cmp.Or(filepath.Dir(description), "."), path)
}
