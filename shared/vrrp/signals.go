package vrrp

// Signals are what really works on a node. Checks are how a configuration sees them.
type Signals struct {
	LB            bool // the balancer serves and traffic for the VIP is redirected to it
	API           bool // the node's own API server is ready
	MCS           bool // the machine-config-server runs
	Router        bool // an ingress router answers
	RouterReady   bool // it is not draining
	DefaultRouter bool // it is the default router
	DNS           bool // the node's own name server answers
}

// Passes reports whether a check passes. A check that nothing drives never does.
func (s Signals) Passes(check CheckName) bool {
	passes, _ := s.judge(check)
	return passes
}

// judge reports whether a check passes, and whether anything drives it.
func (s Signals) judge(check CheckName) (passes, driven bool) {
	switch check {
	case CheckLB:
		return s.LB, true
	case CheckBoth:
		return s.LB || s.API, true
	case CheckMCS:
		return s.MCS, true
	case CheckIngress:
		return s.Router, true
	case CheckIngressReady:
		return s.Router && s.RouterReady, true
	case CheckDefaultIngress:
		return s.DefaultRouter, true
	case CheckDNS:
		return s.DNS, true
	default:
		return false, false
	}
}

// controlPlaneSignals are all that can be the case for the API VIP.
func controlPlaneSignals() []Signals {
	var all []Signals
	for bits := range 8 {
		all = append(all, Signals{LB: bits&1 != 0, API: bits&2 != 0, MCS: bits&4 != 0})
	}
	return all
}

// ingressSignals are all that can be the case for the ingress VIP.
func ingressSignals() []Signals {
	var all []Signals
	for bits := range 8 {
		all = append(all, Signals{Router: bits&1 != 0, RouterReady: bits&2 != 0, DefaultRouter: bits&4 != 0})
	}
	return all
}
