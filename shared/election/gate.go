package election

import "github.com/onprem-infra/onprem-infra/shared/vrrp"

// Eligibility reports whether a node may run for the VIPs of an election, or why not.
type Eligibility int

const (
	Eligible   Eligibility = iota
	APINotSeen             // the node has not seen the API work behind its balancer yet
	RanksTaken             // other nodes have every rank: its priority would equal another node's
	NotNamed               // the API does not name it: its peers would drop its adverts
	TooFew                 // too few nodes are known to elect a holder
)

// Candidacy is what the eligibility of a node depends on.
type Candidacy struct {
	Kind       vrrp.Kind
	APISeen    bool // the node has seen the API work behind its balancer
	RanksTaken bool // other nodes have every rank
	Unicast    bool // the peers are configured; the fields below count only then
	Named      bool // the API names the node's address among the members
	Elects     bool // there are enough members to elect a holder (plan.Plan.Elects)
}

// Gate is the eligibility gate. The node's own service and rank count for every VIP but that of the
// ingress, whose candidates another list names. The provisioning address is Ironic's, wherever that
// runs: its one candidate needs no rank of its own.
func Gate(c Candidacy) Eligibility {
	switch {
	case c.Kind != vrrp.Ingress && !c.APISeen:
		return APINotSeen
	case c.Kind != vrrp.Ingress && c.Kind != vrrp.Provisioning && c.RanksTaken:
		return RanksTaken
	case c.Unicast && !c.Named:
		return NotNamed
	case c.Unicast && !c.Elects:
		return TooFew
	default:
		return Eligible
	}
}
