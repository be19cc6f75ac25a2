//go:build remote

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/mco/described"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

const describeLong = `describe writes the host's cluster description and the file of its routers'
passwords out of the one file in which the Machine Config Operator has both. Templates of the
operator, as "mco --vip-management bgp" writes them, copy the operator's text of routers into that
file, which root alone may read. A description has no password and may be read by all. The passwords
go into a file of mode 0600, which is removed if no router has one. If the operator's text is wrong,
every finding is printed and nothing is written: the host goes on with what it has. On a node
onprem-describe.service runs it at each boot and when the operator's file changes.`

func describeCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "describe",
		Short: "Write the host's cluster description out of the Machine Config Operator's",
		Long:  describeLong,
		Example: `  onprem-infra describe
  onprem-infra describe --from operator.json --to cluster.json --passwords passwords
  journalctl -u onprem-describe`,
		Args: cobra.NoArgs,
	}
	var from, to, passwords string
	cmd.Flags().StringVar(&from, "from", described.Path, "the operator's file")
	cmd.Flags().StringVar(&to, "to", plan.Path, "where to write the cluster description")
	cmd.Flags().StringVar(&passwords, "passwords", spoken.PasswordsFile,
		"where to write the routers' passwords")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		names := slices.Sorted(slices.Values([]string{from, to, passwords}))
		if len(slices.Compact(names)) < 3 {
			return usage("--from, --to and --passwords are three files, and two of them are the " +
				"same: name another one")
		}
		text, err := readFile(from)
		if errors.Is(err, fs.ErrNotExist) {
			return noOperatorFile(from, cmd.Flags().Changed("from"))
		}
		if err != nil {
			return err
		}
		files, findings := described.Of(from, text)
		for _, f := range findings {
			_ = printMessage(std.err, "%v\n", f)
		}
		if findings.HasErrors() {
			return negative(nil)
		}
		// Passwords come first: a host with the description alone would be refused by its routers.
		if err := writeOrRemove(std, passwords, files.Passwords, 0o600); err != nil {
			return err
		}
		return writeOrRemove(std, to, files.Cluster, 0o644)
	}
	return cmd
}

// noOperatorFile is wrong usage only if the flag names the file.
func noOperatorFile(path string, named bool) error {
	if named {
		return usage("there is no file %s: name one that exists with --from", path)
	}
	return fmt.Errorf("this host has no %s, so no Machine Config Operator describes a cluster to "+
		"it: run the command on a host that has one, or name such a file with --from", path)
}

// writeOrRemove writes a file if its text differs, or removes it if the text is nil.
func writeOrRemove(std streams, path string, text []byte, mode fs.FileMode) error {
	if text == nil {
		return file.Remove(path)
	}
	changed, err := file.WriteIfChanged(path, text, mode)
	if changed {
		fmt.Fprintf(std.out, "wrote %s\n", path)
	}
	return err
}
