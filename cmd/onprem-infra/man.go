package main

import (
	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/operator/manual"
)

func manCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "man --out DIR",
		Short: "Write the manual pages of all verbs",
		Long: `man writes a manual page of section 1 for each verb below a directory, with the text
of --help.`,
		Example: `  onprem-infra man --out /usr/local/share/man/man1
  man onprem-infra-doctor`,
		Args: cobra.NoArgs,
	}
	w := writingFlags(cmd, std, "directory to write into, made when it is not there")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if err := w.directory(); err != nil {
			return err
		}
		return w.tree(manual.Pages(cmd.Root()), nil, manual.IsPage)
	}
	return cmd
}
