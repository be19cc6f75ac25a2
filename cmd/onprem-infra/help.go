package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// fitHelp has every verb's help fit a terminal. Texts are written in lines of any length; what is
// indented there, such as a table, stays as it is.
func fitHelp(cmd *cobra.Command) {
	cmd.SetUsageTemplate(strings.NewReplacer(
		"FlagUsages",
		fmt.Sprintf("FlagUsagesWrapped %d", columns()),
		"{{if .Runnable}}",
		"{{if and .Runnable (not .HasAvailableSubCommands)}}", // a group needs one of its verbs
	).Replace(cmd.UsageTemplate()))
	fitTexts(cmd)
}

func fitTexts(cmd *cobra.Command) {
	cmd.Long = width().Fill(cmd.Long)
	for _, c := range cmd.Commands() {
		fitTexts(c)
	}
}
