//go:build remote

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/provisioning"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/host/readiness"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// provisioningFlags are what a user states of a link on which hosts are to be installed.
type provisioningFlags struct {
	link, mode       string
	servers, address []string
	mtu              int
	lldp             bool
}

// announces is how long a switch is waited for: it announces itself every 30 s.
const announces = 35 * time.Second

// patience is how long to wait for the switch, and progress what the progress line has for it.
func (p *provisioningFlags) patience() (wait time.Duration, progress string) {
	if !p.lldp {
		return 0, ""
	}
	return announces, fmt.Sprintf(", and waiting for the switch (LLDP), %s at most", announces)
}

func (p *provisioningFlags) register(cmd *cobra.Command) {
	var modes []string
	for _, m := range offer.Modes() {
		modes = append(modes, string(m))
	}
	flags := cmd.Flags()
	flags.StringVar(&p.link, "provisioning-link", "",
		"inspect only this link, by its name or MAC: which DHCP servers answer there")
	flags.StringVar(&p.mode, "provisioning-mode", modes[0],
		"of --provisioning-link: "+strings.Join(modes, ", "))
	completes(cmd, "provisioning-mode", modes)
	flags.StringArrayVar(&p.servers, "provisioning-server", nil,
		"address or MAC of a server that may answer there, also with --provisioning; may be given "+
			"several times")
	flags.StringArrayVar(&p.address, "provisioning-address", nil,
		"address that no other host may have there; may be given several times")
	flags.BoolVar(&p.lldp, "lldp", false,
		"wait until the switch names the port of the provisioning link, 35 s at most")
	flags.IntVar(&p.mtu, "provisioning-mtu", 0, "MTU that the link should have")
}

// printing is how a report is printed.
type printing struct {
	format string
	quiet  bool
	strict bool // warnings are errors
	// patience is how long to wait for the switch, and progress what the progress line has for it.
	patience time.Duration
	progress string
}

// doctorHosts inspects what the installation of hosts needs.
func (p *provisioningFlags) doctorHosts(
	ctx context.Context, std streams, in *input, how printing,
) error {
	expected, err := p.expected()
	if err != nil {
		return err
	}
	host, err := readyHost(std, in, ownFiles)
	if err != nil {
		return err
	}
	host.Expected = expected
	host.Probes.Patience = how.patience
	asking := "asking the provisioning network and the BMCs" + how.progress
	line := startProgress(std, how.quiet, asking)
	host.Done = func(done, all int) {
		line.Step("%s: %d of %d BMCs are done", asking, done, all)
	}
	report := host.Examine(ctx)
	line.Done()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("it was stopped before it had seen all: %w", err)
	}
	return printReport(std, how, report)
}

// printReport prints a report. Its answer is negative if something is wrong.
func printReport(std streams, how printing, report interface {
	Text(layout.Width) string
	Faulty(strict bool) bool
}) error {
	text := coloured(std.out, report.Text(width()))
	if how.format == "json" {
		all, err := json.MarshalIndent(report, "", "  ")
		if err != nil {
			return fmt.Errorf("print the findings: %w", err)
		}
		text = string(all) + "\n"
	}
	if _, err := fmt.Fprint(std.out, text); err != nil {
		return err
	}
	if report.Faulty(how.strict) {
		return negative(nil)
	}
	return nil
}

// readyHost is this host, and what the installation of hosts needs by a description, or by the
// files of this machine. Accounts that cannot be read there leave the BMCs unseen.
func readyHost(std streams, in *input, own files) (h readiness.Host, err error) {
	h.Probes = provisioning.HostProbes()
	if h.Machine, err = file.Exists(own.hosts); err != nil {
		h.Unseen = append(h.Unseen, fmt.Sprintf("whether this is a bootstrap machine: %v", err))
	}
	if h.Machine {
		now, err := hostorders.Run.Read()
		if err != nil {
			h.Unseen = append(h.Unseen, fmt.Sprintf("whether DHCP is on: %v", err))
		}
		h.Serves = now.Wants(orders.DHCP)
	}
	var known ledger.Memory
	if h.Machine {
		if known, err = own.memory(); err != nil {
			h.Unseen = append(h.Unseen, fmt.Sprintf("whether provisioning has ended: %v", err))
		}
		h.Ended = known.Phase.Past(progress.Unpause)
	}
	if in.file == "" {
		p, err := own.compiled(std)
		if err != nil {
			return h, err
		}
		h.Plan, h.Files = p.Provisioning, wantedFiles(p, h.Machine)
		if h.Targets, err = own.targets(h.Plan, known); err != nil {
			h.Unseen = append(h.Unseen, fmt.Sprintf("the BMCs of the hosts: %v", err))
		}
		return h, nil
	}
	described, err := loadCluster(std, in)
	if err != nil {
		return h, err
	}
	p, err := compile(described)
	if err != nil {
		return h, err
	}
	if h.Plan = p.Provisioning; h.Plan == nil {
		return h, negative(errors.New("no host of the description has a BMC: write hosts with " +
			"bmc.address"))
	}
	h.Files = wantedFiles(p, h.Machine)
	h.Targets, err = describedTargets(std, described, in.file)
	return h, err
}

// check refuses flags without those that they need, or beside those that make them useless.
func (p *provisioningFlags) check(cmd *cobra.Command) (err error) {
	allowed := []string{"output", "quiet", "strict", "lldp"}
	unused := []string{"peer", "joins", bgpPasswords}
	hosts := cmd.Flags().Changed("provisioning")
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch of := strings.HasPrefix(f.Name, "provisioning-"); {
		case err != nil:
		case of && p.link == "" && !(hosts && f.Name == "provisioning-server"):
			err = usage("--%s takes --provisioning-link: name the link", f.Name)
		case p.link != "" && !of && !slices.Contains(allowed, f.Name):
			err = usage("--provisioning-link inspects that link alone: leave --%s out", f.Name)
		case hosts && slices.Contains(unused, f.Name):
			err = usage("--provisioning inspects the network and the BMCs of hosts alone: leave "+
				"--%s out", f.Name)
		case f.Name == "lldp" && p.link == "" && !hosts:
			err = usage("--lldp takes --provisioning-link or --provisioning: add one of them")
		}
	})
	return err
}

// expected are the servers that the flags state; an error is about the first wrong one.
func (p *provisioningFlags) expected() (all offer.Expected, err error) {
	for _, text := range p.servers {
		one, err := offer.Expect(text)
		if err != nil {
			return all, usage("--provisioning-server %q %s", text, err)
		}
		all = all.And(one)
	}
	return all, nil
}

// wanted are the facts that the flags state; an error is about the first wrong flag.
func (p *provisioningFlags) wanted() (facts.Provisioning, error) {
	f := facts.Provisioning{Named: p.link, Mode: offer.Mode(p.mode), MTU: p.mtu}
	if !slices.Contains(offer.Modes(), f.Mode) {
		return f, usage("--provisioning-mode %q is not one of: managed, unmanaged, disabled",
			p.mode)
	}
	expected, err := p.expected()
	if err != nil {
		return f, err
	}
	f.Expected = expected
	for _, text := range p.address {
		a, err := netip.ParseAddr(text)
		if err != nil {
			return f, usage("--provisioning-address %q is no address: write one such as "+
				"172.22.0.3", text)
		}
		f.Own = append(f.Own, a.Unmap())
	}
	if p.mtu < 0 || p.mtu > 65535 {
		return f, usage("--provisioning-mtu %d is no MTU: use 1 to 65535", p.mtu)
	}
	return f, nil
}

// run inspects the link and prints the findings.
func (p *provisioningFlags) run(
	ctx context.Context, std streams, m *monitor, how printing,
) error {
	wanted, err := p.wanted()
	if err != nil {
		return err
	}
	if wanted.Live, err = file.Exists(m.cluster); err != nil {
		return err
	}
	probes := provisioning.HostProbes()
	probes.Patience = how.patience
	line := startProgress(std, how.quiet, "asking which servers answer on "+p.link+how.progress)
	report := diagnose.Provisioning(ctx, probes, wanted)
	line.Done()
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("it was stopped before it had seen all: %w", err)
	}
	return printReport(std, how, report)
}
