package health

import "time"

// Policy is how a check is made and when it counts as failed.
type Policy struct {
	Interval time.Duration // from the start of one probe to the next
	Timeout  time.Duration // of one probe
	Fall     int           // probes in a row that must fail
	Rise     int           // probes in a row until a failed check passes again; 0 is 1

	// Refused is how many probes in a row must be refused, where that is enough; 0: as Fall. They
	// leave a program the time to close its port and open it again.
	Refused int

	// Hang is for how long a probe may have no answer until the check fails at once, if another
	// host is ready to serve instead; 0: another host makes no difference.
	Hang time.Duration
}

// Closed is how a node that announces VIPs to routers probes whether a process listens at the ports
// behind a VIP. The kernel answers a connection on the loopback at once, so that a probe has no
// timeout, and a refusal proves on the busiest host that nothing listens there. Two probes leave a
// program the time to close its port and open it again.
func Closed() Policy { return Policy{Interval: 100 * time.Millisecond, Fall: 2} }

// BootstrapAPI is the check of the bootstrap machine's own API server. A restart of a few seconds
// must not move the VIP; its end must not leave the VIP on a machine that serves nothing.
//
// Probes never overlap. Five probes a second apart, side by side, would notice a server that hangs
// after 9 s instead of 25 s. But a starting API server on a slow disk stalls for as long: no other
// host could serve at that time, and the move would cut every connection twice. Once a control
// plane node is ready it can serve, so that one probe that hangs is enough.
func BootstrapAPI() Policy {
	return Policy{Interval: time.Second, Timeout: 5 * time.Second, Fall: 5,
		Hang: 2200 * time.Millisecond}
}

// Balancer is the check of a control plane node's balancer, alone or beside its own API server, and
// of its machine config server. It is slower than the balancer's own checks of its servers, so that
// a server which dies costs a server and not the VIP.
func Balancer() Policy {
	return Policy{Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3, Fall: 3}
}

// Router is the check of a node's ingress router.
func Router() Policy {
	return Policy{Interval: time.Second, Timeout: 900 * time.Millisecond, Rise: 3, Fall: 2}
}

// DefaultRouter is the check whether the node's router is the cluster's own.
func DefaultRouter() Policy {
	return Policy{Interval: 5 * time.Second, Timeout: 4900 * time.Millisecond, Rise: 3, Fall: 2}
}

// Ironic is the check of a node's Ironic. It works at installations of minutes, and may answer late
// while it does; a host asks for an address for a minute and more.
func Ironic() Policy {
	return Policy{Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 2, Fall: 5}
}

// Detects is the longest time from a fault to the verdict, if the first probe of it takes so long
// and each later one so long. The fault may come right after a probe that passed, an interval
// before the first one.
func (p Policy) Detects(first, later time.Duration) time.Duration {
	return p.Interval + first + time.Duration(p.Fall-1)*max(p.Interval, later)
}

// DetectsHang is the longest time from when a service hangs to the verdict, if another host is
// ready.
func (p Policy) DetectsHang() time.Duration { return p.Interval + p.Hang }

// DetectsRefused is the longest time from when nothing listens any more to the verdict.
func (p Policy) DetectsRefused() time.Duration {
	if p.Refused == 0 {
		return p.Detects(0, 0)
	}
	return time.Duration(p.Refused) * p.Interval
}

// Evicts is the shortest time from a fault to the verdict: the fault comes right before a probe,
// and no probe takes any time.
func (p Policy) Evicts() time.Duration { return time.Duration(p.Fall-1) * p.Interval }

// Late is how long an answer may take before another service is probed beside it.
func (p Policy) Late() time.Duration { return p.Interval }

// ServerCheck is how a balancer probes a server. A probe, with its connection and TLS, may take as
// long as Inter.
type ServerCheck struct {
	Inter     time.Duration // from one probe to the next while the server is healthy
	FastInter time.Duration // while probes contradict the server's state
	Fall      int           // probes in a row that must fail
	Rise      int           // probes in a row until a server that is down is up again
}

// Redirect is how a control plane node's monitor probes its balancer. A balancer that exits, or
// answers that it is unhealthy, needs no second probe. After a late answer the next probe follows
// at once. A verdict by mistake costs little: new connections bypass the balancer for a moment.
func Redirect() Policy {
	return Policy{Interval: 300 * time.Millisecond, Timeout: 130 * time.Millisecond, Fall: 3}
}

// DetectsLate is the longest time from when a service hangs to the verdict, if each probe without
// an answer in time is followed by the next one at once.
func (p Policy) DetectsLate() time.Duration {
	return p.Interval + time.Duration(p.Fall)*p.Timeout
}

// GateInterval is the time between two probes whether the API works behind a node's balancer.
const GateInterval = 500 * time.Millisecond

// The limits of every balancer for servers that refuse connections, whatever the pace of its
// checks.
const (
	Connect    = 100 * time.Millisecond // until a connection to a server counts as failed
	Retries    = 3                      // of a connection, on another server
	ErrorLimit = 3                      // failed connections in a row until the server is down
)

// Servers is how a control plane node's balancer probes API servers and machine config servers. A
// verdict by mistake costs little: the server keeps its connections and gets no new ones for a
// moment, and if no server passes, all of them get some.
func Servers() ServerCheck {
	const inter, fast = 220 * time.Millisecond, 40 * time.Millisecond
	return ServerCheck{Inter: inter, FastInter: fast, Fall: 2, Rise: 3}
}

// Detects is the longest time from a fault to the verdict, if each probe takes so long: no time for
// a server that refuses, Inter for one that hangs. The fault comes right after a probe that passed.
func (c ServerCheck) Detects(probe time.Duration) time.Duration {
	return c.Inter + probe + time.Duration(c.Fall-1)*(c.FastInter+probe)
}

// Returns is the longest time until a server that is ready again counts as ready, if each probe
// takes so long.
func (c ServerCheck) Returns(probe time.Duration) time.Duration {
	return c.Inter + probe + time.Duration(c.Rise-1)*(c.FastInter+probe)
}
