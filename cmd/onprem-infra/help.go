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
		fmt.Sprintf("{{if and .Runnable (not (index .Annotations %q))}}", onlyHolds),
	).Replace(cmd.UsageTemplate()))
	needsVerb(cmd)
	fitTexts(cmd)
}

// onlyHolds is the annotation of a command that only holds others.
const onlyHolds = "only holds others"

// needsVerb omits the usage line of a command without a verb, as the command needs one.
func needsVerb(cmd *cobra.Command) { cmd.Annotations = map[string]string{onlyHolds: "yes"} }

func fitTexts(cmd *cobra.Command) {
	cmd.Long = width().Fill(cmd.Long)
	for _, c := range cmd.Commands() {
		fitTexts(c)
	}
}
