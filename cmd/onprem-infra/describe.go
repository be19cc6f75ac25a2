//go:build remote

package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/mco/described"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/output"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

const describeLong = `describe writes the host's cluster description and the file of its routers'
passwords out of the one file in which the Machine Config Operator has both. Templates of the
operator, as "mco --vip-management bgp" writes them, copy the operator's text of routers into that
file, which root alone may read. A description has no password and may be read by all. The passwords
go into a file of mode 0600, which is removed if no router has one. If the operator's text is wrong,
every finding is printed and nothing is written: the host goes on with what it has. On a node
onprem-describe.service runs it at each boot and when the operator's file changes.

The files at a host's own paths are replaced whatever is in them. Elsewhere only a description, a
file of passwords or an empty file is, unless --force is given.`

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
	d := describing{std: std}
	cmd.Flags().StringVar(&d.from, "from", described.Path, "the operator's file")
	cmd.Flags().StringVar(&d.to, "to", plan.Path, "where to write the cluster description")
	cmd.Flags().StringVar(&d.passwords, "passwords", spoken.PasswordsFile,
		"where to write the routers' passwords")
	cmd.Flags().BoolVar(&d.force, "force", false,
		"write over files that onprem-infra has not written, or remove them")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if one(d.from, d.to) || one(d.from, d.passwords) || one(d.to, d.passwords) {
			return usage("--from, --to and --passwords are three files, and two of them are the " +
				"same: name another one")
		}
		text, err := readFile(d.from)
		if errors.Is(err, fs.ErrNotExist) {
			return noOperatorFile(d.from, cmd.Flags().Changed("from"))
		}
		if err != nil {
			return err
		}
		return d.describe(text)
	}
	return cmd
}

// describing is a run of the verb.
type describing struct {
	std                 streams
	from, to, passwords string
	force               bool
}

// describe writes the files of a host out of the operator's text.
func (d describing) describe(text []byte) error {
	files, findings := described.Of(d.from, text)
	for _, f := range findings {
		_ = printMessage(d.std.err, "%v\n", f)
	}
	if findings.HasErrors() {
		return negative(nil)
	}
	// A host's own paths are ours: a file there that is broken must not stay.
	to := output.Place{Path: d.to, Force: d.force || d.to == plan.Path}
	passwords := output.Place{Path: d.passwords,
		Force: d.force || d.passwords == spoken.PasswordsFile}
	wrong := to.Check(isDescription)
	if _, err := os.Stat(d.passwords); files.Passwords != nil || err == nil {
		wrong = cmp.Or(passwords.Check(arePasswords), wrong)
	}
	if wrong != nil {
		return refused(wrong)
	}
	// Passwords come first: a host with the description alone would be refused by its routers.
	if err := d.writeOrRemove(passwords, files.Passwords, 0o600); err != nil {
		return err
	}
	return d.writeOrRemove(to, files.Cluster, 0o644)
}

// one reports whether two names are of one file, which may have several or not exist yet.
func one(a, b string) bool {
	first, errFirst := os.Stat(a)
	second, errSecond := os.Stat(b)
	if errFirst == nil && errSecond == nil {
		return os.SameFile(first, second)
	}
	return filepath.Clean(a) == filepath.Clean(b)
}

// isDescription reports whether a text is a cluster's description.
func isDescription(text []byte) bool {
	_, err := plan.Parse("", text)
	return err == nil
}

// arePasswords reports whether a text has routers' passwords, as this verb writes them.
func arePasswords(text []byte) bool {
	all, err := spoken.Passwords(string(text))
	for name := range all {
		_, wrong := netip.ParseAddr(name)
		err = cmp.Or(err, wrong)
	}
	return err == nil && len(all) > 0
}

// noOperatorFile is wrong usage only if the flag names the file.
func noOperatorFile(path string, named bool) error {
	if named {
		return usage("there is no file %s: name one that exists with --from", path)
	}
	return fmt.Errorf("this host has no %s, so no Machine Config Operator describes a cluster to "+
		"it: run the command on a host that has one, or name such a file with --from", path)
}

// writeOrRemove writes a file if its text or its mode differs, or removes it if the text is nil. A
// device or a pipe is written into, and never removed.
func (d describing) writeOrRemove(place output.Place, text []byte, mode fs.FileMode) error {
	info, err := os.Stat(place.Path)
	switch {
	case err == nil && !info.Mode().IsRegular():
		_, err := place.Document(text, nil)
		return err
	case text == nil:
		return file.Remove(place.Path)
	}
	changed, err := file.WriteIfChanged(place.Path, text, mode)
	if changed {
		fmt.Fprintf(d.std.out, "wrote %s\n", place.Path)
	}
	return err
}
