//go:build remote

package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// vipVerbs act on the VIPs that this host holds.
func vipVerbs(std streams) *cobra.Command {
	return group("vip", "Act on the VIPs that this host holds", leaveCommand(std))
}

func leaveCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "leave",
		Short: "Give this host's VIPs up in order, and not take them back",
		Long: `leave asks keepalived's supervisor to give the VIPs up while this host still serves: it sinks below every other one, waits until one of them
has been heard that has taken over, and only then stops. It gives nothing back until leave --undo, or a reboot. Where no keepalived runs there is
nothing to do. onprem-vip-leave.service calls it when the host goes down, before anything else stops.`,
		Example: `  onprem-infra vip leave
  onprem-infra vip leave --timeout 20s
  onprem-infra vip leave --undo`,
		Args: cobra.NoArgs,
	}
	dir := cmd.Flags().String("run-dir", election.RunDir, "where the supervisor's files are")
	bound := cmd.Flags().Duration("timeout", 10*time.Second, "how long to wait until the VIPs have been given up; the request stays")
	undo := cmd.Flags().Bool("undo", false, "take the request back")
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

// leave asks, and waits for the supervisor's answer.
func leave(ctx context.Context, std streams, dir string, bound time.Duration) error {
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(std.out, "no keepalived has run here: %s is not there\n", dir)
		return nil
	}
	if err := ask(filepath.Join(dir, supervised.LeaveFile)); err != nil {
		return fmt.Errorf("ask for the VIPs to be given up: %w", err)
	}
	begin, held := time.Now(), []string(nil)
	waiting, stop := context.WithCancel(ctx)
	defer stop()
	wake, watched := make(chan struct{}, 1), make(chan error, 1)
	go func() { watched <- file.Watch(waiting, []string{filepath.Join(dir, supervised.StatusFile)}, wake) }()
	for {
		status, err := readStatus(filepath.Join(dir, supervised.StatusFile))
		if err != nil {
			return err
		}
		if held == nil {
			held = masters(status)
		}
		if status.Leaving == supervised.Left || status.PID == 0 && status.Leaving == supervised.Stays {
			fmt.Fprintf(std.out, "%s after %s\n", given(held), time.Since(begin).Round(time.Millisecond))
			return nil
		}
		select {
		case <-wake:
		case err := <-watched:
			if ctx.Err() == nil {
				return fmt.Errorf("wait for the supervisor: %w", err)
			}
			return fmt.Errorf("the VIPs were not given up within %s: keepalived's supervisor has not said so in %s; it is asked to go on", bound, dir)
		}
	}
}

// ask makes a request, but leaves one that is there to whoever made it.
func ask(path string) error {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

func stay(std streams, dir string) error {
	err := os.Remove(filepath.Join(dir, supervised.LeaveFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("take the request back: %w", err)
	}
	fmt.Fprintln(std.out, "this host may hold VIPs")
	return nil
}

// readStatus reads nothing where nothing is.
func readStatus(path string) (supervised.Status, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return supervised.Status{}, nil
	}
	if err != nil {
		return supervised.Status{}, err
	}
	return supervised.Decode(text)
}

// masters are the instances that hold their VIP, sorted.
func masters(s supervised.Status) []string {
	held := []string{}
	for name, i := range s.Instances {
		if i.State == supervised.Master {
			held = append(held, name)
		}
	}
	slices.Sort(held)
	return held
}

func given(held []string) string {
	if len(held) == 0 {
		return "no VIP was held here; keepalived has stopped"
	}
	return strings.Join(held, ", ") + " given up"
}
