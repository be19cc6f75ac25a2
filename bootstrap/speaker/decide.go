package speaker

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// learns is how long a session is up before a router has sent all paths that it has: each of
// them has waited 50 ms in the router, and a busy one sends for some tenths of a second. The
// status has the begin of a session in whole seconds.
const learns = 3 * time.Second

// fresh is how old a status may be: the speaker writes one each second.
const fresh = 5 * time.Second

// Snapshot is what the decision depends on.
type Snapshot struct {
	At        time.Time
	Links     addr.Snapshot
	Rack      string
	Verdict   release.Verdict
	Config    spoken.Config // that the speaker has
	Status    spoken.Status
	Announced []netip.Addr
	Nodes     []addr.Candidate
}

// Desired is what should be on the machine.
type Desired struct {
	Config spoken.Config
	// Lacks is why there is no new configuration: the one before goes on, if there was one.
	Lacks  string
	Routes []spoken.Route // that are announced, or were until it is to leave
	// Held reports whether this machine may announce the VIPs at all, and Handover whether it now
	// hands them over to a control plane node.
	Held, Handover bool
	// Waits are why VIPs are not announced: another host has them, or may have.
	Waits []string
	Nodes []addr.Candidate // to keep
}

// Observe reads the machine and the cluster.
func (r *Room) Observe(ctx context.Context) (s Snapshot, err error) {
	host := r.options.Host
	if s.Verdict, err = host.Verdict(ctx); err != nil {
		return Snapshot{}, fmt.Errorf("probe the local API: %w", err)
	}
	if s.Links, err = host.Links(); err != nil {
		return Snapshot{}, fmt.Errorf("read links: %w", err)
	}
	if s.Rack, err = host.Rack(); err != nil {
		return Snapshot{}, fmt.Errorf("read the name of the rack: %w", err)
	}
	if s.Config, err = host.Config(); err != nil {
		return Snapshot{}, fmt.Errorf("read the speaker's configuration: %w", err)
	}
	if s.Status, err = host.Status(); err != nil {
		return Snapshot{}, fmt.Errorf("read the speaker's status: %w", err)
	}
	s.At, s.Announced, s.Nodes = r.options.Now(), host.Announced(), host.Nodes()
	return s, nil
}

// Decide computes what should be on the machine, and why, one reason for each fact. A host that
// has lost the address by which it knew its rack keeps its sessions, and its VIPs with them.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	p := r.options.Plan
	config, how, err := announcing.Config(p, announcing.Host{Role: role.Bootstrap, Rack: s.Rack,
		Links: s.Links, Former: s.Config.Router})
	d := Desired{Config: config, Held: s.Verdict.Hold, Handover: s.Verdict.Yield, Nodes: s.Nodes}
	if err != nil {
		d.Config, d.Lacks, how = s.Config, err.Error(), err.Error()
	}
	why := loop.Reasons{s.Verdict.Why, how}
	grade := p.BGP.Policy.OfBootstrap(false)
	known := slices.Concat(s.Announced, r.begun)
	switch {
	case d.Held:
		var vips []netip.Addr
		for _, vip := range d.Config.VIPs {
			wait := r.lacksHolder(vip, s.Links)
			if wait == "" && !slices.Contains(known, vip) &&
				!slices.Contains(r.options.Free, vip) {
				wait = obstacle(vip, d.Config.Peers, s)
			}
			if wait == "" {
				vips = append(vips, vip)
				continue
			}
			d.Waits = append(d.Waits, wait)
			why = append(why, wait)
		}
		d.Routes = announcing.Routes(p, grade, vips)
		r.begun = union(r.begun, vips)
	case d.Handover:
		// The routes stay in the wish until the speaker has left: it demotes them before.
		d.Routes = announcing.Routes(p, grade, union(nil, known))
	}
	return d, why
}

// lacksHolder is why a VIP is not announced beside VRRP: keepalived of this machine does not hold
// it yet, maybe because another host of the link does. A VIP that was announced stays announced.
func (r *Room) lacksHolder(vip netip.Addr, links addr.Snapshot) string {
	if links.HolderOf(vip) != "" || !r.options.Plan.ByVRRP() || slices.Contains(r.begun, vip) {
		return ""
	}
	return fmt.Sprintf("%s is not announced: keepalived of this machine does not hold it yet",
		vip)
}

// obstacle is why a VIP that was never announced from here is not announced yet; empty if nothing
// is in the way.
func obstacle(vip netip.Addr, peers []spoken.Peer, s Snapshot) string {
	if s.At.Sub(s.Status.At) > fresh {
		return fmt.Sprintf("%s is not announced: FRR does not run yet", vip)
	}
	for _, v := range s.Status.VIPs {
		if v.VIP == vip && len(v.Others) > 0 {
			return fmt.Sprintf("%s is announced by another host: %s: take it off that host or "+
				"choose another VIP; if that host is not to count, add --assume-free %[1]s by "+
				"systemctl edit onprem-speaker", vip, paths(v.Others))
		}
	}
	for _, session := range s.Status.Sessions {
		carries := slices.ContainsFunc(peers, func(p spoken.Peer) bool {
			return p.Interface == session.Peer || p.Interface == "" &&
				p.Address.String() == session.Peer && p.Address.Is6() == vip.Is6()
		})
		if carries && session.State == established && !session.Since.IsZero() &&
			s.At.Sub(session.Since) >= learns {
			return ""
		}
	}
	return fmt.Sprintf("%s is not announced: whether another host announces it is learned first, "+
		"from a session that has been up for %v", vip, learns)
}

// paths describes the paths to other hosts that routers have sent.
func paths(others []spoken.Other) string {
	var all []string
	for _, o := range others {
		host := "a host that is not the cluster's"
		if o.Announcer.IsValid() {
			host = fmt.Sprintf("a host of this ASN with the identifier %s", o.Announcer)
		}
		all = append(all, fmt.Sprintf("router %s has a path of %d systems to %s", o.Session,
			o.Length, host))
	}
	return strings.Join(all, ", ")
}
