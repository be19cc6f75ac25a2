// Package proof shows of a whole VRRP policy that it elects the right holder in every case: it
// computes the highest and lowest priority of each kind of host, compares them, and checks that the
// timers of a profile do not contradict each other.
package proof

import (
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Proof is what has been shown of a policy, in numbers and in sentences for people.
type Proof struct {
	ControlPlaneMax vrrp.Priority // the highest of a control plane node for the API VIP
	IngressMax      vrrp.Priority // the highest of any node for the ingress VIP
	DNSMax          vrrp.Priority // the highest for the DNS VIP; 0 where there is none
	ProvisioningMax vrrp.Priority // the same for the provisioning address
	Margin          int           // what the bootstrap machine is above ControlPlaneMax
	Statements      []string
}

// Prove shows that a policy elects the right holder, or returns all errors of the policy:
//   - No control plane node reaches the bootstrap machine's priority, over every subset of check
//     outcomes in every rank, with and without the holder bonus.
//   - The better node holds the VIP whatever the addresses, over every subset of what can work on
//     a node, in every rank, with and without the bonus.
//   - Where there are ranks or a bonus, the holder keeps the VIP against every node of equal
//     health.
//   - The same holds for the DNS VIP, if the cluster has one.
//   - Only a node on which Ironic answers holds the provisioning address, if nodes share one. The
//     bootstrap machine has it without an election, and no node is a candidate then.
//   - VRRP can announce every priority that can occur, also that of a node that has just started.
func Prove(p vrrp.Policy) (Proof, error) {
	api := election{p.ControlPlane, "control plane", controlPlaneClaims(p.ControlPlane),
		controlPlaneSignals()}
	ingress := election{p.Ingress, "ingress", ingressClaims(p.Ingress), ingressSignals()}
	dns := election{p.DNS, "DNS", dnsClaims(p.DNS), []vrrp.Signals{{}, {DNS: true}}}
	ironic := election{p.Provisioning, "provisioning", provisioningClaims(p.Provisioning),
		[]vrrp.Signals{{}, {Ironic: true}}}
	hasDNS, hasIronic := len(p.DNS.Weights) > 0, len(p.Provisioning.Weights) > 0
	wrong := errors.Join(api.wellFormed(), ingress.wellFormed(),
		inRange("bootstrap", int(p.Bootstrap), fmt.Sprint(p.Bootstrap)))
	if hasDNS {
		wrong = errors.Join(wrong, dns.wellFormed(), inRange("bootstrap DNS", int(p.BootstrapDNS),
			fmt.Sprint(p.BootstrapDNS)))
	}
	if hasIronic {
		wrong = errors.Join(wrong, ironic.wellFormed())
	}
	if wrong != nil {
		return Proof{}, wrong // numbers out of range cannot be compared
	}
	var proof Proof
	show := func(statements []string, err error) {
		proof.Statements, wrong = append(proof.Statements, statements...), errors.Join(wrong, err)
	}
	top, _, _ := highest(api.Candidates)
	proof.ControlPlaneMax, proof.Margin = vrrp.Priority(top), int(p.Bootstrap)-top
	show(api.below(p.Bootstrap, "", ""))
	show(api.keep())
	top, sum, _ := highest(ingress.Candidates)
	proof.IngressMax = vrrp.Priority(top)
	show([]string{"the highest priority for the ingress VIP is " + sum}, nil)
	show(ingress.keep())
	if hasDNS {
		top, _, _ = highest(dns.Candidates)
		proof.DNSMax = vrrp.Priority(top)
		show(dns.below(p.BootstrapDNS, "for the DNS VIP ", " for the DNS VIP"))
		show(dns.keep())
	}
	if hasIronic {
		top, sum, _ = highest(ironic.Candidates)
		proof.ProvisioningMax = vrrp.Priority(top)
		show([]string{"the highest priority for the provisioning address is " + sum}, nil)
		show(ironic.keep())
	}
	if wrong != nil {
		return Proof{}, wrong
	}
	return proof, nil
}

// election is the candidates for one VIP, with what must be true of them.
type election struct {
	vrrp.Candidates
	name    string
	claims  []claim
	signals []vrrp.Signals // everything that can work or not work on a node
}

// below shows that no candidate reaches the bootstrap machine's priority. before and after name the
// VIP.
func (e election) below(bootstrap vrrp.Priority, before, after string) ([]string, error) {
	top, sum, of := highest(e.Candidates)
	margin := int(bootstrap) - top
	if !beats(bootstrap, vrrp.Priority(top)) {
		return nil, fmt.Errorf("control plane priorities%s reach the bootstrap's: %s, bootstrap "+
			"%d; lower the weights' sum below %d or raise the bootstrap's priority above %d",
			after, sum, bootstrap, int(bootstrap)-int(e.Base), top)
	}
	depends := "its checks, ranks and which one is the holder"
	if equals(e.Candidates) {
		depends = "its checks"
	}
	return []string{fmt.Sprintf("%sno control plane node reaches the bootstrap's priority: %s is "+
		"the highest of all %d outcomes of %s, bootstrap %d, margin %d",
		before, sum, of, depends, bootstrap, margin)}, nil
}

// keep shows that the claims are true of every pair of nodes that they compare, each with its
// narrowest pair.
func (e election) keep() (statements []string, err error) {
	var nodes []node
	for _, s := range e.signals {
		places(e.Candidates, func(rank int, holder bool) {
			n := node{Signals: s, rank: rank, holder: holder}
			n.priority = announced(e.Candidates, n.standing())
			nodes = append(nodes, n)
		})
	}
	slices.SortStableFunc(nodes, func(a, b node) int { return a.priority - b.priority })
	for _, cl := range e.claims {
		statement, broken := narrowest(e.Candidates, cl, nodes)
		if broken {
			err = errors.Join(err, fmt.Errorf("%s must beat %s whatever else works, but %s",
				cl.better, cl.worse, statement))
			continue
		}
		statements = append(statements, fmt.Sprintf("%s beats %s: %s", cl.better, cl.worse,
			statement))
	}
	return statements, err
}

// narrowest finds the pair with the least difference, among nodes in the order of their priorities,
// and reports whether it breaks the claim. A claim that compares no pair is broken, because it
// shows nothing.
func narrowest(c vrrp.Candidates, cl claim, nodes []node) (statement string, broken bool) {
	least := math.MaxInt
	var better, worse node
	others := slices.DeleteFunc(slices.Clone(nodes), func(n node) bool { return !cl.isWorse(n) })
	for _, b := range nodes {
		if !cl.isBetter(b) {
			continue
		}
		for _, w := range slices.Backward(others) {
			if b.priority-w.priority >= least {
				break // the rest is further apart
			}
			if cl.alike(b, w) {
				least, better, worse = b.priority-w.priority, b, w
			}
		}
	}
	if least == math.MaxInt {
		return "no node is such a one", true
	}
	statement = fmt.Sprintf("%s against %s", sum(c, better.standing()), sum(c, worse.standing()))
	return statement, !beats(vrrp.Priority(better.priority), vrrp.Priority(worse.priority))
}

// beats reports whether a node of priority a holds the VIP against one of priority b also if the
// other has the higher address.
func beats(a, b vrrp.Priority) bool {
	low, high := netip.AddrFrom4([4]byte{192, 0, 2, 1}), netip.AddrFrom4([4]byte{192, 0, 2, 254})
	winner, ok := vrrp.Winner([]vrrp.Router{{Priority: a, Address: low},
		{Priority: b, Address: high}})
	return ok && winner == 0
}
