//go:build remote

package main

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// routerSecrets is doctor's flag for the passwords of routers.
type routerSecrets struct{ file string }

func (r *routerSecrets) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&r.file, "bgp-passwords", "", "file with the routers' BGP passwords, "+
		"for a plain host: lines of a router's address, a blank and its password")
}

// read is what the file has; nil without the flag. No error has a password.
func (r *routerSecrets) read(p plan.Plan) (map[string]secret.Text, error) {
	if r.file == "" {
		return nil, nil
	}
	if p.BGP == nil {
		return nil, usage("--bgp-passwords is for a cluster whose hosts announce VIPs: this one " +
			"has no vipManagement bgp or both")
	}
	text, err := readFile(r.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, usage("--bgp-passwords: there is no file %s: name one that exists", r.file)
	}
	if err != nil {
		return nil, err
	}
	all, err := spoken.Passwords(string(text))
	if err != nil {
		return nil, negative(fmt.Errorf("%s: %w", r.file, err))
	}
	return all, nil
}
