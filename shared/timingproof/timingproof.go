// Package timingproof is how late a host and its network were while that was measured, and which
// timing profiles such a host may have.
package timingproof

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Lateness is how late something was, of so many times.
type Lateness struct {
	Times int           `json:"times"`
	P999  time.Duration `json:"p999Ns"` // 999 of 1,000 were no later
	Most  time.Duration `json:"mostNs"`
}

// Of is the lateness of all these times, which it sorts.
func Of(late []time.Duration) Lateness {
	if len(late) == 0 {
		return Lateness{}
	}
	slices.Sort(late)
	return Lateness{Times: len(late), P999: late[(len(late)*999+999)/1000-1],
		Most: late[len(late)-1]}
}

// Sender is the router of another host whose adverts were received.
type Sender struct {
	Address  netip.Addr    `json:"address"`
	Router   int           `json:"router"` // its virtual router ID
	Interval time.Duration `json:"intervalNs"`
	Late     Lateness      `json:"late"` // of each advert, beyond an interval after the one before
}

// Proof is one measurement on one host.
type Proof struct {
	Host     string        `json:"host"`
	At       time.Time     `json:"at"`
	Lasted   time.Duration `json:"lastedNs"`
	RealTime bool          `json:"realTime"` // the thread had real-time scheduling
	Thread   Lateness      `json:"thread"`   // of a thread with keepalived's scheduling
	Senders  []Sender      `json:"senders"`
}

// Fallback is the profile of a cluster whose hosts are later than a proof allows.
const Fallback = vrrp.ProfileLan

// Needed reports whether a timing needs a proof of the hosts.
func Needed(t vrrp.Timing) bool { return t.Profile == vrrp.ProfileFast }

// Least is how long a measurement must last to prove anything.
const Least = time.Minute

// safety is the factor by which what a profile bears must exceed what was measured.
const safety = 4

// Bears is how late an advert may be under a timing until a backup takes over by mistake: the best
// one waits for three intervals and its skew (RFC 5798 6.1), of which one passes in any case.
func Bears(t vrrp.Timing) time.Duration {
	best := t.Policy().ControlPlane.Highest()
	return vrrp.MasterDown(t.IPv4, best, t.Advert) - t.Advert
}

// Allowed is how late a host with a timing may be at worst.
func Allowed(t vrrp.Timing) time.Duration { return Bears(t) / safety }

// Worst is the largest lateness that was measured.
func (p Proof) Worst() time.Duration {
	worst := p.Thread.Most
	for _, s := range p.Senders {
		worst = max(worst, s.Late.Most)
	}
	return worst
}

// Faults are why a host may not have a timing; none if it may.
func (p Proof) Faults(t vrrp.Timing) (all []string) {
	if p.Lasted < Least {
		all = append(all, fmt.Sprintf("it was measured for %v: measure for %v at least",
			p.Lasted.Round(time.Second), Least))
	}
	if !p.RealTime {
		all = append(all, "the kernel gave no real-time scheduling: measure as root, with "+
			"CAP_SYS_NICE")
	}
	if len(p.Senders) == 0 {
		all = append(all, "no adverts of another host were received: measure while another host "+
			"holds a VIP")
	}
	if worst := p.Worst(); worst > Allowed(t) {
		all = append(all, fmt.Sprintf("something was %v late, and timing %s bears %v, of which a "+
			"quarter may be used", worst.Round(time.Microsecond), t.Profile,
			Bears(t).Round(time.Millisecond)))
	}
	return all
}

// Encode is the proof as JSON, with what it says of a timing.
func (p Proof) Encode(t vrrp.Timing) ([]byte, error) {
	p.Senders = append([]Sender{}, p.Senders...)
	return json.MarshalIndent(struct {
		Proof
		Timing  string        `json:"timing"`
		Allowed time.Duration `json:"allowedNs"`
		Faults  []string      `json:"faults"`
	}{p, t.Profile, Allowed(t), append([]string{}, p.Faults(t)...)}, "", "  ")
}

// Same reports whether two names are of one host, whose name may have its domain or not.
func Same(a, b string) bool {
	return a == b || strings.HasPrefix(a, b+".") || strings.HasPrefix(b, a+".")
}

// Lacking are those of the hosts of which there is no proof.
func Lacking[N any](proofs map[string]N, hosts []string) (without []string) {
	for _, host := range hosts {
		proven := false
		for name := range proofs {
			proven = proven || Same(name, host)
		}
		if !proven {
			without = append(without, host)
		}
	}
	return without
}
