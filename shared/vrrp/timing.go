package vrrp

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// Timing is one profile: the timers of a cluster's elections, and of the probes that they depend
// on.
type Timing struct {
	Profile string
	// between two adverts of a holder; a whole number of centiseconds (RFC 5798 5.2.7)
	Advert time.Duration
	IPv4   Version // that carries IPv4 VIPs; IPv6 ones are carried by V3 always
	// Refresh is the time between two gratuitous ARPs of a holder, in whole seconds; 0 is a minute,
	// as today. Two holders may not receive each other's adverts. If one of them vanishes, the
	// other has no event upon which it would announce the VIP again.
	Refresh time.Duration
	// RealTime schedules keepalived's VRRP process before all that is not real-time (SCHED_RR), if
	// the kernel allows it. Its adverts are then in time also on an overloaded host. OpenShift's
	// keepalived runs without.
	RealTime bool

	Checks    map[CheckName]health.Policy // of a cluster node, by the names that its policy has
	Bootstrap health.Policy               // of the bootstrap's API server, in every profile
	Server    health.ServerCheck          // the balancer's probes of the API servers
	Redirect  health.Policy               // the monitor's probes of the balancer
}

// What is the same under every profile, because its readers do not know the profile.
const (
	// Grace is how much longer a demoted holder waits than the time in which a router that receives
	// its adverts takes over. If no router receives them, there are dual holders for that long.
	Grace = 200 * time.Millisecond
	// Standing is how long a bootstrap machine that serves waits at least for its successor. The
	// balancer of a control plane node may still have to detect its ready API server, and
	// keepalived to start. The machine must not wait for nodes of another release, which do not
	// report that they have taken over.
	Standing = 5 * time.Second
	// Silence is how long a node's monitor may leave its heartbeat as it is before the node's
	// health counts for nothing.
	Silence = 10 * time.Second
	// Beat is the time between two heartbeats, and between two checks of them.
	Beat = time.Second
	// Reaction is the time in which a program that has been woken has acted, on a busy machine of
	// two cores.
	Reaction = 60 * time.Millisecond
)

// The names of the profiles.
const (
	ProfileFast   = "fast"   // as lan, on hosts that were proven to be in time: every 50 ms
	ProfileLan    = "lan"    // one switched network of machines: adverts every 100 ms
	ProfileVM     = "vm"     // virtual machines on shared hosts: adverts every 250 ms
	ProfileCompat = "compat" // OpenShift's nodes of today
)

// Profiles are all timings, the fastest first.
func Profiles() []Timing { return []Timing{fastTiming(), lanTiming(), vmTiming(), CompatTiming()} }

// TimingOf finds a profile by its name.
func TimingOf(profile string) (Timing, bool) {
	for _, t := range Profiles() {
		if t.Profile == profile {
			return t, true
		}
	}
	return Timing{}, false
}

// CompatTiming is the timing of OpenShift's clusters of today. Every cluster with such a node must
// use it.
func CompatTiming() Timing {
	return Timing{Profile: ProfileCompat, Advert: time.Second, IPv4: V2,
		Checks: checks(health.Balancer(), health.Router(), health.DefaultRouter())}.probed()
}

// probed adds the probes that are the same under every profile.
func (t Timing) probed() Timing {
	t.Bootstrap, t.Server = health.BootstrapAPI(), health.Servers()
	t.Redirect = health.Redirect()
	return t
}

// HopLimited reports whether every VRRP router of a VIP sends with 255 hops, so that an advert with
// fewer has been forwarded from another network. In IPv4 all do. OpenShift's nodes of today, which
// advertise once a second, send IPv6 with the kernel's hop limit of 64.
func HopLimited(vip netip.Addr, advert time.Duration) bool {
	return vip.Is4() || advert < CompatTiming().Advert
}

// fastTiming is for hosts that were measured never to be late by more than a part of what it
// bears (package timingproof): under a storm of forks it has moved VIPs without need.
func fastTiming() Timing {
	t := lanTiming()
	t.Profile, t.Advert = ProfileFast, 50*time.Millisecond
	return t
}

// lanTiming has the shortest advert interval at which no tested load has moved a VIP without need.
func lanTiming() Timing {
	return Timing{
		Profile: ProfileLan, Advert: 100 * time.Millisecond, IPv4: V3, Refresh: time.Second,
		RealTime: true,
		Checks: pressing(
			health.Policy{Interval: 250 * time.Millisecond, Timeout: 200 * time.Millisecond,
				Rise: 3, Fall: 10},
			health.Policy{Interval: 200 * time.Millisecond, Timeout: 150 * time.Millisecond,
				Rise: 3, Fall: 5, Refused: 2},
			health.Policy{Interval: time.Second, Timeout: 900 * time.Millisecond, Rise: 3, Fall: 2},
		),
	}.probed()
}

func vmTiming() Timing {
	return Timing{
		Profile: ProfileVM, Advert: 250 * time.Millisecond, IPv4: V3, Refresh: time.Second,
		RealTime: true,
		Checks: pressing(
			health.Policy{Interval: 500 * time.Millisecond, Timeout: 400 * time.Millisecond,
				Rise: 3, Fall: 6},
			health.Policy{Interval: 500 * time.Millisecond, Timeout: 400 * time.Millisecond,
				Rise: 3, Fall: 4, Refused: 2},
			health.Policy{Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3,
				Fall: 2},
		),
	}.probed()
}

// checks are the policies of a node's checks: of what its balancer serves, of its ingress router,
// and of whether that is the default one.
func checks(balancer, router, standard health.Policy) map[CheckName]health.Policy {
	return map[CheckName]health.Policy{
		CheckLB: balancer, CheckBoth: balancer, CheckMCS: balancer,
		CheckIngress: router, CheckIngressReady: router,
		CheckDNS:            router, // nothing else can serve in its place either
		CheckDefaultIngress: standard,
		CheckIronic:         health.Ironic(),
	}
}

// pressing are the policies of a node's checks where only what a VIP cannot do without is probed
// often. What makes one serving node better than another can wait. The machine config server is
// behind the balancer too, which must detect its faults first.
func pressing(balancer, router, rest health.Policy) map[CheckName]health.Policy {
	all := checks(balancer, router, rest)
	all[CheckIngressReady] = rest
	rest.Fall = 4
	all[CheckMCS] = rest
	return all
}

// Policy is the priority scheme under this timing.
func (t Timing) Policy() Policy {
	switch t.Profile {
	case ProfileCompat:
		return Compat()
	case ProfileFast:
		return FastRanked()
	}
	return Ranked()
}

// Version is the version that carries a VIP: version 2 cannot carry IPv6.
func (t Timing) Version(vip netip.Addr) Version {
	if vip.Is4() {
		return t.IPv4
	}
	return V3
}

// Skew is how much longer than three advert intervals a backup of a priority waits, so that the
// best one advertises first. After a release (priority 0) it is all that a backup waits. Version 2
// counts in 1/256 of a second whatever the interval (RFC 3768 6.1), version 3 in 1/256 of the
// master's interval (RFC 5798 6.1).
func Skew(v Version, p Priority, advert time.Duration) time.Duration {
	unit := time.Second
	if v == V3 {
		unit = advert
	}
	return time.Duration(256-int(p)) * unit / 256
}

// MasterDown is how long a backup of a priority waits after the last advertisement before it takes
// the VIP: three intervals and its skew (RFC 3768 6.1, RFC 5798 6.1).
func MasterDown(v Version, p Priority, advert time.Duration) time.Duration {
	return 3*advert + Skew(v, p, advert)
}

// Patience is how long a demoted holder waits at most for the advert of the node that has taken
// over, and serves: longer than the slowest router, whatever its priority.
func Patience(v Version, advert time.Duration) time.Duration {
	return MasterDown(v, 0, advert) + Grace
}

// Outlives is how long an orphaned VIP may stay on a host, because what is behind it may still
// serve: until the slowest router, whatever its priority, has taken over.
func Outlives(v Version, advert time.Duration) time.Duration {
	return MasterDown(v, 0, advert) + Reaction
}
