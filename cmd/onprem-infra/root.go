package main

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/near"
)

// streams are where a verb reads and writes: results go to out, everything else to err.
type streams struct {
	in       io.Reader
	out, err io.Writer
}

// newRoot assembles the command line: one constructor a verb, one file a constructor.
func newRoot(std streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "onprem-infra",
		Short: "Virtual IPs, load balancer and DNS of a cluster without a cloud",
		Long: `onprem-infra gives a cluster on bare metal or in a private cloud what a cloud would:
virtual IPs for the API and for ingress, a load balancer in front of the API, and DNS for the
cluster's names. Hosts elect the holder of a virtual IP by VRRP, or announce it to their routers by
BGP, or both. The bootstrap machine holds the API's virtual IP until the control plane takes it
over, and may install bare hosts.

It reads an OpenShift install-config.yaml or its own cluster.yaml and writes what each host needs;
there the same binary runs.`,
		Example: `  onprem-infra example install-config > install-config.yaml
  onprem-infra validate -c install-config.yaml`,
		Version:       version(),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          cobra.ArbitraryArgs, // so that noVerb answers for an unknown one
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cmd.Help()
			}
			return noVerb(cmd, args)
		},
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.SetIn(std.in)
	root.SetOut(std.out)
	root.SetErr(std.err)
	root.AddCommand(diffCommand(std), exampleCommand(std), hostsCommand(std),
		ignitionCommand(std), manCommand(std), mcoCommand(std), monitoringCommand(std),
		planCommand(std), renderCommand(std), reportCommand(std), routersCommand(std),
		simulateCommand(std), validateCommand(std), versionCommand(std), vrIDsCommand(std))
	root.AddCommand(hostVerbs(std)...)
	root.SetHelpCommand(helpCommand())
	completionCommand(root)
	fitHelp(root)
	explainUsage(root)
	root.SetFlagErrorFunc(wrongFlag)
	markHostFailures(root)
	return root
}

// run executes one command line and returns the exit code: 0 done, 1 findings or a negative answer,
// 2 wrong usage, 3 the host or a daemon failed.
//
// It leaves signals alone, so that ^C ends a verb that waits for its input; a verb that holds
// something asks for them itself.
func run(ctx context.Context, args []string, std streams) int {
	root, own := newRoot(std), &cobraOutput{to: std.out}
	root.SetOut(own)
	root.SetArgs(args)
	cmd, err := root.ExecuteContextC(ctx)
	if own.failed != nil {
		err = exitError{code: exitHost, err: own.failed}
	}
	if err == nil {
		return 0
	}
	exit := exitError{code: exitUsage, err: err} // cobra's own errors are about flags and arguments
	errors.As(err, &exit)
	if exit.err != nil {
		_ = printMessage(std.err, "onprem-infra: %v\n", exit.err)
	}
	if exit.code == exitUsage {
		_ = printMessage(std.err, "See '%s --help'.\n", cmd.CommandPath())
	}
	return exit.code
}

// cobraOutput is what cobra itself prints: help and the version. cobra ignores an error there, or
// takes it for wrong usage.
type cobraOutput struct {
	to     io.Writer
	failed error
}

func (o *cobraOutput) Write(text []byte) (int, error) {
	n, err := o.to.Write(text)
	o.failed = cmp.Or(o.failed, err)
	return n, err
}

// group is a command that only holds others, such as "bootstrap run".
func group(use, short string, verbs ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.ArbitraryArgs, RunE: noVerb}
	cmd.AddCommand(verbs...)
	cmd.Example = examplesOf(cmd)
	needsVerb(cmd)
	return cmd
}

// examplesOf are the examples of everything that a group holds.
func examplesOf(group *cobra.Command) string {
	var examples []string
	for _, c := range group.Commands() {
		examples = append(examples, c.Example)
	}
	return strings.Join(examples, "\n")
}

// noVerb answers when a command that only holds others is called by itself or with a word that is
// none of them.
func noVerb(cmd *cobra.Command, args []string) error {
	var names []string
	for _, c := range cmd.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	if len(args) == 0 {
		return usage("%s needs one of: %s", cmd.CommandPath(), strings.Join(names, ", "))
	}
	if name := near.Word(args[0], names); name != "" {
		return usage("%s has no %q: is it %s that you mean?", cmd.CommandPath(), args[0], name)
	}
	return usage("%s has no %q; there are: %s", cmd.CommandPath(), args[0],
		strings.Join(names, ", "))
}

// helpCommand is cobra's own but for its answer to an unknown verb, which is wrong usage here.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "help [verb]",
		Short:   "Help about any verb",
		Example: `  onprem-infra help example cluster`,
		RunE: func(cmd *cobra.Command, args []string) error {
			target, rest, err := cmd.Root().Find(args)
			if err != nil || len(rest) > 0 {
				return noVerb(cmd.Root(), args)
			}
			return target.Help()
		},
	}
}
