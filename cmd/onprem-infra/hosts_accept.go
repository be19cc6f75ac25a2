package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/near"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

func acceptCommand(std streams, own files) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept CHECK[:HOST] --yes",
		Short: "Have hosts installed in spite of what the check before it found",
		Long: `accept lets the bootstrap machine begin in spite of one thing that its check of the
hosts and their network has found. Until all are fixed or accepted, DHCP stays off. Run the command
there, as root, with the name that status prints behind BLOCKED: ra-foreign, or bmc-tls:master-1 for
that host alone.

It has the check itself accepted: whatever else that check finds until DHCP is on is accepted too.
What is accepted stays in status as a warning until all hosts have joined, and onprem-provision
notes time and cause in its journal. If provisioning is taken back from the cluster, the check runs
anew, and nothing of it is accepted.

Exit code 0: it is accepted; 1: the check is over, or found no such thing; 2: --yes is missing;
3: this host is no bootstrap machine that works.`,
		Example: `  onprem-infra hosts accept ra-foreign --yes --why "the site's router, no prefix"
  onprem-infra status`,
		Args: cobra.ExactArgs(1),
	}
	yes := cmd.Flags().Bool("yes", false, "install hosts in spite of it")
	why := whyFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		a, err := own.acceptable(args[0])
		if err != nil {
			return err
		}
		if !*yes {
			return usage("hosts will be installed in spite of %s: add --yes", a.Check)
		}
		a.At, a.Why = time.Now().UTC(), cmp.Or(*why, "a person asked for it")
		if err := own.accept(a); err != nil {
			return fmt.Errorf("accept %s: %w", a.Check, err)
		}
		_, err = fmt.Fprintf(std.out, "%s: accepted: follow it with 'onprem-infra status'\n",
			a.Check)
		return err
	}
	return cmd
}

// acceptable is the acceptance of a check that blocks now, or why there is none.
func (f files) acceptable(check string) (a orders.Acceptance, err error) {
	if err := f.isBootstrap(); err != nil {
		return a, err
	}
	m, err := f.memory()
	if err != nil {
		return a, err
	}
	if m.Phase != progress.Preflight {
		return a, negativef("hosts are checked in the phase %q, and it is %q: see 'onprem-infra "+
			"status'", progress.Preflight, m.Phase)
	}
	if err := f.works(time.Now()); err != nil {
		return a, err
	}
	shown, err := f.run.ReadProgress()
	if err != nil {
		return a, err
	}
	var names []string
	for _, b := range shown.Blockers {
		if name := progress.Check(b); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	switch {
	case slices.Contains(names, check):
		return orders.Acceptance{Check: check, Of: m.Since}, nil
	case len(names) == 0:
		return a, negativef("no check blocks now: see 'onprem-infra status'")
	case near.Word(check, names) != "":
		return a, negativef("no check %q blocks: is it %s that you mean?", check,
			near.Word(check, names))
	}
	return a, negativef("no check %q blocks: %s does", check, strings.Join(names, ", "))
}

// accept adds to what a person has accepted already of the same preflight.
func (f files) accept(a orders.Acceptance) error {
	all, err := f.run.ReadAcceptances()
	if err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(o orders.Acceptance) bool {
		return o.Check == a.Check || !o.Of.Equal(a.Of)
	})
	return f.run.WriteAcceptances(append(all, a))
}
