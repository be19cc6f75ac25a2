package main

import (
	"context"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// show plays the scenes in their order.
type show struct {
	ctx      context.Context
	chain    *chain.Chain
	observer *lab.Observer
	scene    int
}

func round(d time.Duration) time.Duration {
	if d > 10*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// do plays one scene. f returns what was seen, a line each.
func (s *show) do(title string, f func(ctx context.Context) (saw []string, err error)) error {
	s.scene++
	fmt.Printf("%2d. %s\n", s.scene, title)
	start := time.Now()
	saw, err := f(s.ctx)
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

func (s *show) play() error {
	for _, scene := range []struct {
		title string
		f     func(ctx context.Context) ([]string, error)
	}{
		{"Build onprem-infra, and the fake API server", func(ctx context.Context) ([]string, error) { return nil, s.chain.Build(ctx) }},
		{"onprem-infra turns its example install-config into an Ignition document", s.compile},
		{"Make three images without a registry, put them into the machine's storage", s.images},
		{"Switch the machine on: systemd boots what Ignition wrote", s.boot},
		{"onprem-install.service takes our programs out of our image, the daemons start", s.daemons},
		{"The neighbour asks through the VIP", s.serve},
		{"The neighbour asks the machine's name server", s.resolve},
		{"Two masters join: their Nodes appear, then their keepalived starts", s.join},
		{"systemctl stop onprem-keepalived: the VIP leaves at once, a master takes over", s.stop},
		{"systemctl start onprem-keepalived: the bootstrap machine outranks them again", s.start},
		{"What an observer outside of all machines saw, every 10 ms", s.timeline},
	} {
		if err := s.do(scene.title, scene.f); err != nil {
			return err
		}
	}
	return nil
}

func (s *show) compile(ctx context.Context) ([]string, error) {
	document, took, err := s.chain.Compile(ctx, "ipv4")
	if err != nil {
		return nil, err
	}
	saw := []string{fmt.Sprintf("%d bytes in %s", len(document), round(took))}
	validate := exec.CommandContext(ctx, "ignition-validate", "-")
	validate.Stdin = strings.NewReader(string(document))
	if out, err := validate.CombinedOutput(); err != nil || len(out) > 0 {
		return saw, fmt.Errorf("ignition-validate: %v: %s", err, out)
	}
	saw = append(saw, "ignition-validate has nothing to say about it")
	if err := s.chain.Machine.Ignite(ctx, document); err != nil {
		return saw, err
	}
	return append(saw, "the real Ignition wrote it to a Debian root file system that has neither keepalived nor CoreDNS"), s.chain.Equip()
}

func (s *show) images(ctx context.Context) ([]string, error) {
	keepalived, err := exec.LookPath("keepalived")
	if err != nil {
		return nil, err
	}
	return []string{"keepalived from this machine's package, CoreDNS built from its module, ours from the Containerfile"}, s.chain.Images(ctx, keepalived)
}

func (s *show) boot(ctx context.Context) (saw []string, err error) {
	hosts := []*lab.Host{s.chain.Bootstrap}
	for _, m := range s.chain.Masters {
		hosts = append(hosts, m.Host)
	}
	if s.observer, err = lab.Observe(chain.APIVIP, 10*time.Millisecond, hosts...); err != nil {
		return nil, err
	}
	return nil, s.chain.Boot(ctx)
}

func (s *show) daemons(ctx context.Context) ([]string, error) {
	up, err := s.hold(ctx, time.Minute, "bootstrap")
	if err != nil {
		return nil, err
	}
	start, err := s.chain.ExecStart(ctx)
	if err != nil {
		return nil, err
	}
	saw := []string{fmt.Sprintf("the machine holds %s, %s after the unit's ExecStart (3.7 s of it keepalived listens whether another one does)", chain.APIVIP, round(up.Sub(start)))}
	err = until(ctx, 30*time.Second, func() error {
		_, err := s.chain.VM.Run(ctx, "systemctl", "is-active", chain.Unit, "onprem-coredns.service")
		return err
	})
	if err != nil {
		return saw, err
	}
	containers, err := s.chain.VM.Run(ctx, "sh", "-c", "podman inspect --format '{{.Name}}: {{.ImageName}}, privileged: {{.HostConfig.Privileged}}, {{.EffectiveCaps}}' $(podman ps --quiet)")
	return append(saw, strings.Split(strings.TrimSpace(containers), "\n")...), err
}

// hold waits until one machine alone holds the VIP, and returns since when.
func (s *show) hold(ctx context.Context, within time.Duration, host string) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	return s.observer.Wait(ctx, host)
}

// until calls f until it has no error.
func until(ctx context.Context, within time.Duration, f func() error) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("not within %s: %w", within, err)
		case <-time.After(50 * time.Millisecond):
		}
	}
}
