package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning/grammar"
)

// checkCredentials reads the files in which a cluster.yaml has the accounts of its BMCs. A relative
// path begins at the directory of the cluster.yaml.
func checkCredentials(file string, hosts []spec.Host) (findings spec.Findings) {
	seen := map[string]bool{}
	for i, h := range hosts {
		path := h.BMC.Credentials
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(filepath.Dir(file), path)
		}
		if seen[path] {
			continue
		}
		seen[path] = true
		found := spec.Finding{File: file, Severity: spec.Error,
			Path: fmt.Sprintf("spec.hosts[%d].bmc.credentials.file", i)}
		text, err := readFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			found.Text = fmt.Sprintf("there is no file %s: write username: and password: into it",
				path)
			findings = append(findings, found)
			continue
		case err != nil:
			found.Text = err.Error()
			findings = append(findings, found)
			continue
		}
		if info, err := os.Stat(path); err == nil && info.Mode().Perm()&0o077 != 0 {
			found.Severity = spec.Warning
			found.Text = fmt.Sprintf("others can read %s: run chmod 600 %[1]s", path)
			findings = append(findings, found)
		}
		_, wrong := grammar.ParseAccount(path, text)
		findings = append(findings, wrong...)
	}
	return findings
}
