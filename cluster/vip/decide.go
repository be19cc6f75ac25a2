package vip

import (
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// addressGap is how long the machine may be without an address for a VIP before the VIP's instance goes. A DHCP client that replaces an
// address, and a bridge that takes one over, remove the old one first.
const addressGap = 5 * time.Second

// Desired is what should be on the machine.
type Desired struct {
	Leave  bool // what is in force stays in force: nothing is known that could be better
	Config keepalived.Config
	Memory Memory
	Tell   string // this machine's Node, if it is to say that the bootstrap machine is gone; else empty
	Claim  Claim
	Hears  []clash.Instance // elections in which this node takes part, or will
}

// own is when a VIP last had an address of this machine's for its instance, and which.
type own struct {
	choice addr.Choice
	at     time.Time
}

// election is one of those that a node takes part in.
type election struct {
	kind   vrrp.Kind
	word   string // in names
	vips   []netip.Addr
	id     vrrp.ID
	ladder plan.Ladder
	nodes  []addr.Node
	closed bool // to whoever is no peer

	candidates []notice.Candidate // beside the nodes
}

// Decide says what should be on the machine, and why, one reason a fact. It has no clock; its only state is what it has learnt.
//
// While the API has not said who the nodes are, and no earlier run has kept them, the configuration in force stays: an API that is away must
// not take the VIPs off.
func (r *Room) Decide(s Snapshot) (Desired, loop.Reasons) {
	d := Desired{Config: keepalived.Config{
		Header: r.header, NotifyFIFO: RunDir + "/" + supervised.NotifyFIFO, Leave: RunDir + "/" + supervised.TrackDir + "/" + supervised.LeaveTrack,
	}}
	if s.Remote {
		d.Memory = r.memory
		return d, loop.Reasons{"a remote worker holds no VIP"}
	}
	r.learn(s)
	d.Claim = r.standing(s)
	d.Memory, d.Tell, d.Hears = r.memory, r.tells(s), r.hears(s)
	if len(r.memory.Nodes) == 0 && !r.first {
		d.Leave = true
		return d, loop.Reasons{"the API has not named the nodes yet"}
	}
	var why loop.Reasons
	for _, e := range r.elections() {
		if r.first && e.kind != vrrp.API {
			continue // whoever shall hold another VIP is named first
		}
		// The bootstrap machine has both until then, and this node may not know it yet.
		if e.kind != vrrp.Ingress && !r.memory.Open {
			why = append(why, fmt.Sprintf("no %s instance: this node has not seen the API work yet", e.word))
			continue
		}
		if e.kind != vrrp.Ingress && len(e.ladder.Ranks) > 0 && r.place.full {
			// A node of an equal priority would take the VIP at the same time as another one.
			why = append(why, fmt.Sprintf("no %s instance: other nodes have all %d ranks%s", e.word, len(e.ladder.Ranks), r.place.dead))
			continue
		}
		why = append(why, r.stand(e, s, &d.Config)...)
	}
	d.Memory = r.memory // with what is started now
	return d, why
}

// elections are those that this node may take part in. The API's is closed to strangers when the bootstrap machine has gone and the API has named the
// nodes since this program started: among the nodes of an earlier run the one may be missing that holds the VIP, and the API would come through it.
func (r *Room) elections() []election {
	p := r.plan
	ingress := election{kind: vrrp.Ingress, word: "INGRESS", vips: p.VIPs.Ingress, id: p.VRRP.Ingress.ID, ladder: p.VRRP.IngressNodes,
		nodes: plain(r.memory.Nodes), closed: true}
	if !WatchesAll(p) {
		ingress.nodes, ingress.candidates = r.controlPlane(), r.memory.Candidates
	}
	if r.role != role.Master {
		return []election{ingress}
	}
	api := election{kind: vrrp.API, word: "API", vips: p.VIPs.API, id: p.VRRP.API.ID, ladder: p.VRRP.ControlPlane,
		nodes: r.controlPlane(), closed: r.memory.BootstrapGone && r.named}
	all := []election{api, ingress}
	if p.VRRP.DNSNodes != nil {
		all = append(all, election{kind: vrrp.DNS, word: "DNS", vips: p.VIPs.DNS, id: p.VRRP.DNS.ID, ladder: *p.VRRP.DNSNodes, nodes: api.nodes, closed: api.closed})
	}
	return all
}

// stand adds this node's instances of an election to a configuration, with what they track.
func (r *Room) stand(e election, s Snapshot, c *keepalived.Config) (why loop.Reasons) {
	var stands []keepalived.Instance
	rank, ranked := r.rank(e, s)
	for i, vip := range e.vips {
		inst, reason, err := r.instance(e, i, s)
		if err != nil {
			why = append(why, fmt.Sprintf("no instance for %s: %v", vip, err))
			continue
		}
		if refused := r.refused(e, inst, s); refused != "" {
			why = append(why, fmt.Sprintf("no instance for %s: %s", vip, refused))
			continue
		}
		inst.Priority += vrrp.Priority(e.ladder.Candidates().Rank(rank))
		why, stands = append(why, reason+ranked), append(stands, inst)
	}
	if len(stands) > 0 {
		r.follows(e, stands, c)
		c.Instances = append(c.Instances, stands...)
	}
	return why
}

// follows adds what an election's instances track, and the group of those that move together.
func (r *Room) follows(e election, stands []keepalived.Instance, c *keepalived.Config) {
	var checks []vrrp.CheckName
	for _, w := range e.ladder.Checks {
		checks = append(checks, w.Check)
		c.Tracks = append(c.Tracks, keepalived.Track{Name: w.Check, File: keepalived.Path(TrackFile(w.Check, w.Fault)), Weight: w.Adds})
	}
	if !r.together() || len(stands) == 1 {
		for i := range stands {
			stands[i].Tracks = slices.Concat(checks, r.bonus(e, stands[i].Name, c))
		}
		return
	}
	group := keepalived.SyncGroup{Name: vrrp.InstanceName("VG_" + e.word)}
	for i := range stands {
		group.Members, stands[i].Grouped = append(group.Members, stands[i].Name), true
	}
	group.Tracks = slices.Concat(checks, r.bonus(e, stands[0].Name, c)) // its members hold their VIPs together, and what it tracks counts for each
	c.Groups = append(c.Groups, group)
}

// together says whether both families of a VIP must be on one node: on OpenStack they are addresses of one port.
func (r *Room) together() bool {
	dual := r.plan.Families == plan.DualStack || r.plan.Families == plan.DualStackIPv6
	return dual && r.plan.Platform == spec.OpenStack
}

// TrackFile is where keepalived reads how a check stands.
func TrackFile(check vrrp.CheckName, fault bool) string {
	dir := supervised.TrackDir
	if fault {
		dir = supervised.FaultDir
	}
	return RunDir + "/" + dir + "/" + string(check)
}

// instances are the names of an election's instances.
func (r *Room) instances(vips []netip.Addr, kind vrrp.Kind) []vrrp.InstanceName {
	names := make([]vrrp.InstanceName, len(vips))
	for i := range vips {
		names[i] = vrrp.Name(r.plan.Cluster.Name, kind, i)
	}
	return names
}

// choose finds the VIP's interface, or for a while the one that it had.
func (r *Room) choose(vip netip.Addr, s Snapshot) (addr.Choice, error) {
	choice, err := addr.ForVIP(s.Links, vip, r.vips(), s.Agreed)
	if err == nil {
		r.seen[vip] = own{choice: choice, at: s.At}
		return choice, nil
	}
	if last, ok := r.seen[vip]; ok && s.At.Sub(last.at) < addressGap {
		return last.choice, nil
	}
	return addr.Choice{}, err
}

// instance is the VRRP instance of an election's i-th VIP.
func (r *Room) instance(e election, i int, s Snapshot) (keepalived.Instance, string, error) {
	vip := e.vips[i]
	choice, err := r.choose(vip, s)
	if err != nil {
		return keepalived.Instance{}, "", err
	}
	link, err := keepalived.ParseInterface(choice.Link)
	if err != nil {
		return keepalived.Instance{}, "", err
	}
	inst := keepalived.Instance{
		Name: r.instances(e.vips, e.kind)[i], Interface: link, ID: e.id, Version: r.plan.Timing.Model.Version(vip), Priority: e.ladder.Base,
		Advert: r.plan.Timing.Model.Advert, Refresh: r.plan.Timing.Model.Refresh, VIP: vip,
	}
	if inst.Version == vrrp.V2 {
		inst.AuthPass = vrrp.CompatAuth(r.plan.Cluster.Name, e.kind)
	}
	where := fmt.Sprintf("%s on %s: %s", vip, choice.Link, choice.Why)
	if r.plan.VRRP.Mode == spec.Multicast {
		return inst, where + ", multicast as the cluster asks", nil
	}
	inst.Source = choice.Address
	whom, err := r.unicast(e, vip, &inst)
	return inst, where + ", " + whom, err
}

// unicast gives an instance its peers. Who is not in the list that the others have would run an election of its own beside theirs, so it takes no
// part. Where one node may be all there is, it speaks to whoever may listen.
func (r *Room) unicast(e election, vip netip.Addr, inst *keepalived.Instance) (string, error) {
	members := r.members(e, vip, inst.Source)
	if !slices.Contains(members, inst.Source) {
		return "", fmt.Errorf("%s is not an address of the nodes that the API names (%s)", inst.Source, join(members))
	}
	if !r.plan.Elects(len(members)) {
		return "", fmt.Errorf("this node is the only one yet")
	}
	inst.Peers = slices.DeleteFunc(members, func(a netip.Addr) bool { return a == inst.Source })
	whom := "unicast with " + join(inst.Peers)
	if e.kind != vrrp.Ingress {
		if guests := r.guests(vip, inst.Source); len(guests) > 0 {
			whom += " and the bootstrap machine " + join(guests)
			inst.Peers = append(inst.Peers, guests...)
			slices.SortFunc(inst.Peers, netip.Addr.Compare)
			inst.Peers = slices.Compact(inst.Peers)
		}
	}
	if len(inst.Peers) == 0 {
		inst.Peers = []netip.Addr{keepalived.Group(vip)}
		return "alone", nil
	}
	if inst.Known = e.closed; e.closed {
		inst.Near = vrrp.HopLimited(vip, inst.Advert)
		whom += ", and nobody else is heard"
	}
	return whom, nil
}
