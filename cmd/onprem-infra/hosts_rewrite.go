package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/near"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

func rewriteCommand(std streams, own files) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "rewrite NAME --yes",
		Short: "Have the disk of a host written anew that is written, or may be",
		Long: `rewrite allows the bootstrap machine to write a host's disk once more. By itself it
never does: a disk that is written, or of which nothing shows that it is not, boots as it is, and a
host that does not join is blocked. Run the command there, as root, when the host's console shows
that it will not join. What is on the disk is lost.

The host is switched off, its disk chosen anew by the hints of today, and the host deployed within a
new time limit, after another inspection. onprem-provision begins within seconds, and notes time and
cause in its journal. What is allowed once is for one deployment. If that cannot begin, as while the
cluster's API does not list its nodes, the permission ends with the time of an installation.

It refuses a host whose node has joined the cluster, one whose disk is complete until the time for
joining is over, and one whose disk needs no permission. Exit code 0: it is allowed; 1: it is
refused; 2: --yes is missing; 3: this host is no bootstrap machine that works.`,
		Example: `  onprem-infra hosts rewrite master-1 --yes --why "no boot device"
  onprem-infra status`,
		Args: cobra.ExactArgs(1),
	}
	yes := cmd.Flags().Bool("yes", false, "lose what is on the disk")
	why := whyFlag(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		if err := own.isBootstrap(); err != nil {
			return err
		}
		p, err := own.plan(std)
		if err != nil {
			return err
		}
		name, err := deployed(p, args[0])
		if err != nil {
			return err
		}
		barred, err := own.barred(name)
		if err != nil {
			return err
		}
		if !*yes {
			return usage("what is on the disk of %s will be lost: add --yes", name)
		}
		if err := own.works(time.Now()); err != nil {
			return err
		}
		r := orders.Rewrite{Host: name, Barred: barred, At: time.Now().UTC(),
			Why: cmp.Or(*why, "a person asked for it")}
		if err := own.run.WriteRewrite(r); err != nil {
			return fmt.Errorf("allow the disk of %s to be written: %w", name, err)
		}
		_, err = fmt.Fprintf(std.out, "%s: its disk will be written anew: follow it with "+
			"'onprem-infra status'\n", name)
		return err
	}
	return cmd
}

// deployed is the name of a host that this machine deploys.
func deployed(p *provision.Plan, name string) (string, error) {
	var names []string
	for _, h := range p.Deployed() {
		names = append(names, h.Name)
	}
	if slices.Contains(names, name) {
		return name, nil
	}
	if meant := near.Word(name, names); meant != "" {
		return "", negativef("this machine deploys no host %q: is it %s that you mean?", name,
			meant)
	}
	return "", negativef("this machine deploys no host %q: it deploys %s", name,
		strings.Join(names, ", "))
}

// barred is since when the disk of a host may not be written, by the journal, or why no person can
// allow it.
func (f files) barred(name string) (since time.Time, err error) {
	m, err := f.memory()
	if err != nil {
		return since, err
	}
	switch known := m.Hosts[name]; {
	case !known.Joined.IsZero():
		return since, negativef("%s joined the cluster at %s, and the disk of a node is never "+
			"written from here: remove the node from the cluster, and install the host with the "+
			"cluster's own means", name, known.Joined.Format(time.RFC3339))
	case m.Phase != progress.Deploy:
		return since, negativef("hosts are deployed in the phase %q, and it is %q: see "+
			"'onprem-infra status'", progress.Deploy, m.Phase)
	case !known.Never():
		return since, negativef("the disk of %s counts as not written, so it is written without "+
			"a person's permission: see 'onprem-infra status'", name)
	case !known.MayBeGivenUp():
		return since, negativef("the disk of %s is complete, and the host may join the cluster "+
			"yet: wait until it does, or is blocked: see 'onprem-infra status'", name)
	default:
		return known.Barred(), nil
	}
}

// works is an error unless the phase machine reports.
func (f files) works(now time.Time) error {
	p, err := f.run.ReadProgress()
	if err == nil && now.Sub(p.At) >= progress.Late {
		err = fmt.Errorf("it last reported %s ago", progress.Short(now.Sub(p.At)))
	}
	if err != nil {
		return fmt.Errorf("onprem-provision does not run, and it would do it: see "+
			"'systemctl status onprem-provision': %w", err)
	}
	return nil
}
