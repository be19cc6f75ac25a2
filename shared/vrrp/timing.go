package vrrp

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/health"
)

// Timing is one profile: what the elections of a cluster run on, and how fast everybody looks at
// what they depend on.
type Timing struct {
	Profile string
	Advert  time.Duration // between two adverts of a holder; a whole number of centiseconds (RFC 5798 5.2.7)
	IPv4    Version       // that carries IPv4 VIPs; IPv6 ones are carried by V3 always
	// Refresh is the time between two announcements of a holder to its neighbours, in whole
	// seconds; 0 is a minute, as today. Of two holders that did not hear each other one may vanish,
	// and the other one has no reason of its own to tell the neighbours where the VIP is.
	Refresh time.Duration
	// RealTime asks for keepalived's VRRP process to be scheduled before all that is not real-time
	// (SCHED_RR), where the kernel lets it: what it sends and hears is then in time on a machine
	// that has too much to do. OpenShift's does without.
	RealTime bool

	Checks    map[CheckName]health.Policy // of a cluster node, by the names that its policy has
	Bootstrap health.Policy               // of the bootstrap machine's own API server, the same under every profile
	Server    health.ServerCheck          // the balancer's looks at the API servers
	Redirect  health.Policy               // the monitor's looks at the balancer
}

// What is the same under every profile, as those who go by it do not know which one it is.
const (
	// Grace is what a holder that leaves waits beyond the time in which a router that hears it must
	// have taken the VIP. When nobody can be heard there are two holders for as long as its
	// patience is longer than the other one's.
	Grace = 200 * time.Millisecond
	// Standing is how long a bootstrap machine that serves waits at the least for who takes over
	// from it: a control plane node whose API server is ready may still have to see so behind its
	// balancer, and to start keepalived. Where nodes of another make do not tell it that they have
	// taken over it must not wait.
	Standing = 5 * time.Second
	// Silence is how long a node's monitor may leave its heartbeat as it is before the node's
	// health counts for nothing.
	Silence = 10 * time.Second
	// Beat is the time between two heartbeats, and between two looks at them.
	Beat = time.Second
	// Reaction is the time in which a program that has been woken has acted, on a busy machine of
	// two cores.
	Reaction = 60 * time.Millisecond
)

// The names of the profiles.
const (
	ProfileLan    = "lan"    // one switched network of machines: adverts every 100 ms
	ProfileVM     = "vm"     // virtual machines, whose hosts are busy with others too: adverts every 250 ms
	ProfileCompat = "compat" // OpenShift's nodes of today
)

// Profiles are all timings, the fastest first.
func Profiles() []Timing { return []Timing{lanTiming(), vmTiming(), CompatTiming()} }

// TimingOf finds a profile by its name.
func TimingOf(profile string) (Timing, bool) {
	for _, t := range Profiles() {
		if t.Profile == profile {
			return t, true
		}
	}
	return Timing{}, false
}

// CompatTiming is how OpenShift clusters of today advertise, and what every cluster with such a
// node in it must use.
func CompatTiming() Timing {
	return Timing{
		Profile: ProfileCompat, Advert: time.Second, IPv4: V2,
		Checks:    checks(health.Balancer(), health.Router(), health.DefaultRouter()),
		Bootstrap: health.BootstrapAPI(), Server: health.Servers(), Redirect: health.Redirect(),
	}
}

// HopLimited reports whether every router in the election of a VIP sends with 255 hops, so that what
// comes with fewer has passed a router that is no part of it. In IPv4 all do. OpenShift's nodes of
// today, which advertise once a second, send IPv6 with the kernel's own hop limit of 64.
func HopLimited(vip netip.Addr, advert time.Duration) bool {
	return vip.Is4() || advert < CompatTiming().Advert
}

// lanTiming has the shortest adverts under which no load that was tried has moved a VIP without
// need.
func lanTiming() Timing {
	return Timing{
		Profile: ProfileLan, Advert: 100 * time.Millisecond, IPv4: V3, Refresh: time.Second, RealTime: true,
		Checks: pressing(
			health.Policy{Interval: 250 * time.Millisecond, Timeout: 200 * time.Millisecond, Rise: 3, Fall: 10},
			health.Policy{Interval: 250 * time.Millisecond, Timeout: 200 * time.Millisecond, Rise: 3, Fall: 4},
			health.Policy{Interval: time.Second, Timeout: 900 * time.Millisecond, Rise: 3, Fall: 2},
		),
		Bootstrap: health.BootstrapAPI(), Server: health.Servers(), Redirect: health.Redirect(),
	}
}

func vmTiming() Timing {
	return Timing{
		Profile: ProfileVM, Advert: 250 * time.Millisecond, IPv4: V3, Refresh: time.Second, RealTime: true,
		Checks: pressing(
			health.Policy{Interval: 500 * time.Millisecond, Timeout: 400 * time.Millisecond, Rise: 3, Fall: 6},
			health.Policy{Interval: 500 * time.Millisecond, Timeout: 400 * time.Millisecond, Rise: 3, Fall: 4},
			health.Policy{Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3, Fall: 2},
		),
		Bootstrap: health.BootstrapAPI(), Server: health.Servers(), Redirect: health.Redirect(),
	}
}

// checks are the policies of a node's checks: of what stands at its balancer, of its ingress
// router, and whether that is the default one.
func checks(balancer, router, standard health.Policy) map[CheckName]health.Policy {
	return map[CheckName]health.Policy{
		CheckLB: balancer, CheckBoth: balancer, CheckMCS: balancer,
		CheckIngress: router, CheckIngressReady: router,
		CheckDNS:            router, // nothing else stands in for it either
		CheckDefaultIngress: standard,
	}
}

// pressing are the policies of a node's checks where only what a VIP is lost without is looked at
// often: what makes one node that serves better than another can wait. The machine config server
// stands at the balancer too, which is to notice first.
func pressing(balancer, router, rest health.Policy) map[CheckName]health.Policy {
	all := checks(balancer, router, rest)
	all[CheckIngressReady] = rest
	rest.Fall = 4
	all[CheckMCS] = rest
	return all
}

// Policy is who should hold the VIPs under this timing.
func (t Timing) Policy() Policy {
	if t.Profile == ProfileCompat {
		return Compat()
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

// Skew is how much longer than three advertisements a backup of a priority waits, so that the best
// one speaks first. After a farewell it is all that a backup waits. Version 2 counts in 1/256 of a
// second whatever the interval (RFC 3768 6.1), version 3 in 1/256 of the master's interval (RFC
// 5798 6.1).
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

// Patience is how long a holder waits that has sunk below everybody and serves on until it hears
// who has taken over: longer than the slowest router, whatever its priority.
func Patience(v Version, advert time.Duration) time.Duration { return MasterDown(v, 0, advert) + Grace }

// Outlives is how long a VIP may stay on a host on which nobody speaks for it any more, as what
// stands behind it may serve on: until the slowest router, whatever its priority, has taken it.
func Outlives(v Version, advert time.Duration) time.Duration {
	return MasterDown(v, 0, advert) + Reaction
}
