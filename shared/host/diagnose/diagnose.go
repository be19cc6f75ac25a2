// Package diagnose gathers all facts of a host twice, and reports the findings that lasted.
package diagnose

import (
	"context"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/daemons"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/network"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/routed"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/system"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/drift"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan/sharing"
	"github.com/onprem-infra/onprem-infra/shared/progress"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Pause is the time between the two inspections: an election, a check and a reload end within it.
const Pause = time.Second

// Host is a host that is to be diagnosed.
type Host struct {
	*inspect.Inspector
	Live  bool         // it has its files; else it is a plain host
	Joins bool         // the cluster lives, and this plain host will join it
	Peers []netip.Addr // other hosts of the future cluster
	Pause time.Duration

	System  system.Probes
	Network network.Probes
	Daemons daemons.Probes
	Routed  routed.Probes
	// Passwords are those of routers, for questions to them before this host has its file.
	Passwords map[string]secret.Text
	Drift     func(r role.Role) (drift.Report, error) // of the host's files from their plan
}

// Progress shows how far a diagnosis is. The zero value shows nothing.
type Progress struct {
	Line  *progress.Line
	First func(found []doctor.Finding) string // what the first inspection found, in words
}

// Report is what `doctor -o json` prints. It is public: fields may be added, and none is removed or
// changes its meaning.
type Report struct {
	At       time.Time        `json:"at"`
	Cluster  string           `json:"cluster"`
	Live     bool             `json:"live"` // this host has its files
	NodeIPs  []netip.Addr     `json:"nodeIPs"`
	Checks   []doctor.Name    `json:"checks"`
	Findings []doctor.Finding `json:"findings"`
	Unseen   []string         `json:"unseen"`
}

// Faulty reports whether something is wrong. A warning is not, unless strict.
func (r Report) Faulty(strict bool) bool {
	return doctor.Errors(r.Findings) || strict && len(r.Findings) > 0
}

// Diagnose inspects the host. If there are errors, it inspects it again after h.Pause, and
// reports what lasted. Warnings alone need no second inspection: they are about what lasts.
func (h Host) Diagnose(ctx context.Context, p Progress) Report {
	seen, unseen := h.facts(ctx, "first inspection", p.Line)
	found := doctor.Examine(seen)
	if doctor.Errors(found) {
		if p.First != nil {
			p.Line.Keep(p.First(found))
		}
		select {
		case <-ctx.Done():
		case <-time.After(h.Pause):
		}
		seen, unseen = h.facts(ctx, "second inspection", p.Line)
		found = doctor.Lasting(found, doctor.Examine(seen))
	}
	return Report{
		At: h.Now().UTC(), Cluster: h.Plan.Cluster.Name, Live: h.Live, Checks: doctor.All(),
		NodeIPs:  append([]netip.Addr{}, seen.Host.Agreed...),
		Findings: append([]doctor.Finding{}, found...), Unseen: unseen,
	}
}

// facts inspects everything once. Independent inspections run concurrently; it takes some seconds.
func (h Host) facts(
	ctx context.Context, round string, line *progress.Line,
) (facts.Facts, []string) {
	s := inspect.Scope{
		Plan: h.Plan, Files: h.Files, Live: h.Live, Role: h.Files.Role(),
		Rooms: h.Rooms(), Unseen: &inspect.Unseen{},
	}
	var err error
	s.Host.Links, err = h.Links()
	s.Unseen.Add("links and addresses", err)
	s.Host.Master = s.Role == role.Master
	s.Host.Agreed, s.Host.Remote, err = h.Files.Agreed()
	s.Unseen.Add("the node's addresses", err)
	var status supervised.Status
	if h.Live {
		if status, err = h.Supervisor(); s.Rooms.VIP || !s.Rooms.Speaks {
			s.Unseen.Add("keepalived", err)
		}
	}
	seen := election.Observation{Links: s.Host.Links, Agreed: s.Host.Agreed}
	vips := inspect.Elected(h.VIPs(seen, status, nil))
	h.bootCard(&s)
	net := network.Inspector{Scope: s, Probes: h.Network}
	f := facts.Facts{Plan: h.Plan, Live: h.Live, Joins: h.Joins, Host: s.Host}
	f.Machine.Timing = h.timing(s)
	if f.Network.VIPs = net.VIPs(vips); h.Live {
		f.Network.Members = net.Members(ctx, f.Network.VIPs)
	}
	members := slices.Clone(f.Network.Members) // Answers changes those of the facts
	groups := net.Groups(vips, f.Network.VIPs, members)
	inspections := append(h.inspections(ctx, &f, s, status, net.ServersOf(members)),
		func() { net.Answers(&f.Network) },
		func() { f.Network.Reached = net.Reach(ctx, h.Peers, members) },
		func() { f.Network.Clashes, f.Network.FreeIDs = net.Clashes(ctx, groups) })
	var all sync.WaitGroup
	var ended atomic.Int32
	for _, inspect := range inspections {
		all.Go(func() {
			inspect()
			line.Step("%s: %d of %d done", round, ended.Add(1), len(inspections))
		})
	}
	all.Wait()
	return f, slices.Sorted(slices.Values(s.Unseen.List()))
}

// timing is how the hosts keep to the proof of their timing. A bootstrap machine, which leaves
// soon, needs none.
func (h Host) timing(s inspect.Scope) facts.Timing {
	is := facts.Timing{FellBack: h.FellBack}
	if m := h.Migration; m != nil && m.Late {
		is.Waits = m.Waits
	}
	if !h.Live || !s.RunsVIP() || s.Role == role.Bootstrap {
		return is
	}
	name, err := h.Hostname()
	s.Unseen.Add("the host's name", err)
	if err == nil && !h.Plan.Timing.Proves(name) {
		is.Unproven = name
	}
	return is
}

// inspections are those of the host itself: each writes fields of its own.
func (h Host) inspections(
	ctx context.Context, f *facts.Facts, s inspect.Scope, status supervised.Status,
	servers []netip.AddrPort,
) []func() {
	m := system.Inspector{Scope: s, Probes: h.System}
	d := daemons.Inspector{Scope: s, Probes: h.Daemons}
	nodes := facts.ControlPlane(f.Network.Members) // now, as Answers changes members
	all := []func(){
		func() { f.Machine.Clocks, f.Machine.Unsynced = m.Clocks(ctx, servers), m.Unsynced() },
		func() { f.Machine.Kernel, f.Machine.Ranges = m.Kernel(), m.Ranges() },
		func() { f.Machine.Programs = m.Programs(ctx) },
		func() { f.Names.Resolver, f.Names.Outside = d.Upstreams(ctx) },
		func() {
			to := s
			if by, ok := h.Announces(); ok {
				to.Plan = by
			}
			r := routed.Inspector{Scope: to, Probes: h.Routed, Host: h.Inspector,
				Passwords: h.Passwords, Nodes: nodes}
			f.Routed = r.Routed(ctx)
		},
	}
	if !h.Live {
		return append(all,
			func() { f.Machine.Ports = m.Ports() },
			func() { f.Machine.Images = m.Images(ctx) })
	}
	return append(all,
		func() { f.Machine.Files = h.files(s) },
		func() { f.Machine.Statics, f.Machine.Limits = m.Statics(), m.Limits() },
		func() { f.Machine.Credentials = m.Credentials() },
		func() { f.Daemons.Keepalived = d.Keepalived(ctx, status) },
		func() { f.Daemons.Running = d.Running(ctx) },
		func() { f.Daemons.Monitors = d.Monitors(ctx) },
		func() { f.Daemons.Balancer, f.Daemons.Redirected = d.Balancer(ctx) },
		func() { f.Daemons.Servers = d.Servers(ctx, servers) },
		func() { f.Daemons.Checks = d.Checks(ctx) },
		func() { f.Daemons.Rights = d.MissingRights(ctx) },
		func() { f.Names.Own, f.Names.Fault = d.Own(ctx) })
}

// bootCard finds the card on the provisioning network of a node that may have the shared address.
func (h Host) bootCard(s *inspect.Scope) {
	if !h.Live || !s.Host.Master || len(h.Plan.VIPs.Provisioning) == 0 {
		return
	}
	all, err := h.Cards()
	s.Unseen.Add("Ethernet links", err)
	if err != nil {
		return
	}
	if s.Host.Boots, err = sharing.Card(h.Plan.Provisioning, all); err != nil {
		s.Host.NoBoots = err.Error()
	}
}

// files are those of this host that differ from the plan.
func (h Host) files(s inspect.Scope) (out []facts.File) {
	if s.Role == "" {
		s.Unseen.Add("files",
			errors.New("this host has none of our pods or units, and its role is not known"))
		return nil
	}
	report, err := h.Drift(s.Role)
	s.Unseen.Add("files", err)
	for _, c := range report.Changes {
		if c.Kind == drift.Unreadable {
			s.Unseen.Add("the file "+c.Path, errors.New(c.Note))
			continue
		}
		out = append(out,
			facts.File{Path: c.Path, How: strings.TrimSuffix(string(c.Kind)+": "+c.Note, ": ")})
	}
	return out
}
