// Package accounts reads the files that a cluster description names beside itself: the accounts of
// BMCs, and the certificates by which BMCs are verified.
package accounts

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/spec"
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
	var findings spec.Findings
	for i, h := range hosts {
		path := h.BMC.Credentials
		if path == "" {
			all[i] = grammar.Account{Username: h.BMC.Username, Password: h.BMC.Password}
			continue
		}
		path = beside(description, path)
		account, known := read[path]
		if !known {
			var wrong spec.Findings
			at := h.BMC.CredentialsAt
			account, wrong = one(path, spec.Finding{File: description, Line: at.Line,
				Column: at.Column, Severity: spec.Error,
				Path: fmt.Sprintf("spec.hosts[%d].bmc.credentials.file", i)})
			read[path], findings = account, append(findings, wrong...)
		}
		all[i] = account
	}
	return all, findings
}

// one reads the file at a path. at is a finding with the place where the description names it.
func one(path string, at spec.Finding) (grammar.Account, spec.Findings) {
	text, err := file.ReadGiven(path, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		at.Text = fmt.Sprintf("there is no file %s: write username: and password: into it", path)
		return grammar.Account{}, spec.Findings{at}
	case err != nil:
		at.Text = err.Error()
		return grammar.Account{}, spec.Findings{at}
	}
	var findings spec.Findings
	if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
		at.Severity = spec.Warning
		at.Text = fmt.Sprintf("others can read %s: run chmod 600 %[1]s", path)
		findings = append(findings, at)
	}
	account, wrong := grammar.ParseAccount(path, text)
	return account, append(findings, wrong...)
}

// CA are the certificates by which BMCs are verified; nil stands for those of this host.
func CA(description string, s provisioning.Settings) (*x509.CertPool, error) {
	pool, _, err := certificates(description, s)
	return pool, err
}

// PEM is the text of these certificates; empty stands for those of the host that verifies BMCs.
func PEM(description string, s provisioning.Settings) (string, error) {
	_, text, err := certificates(description, s)
	return text, err
}

func certificates(description string, s provisioning.Settings) (*x509.CertPool, string, error) {
	name, text := "bmcVerifyCA of "+description, []byte(s.BMCCA)
	if s.BMCCA == "" {
		if s.BMCCAFile == "" {
			return nil, "", nil
		}
		name = beside(description, s.BMCCAFile)
		var err error
		if text, err = file.ReadGiven(name, limit); err != nil {
			return nil, "", fmt.Errorf("the certificates that verify BMCs: %w", err)
		}
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(text) {
		return nil, "", fmt.Errorf("%s has no certificate: write one or more in PEM", name)
	}
	return pool, string(text), nil
}

// beside is a path that the description names: a relative one begins at its directory.
func beside(description, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(cmp.Or(filepath.Dir(description), "."), path)
}
