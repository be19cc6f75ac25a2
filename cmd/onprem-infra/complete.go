package main

import "github.com/spf13/cobra"

// completes makes the shell offer the values that a flag takes, and no names of files beside them.
func completes[W ~string](cmd *cobra.Command, flag string, values []W) {
	list := make([]cobra.Completion, len(values))
	for i, v := range values {
		list[i] = string(v)
	}
	// The only errors are that the verb has no such flag, which its help then lacks too, or has
	// two completions for it.
	_ = cmd.RegisterFlagCompletionFunc(flag,
		cobra.FixedCompletions(list, cobra.ShellCompDirectiveNoFileComp))
}

// shellExamples show how a shell loads what "completion" writes for it.
func shellExamples() map[string]string {
	return map[string]string{
		"bash":       "  source <(onprem-infra completion bash)",
		"fish":       "  onprem-infra completion fish | source",
		"powershell": "  onprem-infra completion powershell | Out-String | Invoke-Expression",
		"zsh":        "  source <(onprem-infra completion zsh)",
	}
}

// completionCommand is cobra's own, with examples, and with our answer to an unknown shell.
func completionCommand(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		for _, shell := range c.Commands() {
			shell.Example = shellExamples()[shell.Name()]
		}
		c.Args, c.RunE, c.Example = cobra.ArbitraryArgs, noVerb, examplesOf(c)
		needsVerb(c)
	}
}
