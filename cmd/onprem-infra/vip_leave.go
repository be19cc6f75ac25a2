//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// vipVerbs act on the VIPs that this host holds.
func vipVerbs(std streams) *cobra.Command {
	return group("vip", "Act on the VIPs that this host holds", leaveCommand(std))
}

func leaveCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Release this host's VIPs in order, and do not take them over again",
		Long: `leave asks keepalived's supervisor to hand the VIPs over while this host still
serves: the supervisor demotes this host below every other one, waits until it receives an advert of
one that took over, and only then stops. The request stays until leave --undo, or a reboot. If no
keepalived runs, there is nothing to do. onprem-vip-leave.service calls it when the host goes down,
before anything else stops.`,
		Example: `  onprem-infra vip leave
  onprem-infra vip leave --timeout 20s
  onprem-infra vip leave --undo`,
		Args: cobra.NoArgs,
	}
	dir := cmd.Flags().String("run-dir", supervised.RunDir, "where the supervisor's files are")
	bound := cmd.Flags().Duration("timeout", 10*time.Second,
		"how long to wait until the VIPs are released; the request stays")
	undo := cmd.Flags().Bool("undo", false, "withdraw the request")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *undo {
			return stay(std, *dir)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), *bound)
		defer cancel()
		return leave(ctx, std, *dir, *bound)
	}
	return cmd
}

// leave requests that the VIPs are released, and waits for it.
func leave(ctx context.Context, std streams, dir string, bound time.Duration) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(std.out, "no keepalived has run here: %s is not there\n", dir)
		return nil
	}
	run, begin := rundir.Dir(dir), time.Now()
	if err := run.RequestLeave(); err != nil {
		return fmt.Errorf("request the release of the VIPs: %w", err)
	}
	before, err := run.AwaitLeft(ctx)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("the VIPs were not given up within %s: keepalived's supervisor has not "+
			"reported that in %s; the request stays", bound, dir)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%s after %s\n", released(before),
		time.Since(begin).Round(time.Millisecond))
	return nil
}

func stay(std streams, dir string) error {
	if err := rundir.Dir(dir).WithdrawLeave(); err != nil {
		return fmt.Errorf("withdraw the request: %w", err)
	}
	fmt.Fprintln(std.out, "this host may hold VIPs")
	return nil
}

// released names the VIPs that a host held.
func released(s supervised.Status) string {
	var held []string
	for name, i := range s.Instances {
		if i.State == supervised.Master {
			held = append(held, name)
		}
	}
	if len(held) == 0 {
		return "no VIP was held here; keepalived has stopped"
	}
	slices.Sort(held)
	return strings.Join(held, ", ") + " given up"
}
