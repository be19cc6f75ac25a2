package main

import (
	"context"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/life"
)

// show runs the scenes in their order.
type show struct {
	ctx      context.Context
	cluster  *life.Life
	observer *lab.Observer
	crowd    *life.Crowd
	scene    int
	spent    []spent

	rows     [][]string // of the report
	pictures []timeline.Timeline
}

func (s *show) run() error {
	for _, scene := range []struct {
		title string
		f     func(ctx context.Context) ([]string, error)
	}{
		{"Build the programs, the disks and the images", s.build},
		{"Switch the bootstrap machine on: its API server starts, keepalived takes the VIP", s.boot},
		{"The neighbour asks the machine's name server", s.resolve},
		{"Three control plane nodes join", s.join},
		{"Clients come: a new connection every 10 ms, and fifty watches", s.attend},
		{"The bootstrap machine's API server is shut down in order: the VIP is handed over while it serves", s.handOver},
		{"The node that holds the VIP is rebooted in order", s.reboot},
		{"The node that holds the VIP loses its power", s.cutPower},
		{"What an observer outside of all machines saw, every 10 ms", s.timeline},
		{"What was measured, beside what the plan had computed", s.report},
		{"A bare machine is installed: a bootstrap machine with Ironic, DHCP and HTTP, and an empty disk", s.install},
	} {
		if err := s.do(scene.title, scene.f); err != nil {
			return err
		}
	}
	return nil
}

// do runs one scene. f returns what was seen, a line each.
func (s *show) do(title string, f func(ctx context.Context) (saw []string, err error)) error {
	s.scene++
	fmt.Printf("%2d. %s\n", s.scene, title)
	start := time.Now()
	saw, err := f(s.ctx)
	defer s.took(fmt.Sprintf("%2d. %s", s.scene, title), start)
	for _, line := range saw {
		fmt.Printf("      %s\n", line)
	}
	if err != nil {
		fmt.Printf("    FAILED after %s\n", round(time.Since(start)))
		return fmt.Errorf("scene %d (%s): %w", s.scene, title, err)
	}
	fmt.Printf("    %s\n", round(time.Since(start)))
	return nil
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}
