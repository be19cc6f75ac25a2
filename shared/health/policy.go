package health

import "time"

// Policy is how a check is made and when it counts as failed.
type Policy struct {
	Interval time.Duration // from the start of one look to the next
	Timeout  time.Duration // the longest that one question takes
	Fall     int           // looks in a row that must fail
	Rise     int           // looks in a row that must pass before a failed check counts as passing again; 0 is 1
}

// BootstrapAPI is the check of the bootstrap machine's own API server. Its restart, which takes a
// few seconds, must not cost the VIP; its end must not leave the VIP on a machine that serves
// nothing.
//
// Looks follow one another and never overlap. Five questions that are asked a second apart and wait
// side by side would notice a server that hangs after 9 s instead of 25 s, but could not tell it
// from one that stalls for 9 s, as a starting API server on a slow disk does: nobody else could
// serve at that time, and the move would cut every connection twice.
func BootstrapAPI() Policy {
	return Policy{Interval: time.Second, Timeout: 5 * time.Second, Fall: 5}
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

// Detects is the longest time from a fault to the verdict, when the first look at it takes so long
// and each later one so long. The fault may come right after a good look, so that the first look at
// it is an interval away.
func (p Policy) Detects(first, later time.Duration) time.Duration {
	return p.Interval + first + time.Duration(p.Fall-1)*max(p.Interval, later)
}

// Evicts is the shortest time from a fault to the verdict: the fault comes right before a look, and
// no look takes any time.
func (p Policy) Evicts() time.Duration { return time.Duration(p.Fall-1) * p.Interval }

// Late is how long an answer may take before something else is asked beside it.
func (p Policy) Late() time.Duration { return p.Interval }

// ServerCheck is how a balancer looks at a server. A look, with its connection and TLS, may take as
// long as Inter.
type ServerCheck struct {
	Inter     time.Duration // from one look to the next while all is well
	FastInter time.Duration // while looks contradict what is believed
	Fall      int           // looks in a row that must fail
	Rise      int           // looks in a row that must pass before a server that is out comes back
}

// Redirect is how a control plane node's monitor asks its balancer whether it serves. A balancer
// that ends, or says no, needs no second look.
func Redirect() Policy {
	return Policy{Interval: 500 * time.Millisecond, Timeout: 500 * time.Millisecond, Fall: 3}
}

// GateInterval is the time between two probes whether the API works behind a node's balancer.
const GateInterval = 500 * time.Millisecond

// What every balancer does about a server that refuses connections, whatever the pace of its
// checks.
const (
	Connect    = 100 * time.Millisecond // until a connection to a server counts as failed
	Retries    = 3                      // of a connection, on another server
	ErrorLimit = 3                      // failed connections in a row until the server is down
)

// Servers is how the balancer of a control plane node looks at API servers and machine config
// servers.
func Servers() ServerCheck {
	return ServerCheck{Inter: 500 * time.Millisecond, FastInter: 200 * time.Millisecond, Fall: 2, Rise: 3}
}

// Detects is the longest time from a fault to the verdict, when each look at the server takes so
// long: nothing of one that refuses, Inter of one that hangs. The fault comes right after a good
// look.
func (c ServerCheck) Detects(look time.Duration) time.Duration {
	return c.Inter + look + time.Duration(c.Fall-1)*(c.FastInter+look)
}

// Returns is the longest time until a server that is ready again counts as ready, when each look
// takes so long.
func (c ServerCheck) Returns(look time.Duration) time.Duration {
	return c.Inter + look + time.Duration(c.Rise-1)*(c.FastInter+look)
}
