package main

import (
	"errors"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/onprem-infra/onprem-infra/shared/near"
)

// explainUsage has each verb name what is wrong with its command line, and what is right.
func explainUsage(cmd *cobra.Command) {
	if takes := cmd.Args; takes != nil {
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if takes(cmd, args) == nil {
				return nil
			}
			return wrongWords(cmd, args)
		}
	}
	for _, c := range cmd.Commands() {
		explainUsage(c)
	}
}

// wrongWords is what is wrong with the words after a verb. Its usage line names the right ones.
func wrongWords(cmd *cobra.Command, args []string) error {
	var takes []string
	rest := strings.Fields(cmd.Use)[1:]
	for i, word := range rest {
		value := i > 0 && strings.HasPrefix(strings.TrimPrefix(rest[i-1], "["), "-") // of a flag
		if !value && !strings.Contains(word, "-") {
			takes = append(takes, word)
		}
	}
	path := cmd.CommandPath()
	switch {
	case len(args) < len(takes):
		return usage("%s is missing: write %s %s", takes[len(args)], path, strings.Join(takes, " "))
	case cmd.Flags().Lookup("cluster") != nil && !cmd.Flags().Changed("cluster"):
		return usage("%s does not take %q: where it is a file, write -c %s", path, args[len(takes)],
			args[len(takes)])
	}
	return usage("%s does not take %q: leave it out", path, args[len(takes)])
}

// wrongFlag names the flag that is nearest to one that a verb does not have.
func wrongFlag(cmd *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) || unknown.GetSpecifiedShortnames() != "" {
		return err
	}
	var names []string
	cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if name := near.Word(unknown.GetSpecifiedName(), names); name != "" {
		return usage("%w: is it --%s that you mean?", err, name)
	}
	return err
}
