//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/lateness"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/timingproof"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// timingProof is the flag --timing-proof.
type timingProof struct{ during time.Duration }

const timingProofFlag = "timing-proof"

func (p *timingProof) register(cmd *cobra.Command) {
	cmd.Flags().DurationVar(&p.during, timingProofFlag, 0,
		"only measure for this long, such as 1m, whether this host and its network are in time "+
			"for timing fast")
	cmd.Flags().Lookup(timingProofFlag).NoOptDefVal = timingproof.Least.String()
	// A flag that may stand alone takes no value after a space: pflag has that for an argument.
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed(timingProofFlag) && p.during == timingproof.Least && len(args) == 1 {
			return cmd.Flags().Set(timingProofFlag, args[0])
		}
		return cobra.NoArgs(cmd, args)
	}
}

// check refuses a time in which nothing can be measured, and flags that would be ignored.
func (p *timingProof) check(cmd *cobra.Command) error {
	if !cmd.Flags().Changed(timingProofFlag) {
		return nil
	}
	if p.during <= 0 {
		return usage("--%s %v is no time to measure in: write one such as 1m", timingProofFlag,
			p.during)
	}
	for _, other := range []string{"peer", "joins", bgpPasswords, "provisioning"} {
		if cmd.Flags().Changed(other) {
			return usage("--%s only measures how late things are: leave --%s out",
				timingProofFlag, other)
		}
	}
	return nil
}

// proveTiming measures how late this host and its network are, and prints it.
func proveTiming(
	ctx context.Context, std streams, p plan.Plan, how printing, during time.Duration,
) error {
	progress := startProgress(std, how.quiet, fmt.Sprintf("measuring for %v", during))
	proof, err := measureTiming(ctx, p, during)
	progress.Done()
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return errors.New("it was stopped before the time was over")
	}
	return printProof(std, proof, how.format)
}

// printProof prints a proof. The exit code is 1 if the timing is not for this host.
func printProof(std streams, proof timingproof.Proof, format string) error {
	fast, _ := vrrp.TimingOf(vrrp.ProfileFast)
	faults := proof.Faults(fast)
	text := proofText(proof, fast, faults)
	if format == "json" {
		encoded, err := proof.Encode(fast)
		if err != nil {
			return err
		}
		text = fmt.Sprintf("%s\n", encoded)
	}
	if _, err := fmt.Fprint(std.out, text); err != nil {
		return err
	}
	if len(faults) > 0 {
		return negativef("timing %s is not for this host: %s", vrrp.ProfileFast,
			strings.Join(faults, "; "))
	}
	return nil
}

// measureTiming measures how late a real-time thread and other hosts' adverts are, for a time.
func measureTiming(
	ctx context.Context, p plan.Plan, during time.Duration,
) (timingproof.Proof, error) {
	name, err := os.Hostname()
	if err != nil {
		return timingproof.Proof{}, fmt.Errorf("read the host's name: %w", err)
	}
	links, err := vipLinks(p)
	if err != nil {
		return timingproof.Proof{}, err
	}
	proof := timingproof.Proof{Host: name, At: time.Now().UTC().Truncate(time.Second),
		Lasted: during}
	ctx, cancel := context.WithTimeout(ctx, during)
	defer cancel()
	var measuring sync.WaitGroup
	var threadErr, advertErr error
	measuring.Go(func() { proof.Thread, proof.RealTime, threadErr = lateness.Thread(ctx) })
	measuring.Go(func() { proof.Senders, advertErr = lateness.Adverts(ctx, links, routerIDs(p)) })
	measuring.Wait()
	return proof, errors.Join(threadErr, advertErr)
}

// vipLinks are the links of this host on which it would hold the VIPs.
func vipLinks(p plan.Plan) (links []string, err error) {
	here, err := link.Snapshot()
	if err != nil {
		return nil, err
	}
	var why []string
	var chooser election.Chooser
	for _, e := range election.Of(p) {
		for _, v := range e.VIPs {
			on, err := chooser.Choose(e, v, election.Observation{At: time.Now(), Links: here})
			if err != nil {
				why = append(why, fmt.Sprintf("%s: %v", v.Address, err))
			} else if !slices.Contains(links, on.Link) {
				links = append(links, on.Link)
			}
		}
	}
	if len(links) == 0 {
		return nil, fmt.Errorf("no link of this host is one of a VIP: %s",
			strings.Join(why, "; "))
	}
	return links, nil
}

// routerIDs are the cluster's virtual router IDs.
func routerIDs(p plan.Plan) (ids []int) {
	for _, id := range election.IDs(p) {
		ids = append(ids, int(id))
	}
	return ids
}

// proofText is a proof for people, with the line for a cluster.yaml if it allows a timing.
func proofText(p timingproof.Proof, t vrrp.Timing, faults []string) string {
	var out strings.Builder
	late := func(what string, l timingproof.Lateness) {
		fmt.Fprintf(&out, "%s: %v at worst, %v in 999 of 1,000 (%d times)\n", what,
			l.Most.Round(time.Microsecond), l.P999.Round(time.Microsecond), l.Times)
	}
	fmt.Fprintf(&out, "%s, measured for %v\n", p.Host, p.Lasted)
	late("a real-time thread was late", p.Thread)
	for _, s := range p.Senders {
		late(fmt.Sprintf("adverts of %s (router %d, every %v) were late", s.Address, s.Router,
			s.Interval), s.Late)
	}
	fmt.Fprintf(&out, "timing %s bears %v, of which a quarter may be used\n", t.Profile,
		timingproof.Bears(t).Round(time.Millisecond))
	if len(faults) == 0 {
		fmt.Fprintf(&out, "write in cluster.yaml, in microseconds, or give it as --proven:\n"+
			"  timingProof:\n    %s: %d\n", p.Host, max(p.Worst().Microseconds(), 1))
	}
	return out.String()
}
