package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

const bgpPasswords = "bgp-passwords"

// routerPasswords is the flag --bgp-passwords.
type routerPasswords struct{ file string }

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

// read is the text of the file, which has passwords for routers of the plan alone; nil without the
// flag. No error has a password.
func (r *routerPasswords) read(p plan.Plan) ([]byte, error) {
	if r.file == "" {
		return nil, nil
	}
	if p.BGP == nil {
		return nil, usage("--%s is for a cluster whose hosts announce VIPs: this one has no "+
			"vipManagement bgp or both", bgpPasswords)
	}
	text, err := readFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("--%s: there is no file %s: name one that exists", bgpPasswords, r.file)
	}
	if err != nil {
		return nil, err
	}
	if err := announcing.CheckPasswords(*p.BGP, string(text)); err != nil {
		return nil, negative(fmt.Errorf("%s: %w", r.file, err))
	}
	return append([]byte{}, text...), nil
}
