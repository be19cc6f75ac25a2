package main

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/speaks"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

const bgpPasswords = "bgp-passwords"

// routerPasswords is the flag --bgp-passwords.
type routerPasswords struct {
	file string
	tree string // the directory that is the host's /, whose own file counts without the flag
}

func bgpPasswordsFlag(cmd *cobra.Command) *routerPasswords {
	r := &routerPasswords{}
	cmd.Flags().StringVar(&r.file, bgpPasswords, "", "file with the routers' BGP passwords: lines "+
		"of a router's address or interface, a blank and its password; hosts get it with mode 0600")
	return r
}

// files are the files that the flag names.
func (r *routerPasswords) files() []string {
	if r.file == "" {
		return nil
	}
	return []string{r.file}
}

// read is the text of the file, which has passwords for routers of the plan alone. Without the flag
// it is made of those that the description has, else that of the host; nil without one. No error
// has a password.
func (r *routerPasswords) read(p plan.Plan, described spec.Cluster) ([]byte, error) {
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
	return append([]byte{}, text...), nil
}
