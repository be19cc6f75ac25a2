package vrrp

import (
	"errors"
	"fmt"
	"slices"
)

// CheckDNS is passed by a node whose own name server answers.
const CheckDNS CheckName = "dns"

// DNSID is the virtual router ID of a cluster's DNS VIP, as clusters had it while they had such a
// VIP: a function of the name alone, raised above those that the cluster's other routers have. It
// is from 1 to 255.
func DNSID(cluster string, others ...ID) ID {
	id := ID(Fletcher8(cluster+"-"+string(DNS))) + 1
	for slices.Contains(others, id) {
		id++
		id = max(id, 1) // 255 is followed by 0, which is no ID
	}
	return id
}

// WithDNS is the policy of a cluster that has a DNS VIP too. The bootstrap machine holds it first,
// whatever works there; a control plane node counts by whether its own name server answers. No
// worker stands for it.
func (p Policy) WithDNS() Policy {
	answers := Weight{Check: CheckDNS, Owner: "CoreDNS", Why: "whoever has the VIP is asked, so its own name server must answer"}
	if p.ControlPlane.equals() {
		answers.Adds = 50
		p.BootstrapDNS, p.DNS = 140, Candidates{Base: 40, Weights: []Weight{answers}}
		return p
	}
	answers.Adds = 120
	p.BootstrapDNS = p.Bootstrap
	p.DNS = Candidates{Base: p.ControlPlane.Base, Ranks: slices.Clone(p.ControlPlane.Ranks), Holder: p.ControlPlane.Holder, Weights: []Weight{answers}}
	return p
}

// dnsSignals are all that can be the case for the DNS VIP.
func dnsSignals() []Signals { return []Signals{{}, {DNS: true}} }

func dnsClaims(c Candidates) []claim {
	claims := []claim{sorts("a node whose name server answers", "one whose does not", func(s Signals) bool { return s.DNS }, func(s Signals) bool { return !s.DNS })}
	if c.equals() {
		return claims
	}
	return append(claims, holds("a node of equal health and any rank", func(s Signals) Signals { return s }))
}

// proveDNS is Prove for the DNS VIP: it says nothing of a policy that has none.
func proveDNS(p Policy) (top Priority, statements []string, err error) {
	if len(p.DNS.Weights) == 0 {
		return 0, nil, nil
	}
	if err := errors.Join(p.DNS.wellFormed("DNS"), inRange("bootstrap DNS", int(p.BootstrapDNS), fmt.Sprint(p.BootstrapDNS))); err != nil {
		return 0, nil, err // numbers out of range cannot be compared
	}
	highest, sum, of := p.DNS.highest()
	if !beats(p.BootstrapDNS, Priority(highest)) {
		err = fmt.Errorf("priorities for the DNS VIP reach the bootstrap's: %s, bootstrap %d; raise the bootstrap's priority above %d", sum, p.BootstrapDNS, highest)
	}
	kept, broken := p.DNS.keep(dnsClaims(p.DNS), dnsSignals())
	if err := errors.Join(err, broken); err != nil {
		return 0, nil, err
	}
	statements = append(statements, fmt.Sprintf("for the DNS VIP no control plane node reaches the bootstrap's priority: %s is the highest of all %d outcomes of %s, bootstrap %d, margin %d",
		sum, of, p.DNS.dependsOn(), p.BootstrapDNS, int(p.BootstrapDNS)-highest))
	return Priority(highest), append(statements, kept...), nil
}
