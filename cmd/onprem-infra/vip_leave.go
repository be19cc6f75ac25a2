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

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
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
one that took over, and only then stops. FRR's parent leads the host's routers to other hosts,
withdraws the VIPs and removes them. The request stays until leave --undo, or a reboot. If neither
runs, there is nothing to do. onprem-vip-leave.service calls it when the host goes down, before
anything else stops.`,
		Example: `  onprem-infra vip leave
  onprem-infra vip leave --timeout 20s
  onprem-infra vip leave --undo`,
		Args: cobra.NoArgs,
	}
	dir := cmd.Flags().String("run-dir", supervised.RunDir, "where the supervisor's files are")
	speaker := cmd.Flags().String("speaker-dir", spoken.RunDir, "where those of FRR's parent are")
	bound := cmd.Flags().Duration("timeout", 10*time.Second,
		"how long to wait until the VIPs are released; the request stays")
	undo := cmd.Flags().Bool("undo", false, "withdraw the request")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if *undo {
			return stay(std, *dir, *speaker)
		}
		ctx, cancel := context.WithTimeout(cmd.Context(), *bound)
		defer cancel()
		return leave(ctx, std, leaving{*dir, *speaker, *bound})
	}
	return cmd
}

// leaving is where the files are by which a host releases its VIPs, and how long that may take.
type leaving struct {
	keepalived, speaker string
	bound               time.Duration
}

// leave requests that the VIPs are released by all that hold or announce them, and waits for it.
func leave(ctx context.Context, std streams, l leaving) error {
	routed := make(chan error, 1)
	speaks, err := file.Exists(l.speaker)
	if err != nil {
		return err
	}
	begin := time.Now()
	var text string
	go func() {
		var err error
		if speaks {
			text, err = l.routers(ctx)
		}
		routed <- err
	}()
	err = l.leaveVRRP(ctx, std, speaks)
	err = errors.Join(err, <-routed)
	if text != "" {
		fmt.Fprintf(std.out, "%s after %s\n", text, time.Since(begin).Round(time.Millisecond))
	}
	return err
}

// routers has FRR's parent leave the host's routers, and names the VIPs that these had.
func (l leaving) routers(ctx context.Context) (text string, err error) {
	run := speakdir.Dir(l.speaker)
	if err := run.Leave(true); err != nil {
		return "", fmt.Errorf("request that the host leaves its routers: %w", err)
	}
	before, err := run.AwaitLeft(ctx)
	if err != nil && ctx.Err() != nil {
		return "", fmt.Errorf("the host has not left its routers within %s: FRR's parent has not "+
			"reported that in %s; the request stays", l.bound, l.speaker)
	}
	if err != nil {
		return "", err
	}
	var had []string
	for _, v := range before.VIPs {
		if v.Phase == speak.Announced || v.Phase == speak.Demoted {
			had = append(had, v.VIP.String())
		}
	}
	if len(had) == 0 {
		return "no VIP was announced here", nil
	}
	return strings.Join(had, ", ") + " withdrawn", nil
}

// leaveVRRP has keepalived's supervisor release what it holds. Beside a speaker there may be none.
func (l leaving) leaveVRRP(ctx context.Context, std streams, speaks bool) error {
	dir, bound := l.keepalived, l.bound
	run, begin := rundir.Dir(dir), time.Now()
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if !speaks {
			fmt.Fprintf(std.out, "no keepalived has run here: %s is not there\n", dir)
		}
		return nil
	}
	if there, err := file.Exists(run.StatusFile()); speaks && err == nil && !there {
		return nil
	}
	if err := run.RequestLeave(); err != nil {
		return fmt.Errorf("request the release of the VIPs: %w", err)
	}
	before, err := run.AwaitLeft(ctx)
	if err != nil && ctx.Err() != nil {
		return fmt.Errorf("the VIPs were not released within %s: keepalived's supervisor has not "+
			"reported that in %s; the request stays", bound, dir)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(std.out, "%s after %s\n", released(before),
		time.Since(begin).Round(time.Millisecond))
	return nil
}

func stay(std streams, dir, speaker string) error {
	if err := errors.Join(rundir.Dir(dir).WithdrawLeave(),
		speakdir.Dir(speaker).Leave(false)); err != nil {
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
	return strings.Join(held, ", ") + " released"
}
