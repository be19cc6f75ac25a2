package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

const bgpPasswords = "bgp-passwords"

// routerPasswords is the flag --bgp-passwords.
type routerPasswords struct {
	file string
	tree string // the directory that is the host's /, whose own file counts without the flag
}

func bgpPasswordsFlag(cmd *cobra.Command, does string) *routerPasswords {
	r := &routerPasswords{}
	cmd.Flags().StringVar(&r.file, bgpPasswords, "", "file with the routers' BGP passwords: lines "+
		"of a router's address or interface, a blank and its password; "+does)
	return r
}

// files are the files that the flag names.
func (r *routerPasswords) files() []string {
	if r.file == "" {
		return nil
	}
	return []string{r.file}
}

// read returns the text of the flag's file, whose passwords are all for routers of the plan.
// Without the flag it is made of the description's passwords, or else the host's file; nil
// without any. No error has a password.
func (r *routerPasswords) read(
	std streams, in *input, p plan.Plan, described spec.Cluster,
) ([]byte, error) {
	from := r.file
	if own := announcing.PasswordsOf(described.Routing); from == "" && own != nil {
		return own, nil
	}
	by, announces := speaks.Of(p)
	switch {
	case from != "" && !announces:
		return nil, usage("--%s is for a cluster whose hosts announce VIPs: this one has no "+
			"vipManagement bgp or both", bgpPasswords)
	case from == "" && (r.tree == "" || !announces):
		return nil, nil
	case from == "":
		from = filepath.Join(r.tree, spoken.PasswordsFile)
	}
	text, err := readFile(from)
	if errors.Is(err, fs.ErrNotExist) && r.file == "" {
		return nil, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("--%s: there is no file %s: name one that exists", bgpPasswords, from)
	}
	if err != nil {
		return nil, err
	}
	if err := announcing.CheckPasswords(*by.BGP, string(text)); err != nil {
		return nil, negative(fmt.Errorf("%s: %w", from, err))
	}
	if err := r.checkMode(std, in); err != nil {
		return nil, err
	}
	return append([]byte{}, text...), nil
}

// checkMode warns of a file of the flag that others than its owner may read. A pipe has no mode.
func (r *routerPasswords) checkMode(std streams, in *input) error {
	info, err := os.Stat(r.file)
	if r.file == "" || err != nil || !info.Mode().IsRegular() || info.Mode().Perm()&0o077 == 0 {
		return nil
	}
	severity := spec.Warning
	if in.strict {
		severity = spec.Error
	}
	_ = printMessage(std.err, "%s: %s: --%s: others than its owner may use the file, of mode "+
		"%04o: run chmod 600 %[1]s\n", r.file, severity, bgpPasswords, info.Mode().Perm())
	if in.strict {
		return negative(nil)
	}
	return nil
}

// secrets are what the file has, by router; nil without one.
func (r *routerPasswords) secrets(
	std streams, in *input, p plan.Plan, described spec.Cluster,
) (map[string]secret.Text, error) {
	text, err := r.read(std, in, p, described)
	if err != nil || text == nil {
		return nil, err
	}
	return spoken.Passwords(string(text))
}

// openPasswords warns of passwords in a description, which many read.
func openPasswords(name string, described spec.Cluster) (all spec.Findings) {
	if len(described.Routing.Passwords) > 0 {
		all = append(all, spec.Finding{File: name, Severity: spec.Warning, Path: "bgpVIPConfig",
			Text: "it has passwords of routers, and a description is read by many: leave them " +
				"out, and name a file that its owner alone may read with --" + bgpPasswords})
	}
	return all
}
