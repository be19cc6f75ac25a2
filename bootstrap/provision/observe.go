package provision

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/machine"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

// Snapshot is what was seen at an instant.
type Snapshot struct {
	Now      time.Time
	Unread   error         // why it is not whole; Joined and Ironic are still of this instant
	Orders   orders.Orders // those in the file
	Reports  map[orders.Part]orders.Report
	Accounts hostfile.File
	Revision string // of Accounts
	Image    node.Image
	Result   Result           // of the preflight
	Foreign  []foreign.Server // while DHCP may be on
	Joined   []addr.Candidate
	Listed   bool                      // Joined is what the API has listed
	Rewrites map[string]orders.Rewrite // by host
	Traces   map[string]machine.Trace
	Ironic   Answer
	Cluster  Handed
}

// Answer is what Ironic answered in the phases that ask it.
type Answer struct {
	Err     error
	Drivers []string
	Nodes   []node.Node
	Disks   map[string]node.Disks // by host
	NoDisks map[string]error      // why those of a host were not read
}

// Observe reads the snapshot, and first of all, once, the journal: without it nothing is decided.
// If anything else cannot be read, the snapshot has the error, since a disk can be kept from its
// ramdisk by the journal and Ironic alone.
func (r *Room) Observe(ctx context.Context) (Snapshot, error) {
	if !r.read {
		all, err := r.Journal.Read()
		if err != nil {
			return Snapshot{}, err
		}
		r.memory, r.read = ledger.Fold(all), true
	}
	s := Snapshot{Now: r.Now(), Reports: map[orders.Part]orders.Report{}}
	s.Unread = r.observe(ctx, &s)
	if s.Unread != nil && slices.Contains(on(r.memory.Phase), orders.Ironic) {
		s.Joined, s.Listed = r.Joined()
		s.Ironic.Nodes, s.Ironic.Err = r.Ironic.Nodes(ctx)
	}
	return s, nil
}

// observe reads all that a decision depends on.
func (r *Room) observe(ctx context.Context, s *Snapshot) (err error) {
	if s.Orders, err = r.Host.Orders(); err != nil {
		return err
	}
	for _, p := range r.parts() {
		if s.Reports[p], err = r.Host.Report(p); err != nil {
			return err
		}
	}
	r.checks.mu.Lock()
	s.Result = r.checks.result
	r.checks.mu.Unlock()
	if slices.Contains(on(r.memory.Phase), orders.DHCP) {
		list, _ := r.Host.Foreign() // status reports what cannot be read, and no host waits for it
		s.Foreign = list.Servers
	}
	switch r.memory.Phase {
	case progress.Services:
		s.Ironic.Drivers, s.Ironic.Err = r.Ironic.Drivers(ctx)
	case progress.Preflight:
		if s.Result.Accepted, err = r.Host.Acceptances(); err != nil {
			return err
		}
	case progress.Deploy, progress.Settle:
		if err := r.observeHosts(ctx, s); err != nil {
			return err
		}
	case progress.Announce, progress.DHCPOff: // Ironic is on still
		s.Ironic.Nodes, s.Ironic.Err = r.Ironic.Nodes(ctx)
	}
	s.Cluster, err = r.observeCluster(ctx, s.Now)
	return err
}

// inventories bounds the reading of inspection results in a round.
const inventories = 20 * time.Second

// observeHosts reads what the hosts' deployment depends on. An Ironic that does not answer is no
// error: it may be starting. An inventory that cannot be read delays only its own host.
func (r *Room) observeHosts(ctx context.Context, s *Snapshot) (err error) {
	if s.Accounts, s.Revision, err = r.Host.Secrets(); err != nil {
		return err
	}
	if s.Image, err = r.Host.Image(); err != nil {
		return err
	}
	if s.Traces, err = r.Host.Traces(); err != nil {
		return err
	}
	s.Rewrites = map[string]orders.Rewrite{}
	for _, h := range r.Plan.Deployed() {
		if s.Rewrites[h.Name], err = r.Host.Rewrite(h.Name); err != nil {
			return err
		}
	}
	s.Joined, s.Listed = r.Joined()
	if s.Ironic.Nodes, s.Ironic.Err = r.Ironic.Nodes(ctx); s.Ironic.Err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, inventories)
	defer cancel()
	s.Ironic.Disks, s.Ironic.NoDisks = map[string]node.Disks{}, map[string]error{}
	for _, h := range r.Plan.Deployed() {
		known := r.memory.Hosts[h.Name]
		n, ok := node.Of(s.Ironic.Nodes, h.Name, h.MAC)
		if !ok || n.Inspected.IsZero() || n.State != node.Manageable || known.Blocker != "" ||
			known.Disk != (node.Pinned{}) {
			continue
		}
		if disks, err := r.Ironic.Disks(ctx, n.UUID); err == nil {
			s.Ironic.Disks[h.Name] = disks
		} else {
			s.Ironic.NoDisks[h.Name] = err
		}
	}
	return nil
}

// joined is a host's Node in the cluster: one with its name, or with its address on the
// provisioning network.
func (d *decision) joined(h provision.Host) (addr.Candidate, bool) {
	own := d.Plan.Deployed()
	i := slices.IndexFunc(d.Snapshot.Joined, func(n addr.Candidate) bool {
		return owner(n.Name, own) == h.Name || h.Address.IsValid() &&
			slices.Contains(slices.Concat(n.InternalIPs, n.Annotated), h.Address)
	})
	if i < 0 {
		return addr.Candidate{}, false
	}
	return d.Snapshot.Joined[i], true
}

// owner finds the host that a Node is, by their names; empty if none or several match. The Node's
// name may have a domain that the host's lacks, another one, or none. A match of the host's whole
// name counts more: names of hosts may differ only behind the first dot.
func owner(of string, hosts []provision.Host) (name string) {
	label := func(name string) string {
		first, _, _ := strings.Cut(strings.ToLower(name), ".")
		return first
	}
	var alike []string
	for _, h := range hosts {
		if scale.OfHost(strings.ToLower(of), strings.ToLower(h.Name)) && len(h.Name) > len(name) {
			name = h.Name
		}
		if label(h.Name) == label(of) {
			alike = append(alike, h.Name)
		}
	}
	if name == "" && len(alike) == 1 {
		name = alike[0]
	}
	return name
}
