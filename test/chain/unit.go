package chain

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Unit is the service that holds the VIP.
const Unit = "onprem-keepalived.service"

// StopVIP stops the unit and returns how long after the order the kernel still had the VIP.
func (c *Chain) StopVIP(ctx context.Context) (gone time.Duration, err error) {
	events, stop, err := c.Bootstrap.Watch(APIVIP)
	if err != nil {
		return 0, err
	}
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	start := time.Now()
	if _, err := c.VM.Run(ctx, "systemctl", "stop", Unit); err != nil {
		return 0, err
	}
	for {
		select {
		case e := <-events:
			if !e.Added {
				return e.At.Sub(start), nil
			}
		case <-ctx.Done():
			return 0, errors.New("the VIP stays after the unit has stopped")
		}
	}
}

// StartVIP starts the unit and returns the time from its ExecStart to the kernel's word that the
// VIP is there.
func (c *Chain) StartVIP(ctx context.Context) (up time.Duration, err error) {
	events, stop, err := c.Bootstrap.Watch(APIVIP)
	if err != nil {
		return 0, err
	}
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if _, err := c.VM.Run(ctx, "systemctl", "start", "--no-block", Unit); err != nil {
		return 0, err
	}
	for {
		select {
		case e := <-events:
			if !e.Added {
				continue
			}
			start, err := c.ExecStart(ctx)
			return e.At.Sub(start), err
		case <-ctx.Done():
			return 0, errors.New("the VIP does not come after the unit has started")
		}
	}
}

// ExecStart is when systemd last executed the unit's program.
func (c *Chain) ExecStart(ctx context.Context) (time.Time, error) {
	out, err := c.VM.Run(ctx, "systemctl", "show", "--property=ExecMainStartTimestamp", "--value", "--timestamp=us+utc", Unit)
	if err != nil {
		return time.Time{}, err
	}
	return time.Parse("Mon 2006-01-02 15:04:05.000000 MST", strings.TrimSpace(out))
}

// Peers are the unicast peers of keepalived's configuration in force; none means multicast.
func (c *Chain) Peers(ctx context.Context) ([]string, error) {
	conf, err := c.VM.Run(ctx, "cat", "/etc/keepalived/keepalived.conf")
	if err != nil {
		return nil, fmt.Errorf("read keepalived.conf: %w", err)
	}
	_, block, _ := strings.Cut(conf, "unicast_peer {")
	block, _, _ = strings.Cut(block, "}")
	var peers []string
	for line := range strings.Lines(block) {
		if words := strings.Fields(line); len(words) > 0 { // after the address it says how near the peer is
			peers = append(peers, words[0])
		}
	}
	return peers, nil
}
