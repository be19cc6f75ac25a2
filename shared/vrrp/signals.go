package vrrp

// Signals are what really works on a node; a configuration has checks of them.
type Signals struct {
	LB            bool // the balancer serves and traffic for the VIP is redirected to it
	API           bool // the node's own API server is ready
	MCS           bool // the machine-config-server runs
	Router        bool // an ingress router answers
	RouterReady   bool // it is not draining
	DefaultRouter bool // it is the default router
	DNS           bool // the node's own name server answers
	Ironic        bool // the node's Ironic answers
}

// Passes reports whether a check passes; never if nothing drives it.
func (s Signals) Passes(check CheckName) bool {
	passes, _ := s.judge(check)
	return passes
}

// Driven reports whether anything drives a check.
func Driven(check CheckName) bool {
	_, driven := Signals{}.judge(check)
	return driven
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
	case CheckIronic:
		return s.Ironic, true
	default:
		return false, false
	}
}
