// Package setting holds the settings of a cluster beside its own data: how elections run, what is
// announced and served, and by which numbers.
package setting

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// MDNS reports whether the nodes announce themselves by multicast DNS.
type MDNS string

// The choices; none means disabled.
const (
	MDNSEnabled  MDNS = "enabled"
	MDNSDisabled MDNS = "disabled"
)

// Metrics is where programs on the hosts serve their metrics.
type Metrics string

// The choices; none means localhost. Clients at the node's address can read the holders of the
// VIPs, and change nothing.
const (
	MetricsLocalhost Metrics = "localhost"
	MetricsNode      Metrics = "node" // at the node's own addresses as well
)

// Mode is how VRRP advertisements travel between the nodes of a cluster.
type Mode string

// The modes.
const (
	Unicast   Mode = "unicast"
	Multicast Mode = "multicast"
)

// Settings are each with its place: in a file, or on the command line.
type Settings struct {
	Timing, VRRP  document.Scalar[string]
	MDNS, Metrics document.Scalar[string]
	Clash         document.Scalar[string]
	Former        Former
	VRIDs, Ports  map[string]document.Scalar[int]
	// Proof is how late each host was at worst, in microseconds, by its name.
	Proof map[string]document.Scalar[int]
}

// Former is the settings of a live cluster's elections until all nodes can change.
type Former struct {
	At           document.Place
	Given        bool
	Timing, VRRP document.Scalar[string]
	// Management is by what VIPs come to hosts; package routing checks it.
	Management document.Scalar[string]
}

// Read reads the settings out of the map that they stand in.
func Read(r *document.Reader, spec document.Map) Settings {
	former := r.Map(spec.Get("migrateFrom"))
	r.Known(former, "timing", "vrrp", "vipManagement")
	return Settings{
		Timing:  r.Text(spec.Get("timing")),
		VRRP:    r.Text(spec.Get("vrrp")),
		MDNS:    r.Text(spec.Get("mdns")),
		Clash:   r.Text(spec.Get("onClash")),
		Metrics: r.Text(spec.Get("metrics")),
		Former: Former{At: former.At, Given: former.Given,
			Timing: r.Text(former.Get("timing")), VRRP: r.Text(former.Get("vrrp")),
			Management: r.Text(former.Get("vipManagement"))},
		VRIDs: numbers(r, r.Map(spec.Get("vrids"))),
		Ports: numbers(r, r.Map(spec.Get("ports"))),
		Proof: numbers(r, r.Map(spec.Get("timingProof"))),
	}
}

func numbers(r *document.Reader, o document.Map) map[string]document.Scalar[int] {
	numbers := map[string]document.Scalar[int]{}
	for _, name := range o.Names {
		if n := r.Number(o.Get(name)); n.Given {
			numbers[name] = n
		}
	}
	return numbers
}

// Check checks the settings. name is the cluster's, empty if it is not known; hosts must have the
// proof that a timing may need, nil if it is not to be asked for; dns means that its name servers
// have a virtual IP, and provisioning that its hosts are provisioned.
func (s Settings) Check(
	r *document.Report, name string, hosts *Proven, dns, provisioning bool,
) {
	r.OneOf(s.Timing, Timings()...)
	r.OneOf(s.VRRP, string(Unicast), string(Multicast))
	r.OneOf(s.MDNS, string(MDNSEnabled), string(MDNSDisabled))
	r.OneOf(s.Metrics, string(MetricsLocalhost), string(MetricsNode))
	r.OneOf(s.Clash, policies()...)
	s.checkFormer(r)
	s.checkProof(r, hosts)
	checkVRIDs(r, s.VRIDs, name, others(dns, provisioning))
	checkPorts(r, s.Ports)
}

// checkFormer holds that a migration leads from one setting to another, and that both are written:
// the next release may have another default.
func (s Settings) checkFormer(r *document.Report) {
	f := s.Former
	r.OneOf(f.Timing, Timings()...)
	r.OneOf(f.VRRP, string(Unicast), string(Multicast))
	if f.Given && !f.Timing.Given && !f.VRRP.Given && !f.Management.Given {
		r.Errorf(f.At, "is empty: write the former timing, vrrp or vipManagement, or leave "+
			"migrateFrom out")
	}
	for _, pair := range []struct {
		name          string
		former, wants document.Scalar[string]
	}{{"timing", f.Timing, s.Timing}, {"vrrp", f.VRRP, s.VRRP}} {
		switch {
		case !pair.wants.Given:
			r.Refuse(pair.former, "has no successor: write "+pair.name+" beside migrateFrom")
		case pair.wants.OK && pair.wants.Value == pair.former.Value:
			r.Refuse(pair.former,
				"is the "+pair.name+" that is wanted too: leave it out of migrateFrom")
		}
	}
}

// others are the virtual routers that a cluster may have beside those of the API and ingress.
func others(dns, provisioning bool) (all []string) {
	if dns {
		all = append(all, "dns")
	}
	if provisioning {
		all = append(all, "provisioning")
	}
	return all
}

// checkVRIDs checks the virtual router IDs that the user chose, beside those that follow from the
// name. Those of the others avoid the first two unless they are chosen themselves.
func checkVRIDs(
	r *document.Report, chosen map[string]document.Scalar[int], name string, others []string,
) {
	ids := map[string]int{}
	if api, ingress, err := vrrp.IDs(name); err == nil {
		ids["api"], ids["ingress"] = int(api), int(ingress)
	}
	known := append([]string{"api", "ingress"}, others...)
	for _, router := range slices.Sorted(maps.Keys(chosen)) {
		s := chosen[router]
		switch {
		case !slices.Contains(known, router):
			last := len(known) - 1
			r.Errorf(s.At, "there is no virtual router of that name: write %s or %s",
				strings.Join(known[:last], ", "), known[last])
		case s.OK && (s.Value < 1 || s.Value > 255):
			r.Errorf(s.At, "%d is no virtual router ID: choose a number from 1 to 255", s.Value)
		case s.OK:
			ids[router] = s.Value
		}
	}
	if api, ingress := ids["api"], ids["ingress"]; api != 0 && api == ingress {
		at := cmp.Or(chosen["ingress"].At, chosen["api"].At)
		r.Errorf(at, "the API and ingress would both use virtual router ID %d: choose two "+
			"different numbers", api)
	}
	for n, router := range known[2:] {
		id := ids[router]
		for _, other := range known[:2+n] {
			if id != 0 && id == ids[other] {
				r.Errorf(chosen[router].At, "virtual router ID %d is that of %s too: choose "+
					"another number", id, other)
			}
		}
	}
}

func checkPorts(r *document.Report, chosen map[string]document.Scalar[int]) {
	owner := map[int]string{} // of the numbers that are defaults
	var free []string
	for _, p := range port.All() {
		if p.Free {
			free = append(free, p.Name)
		}
		if s := chosen[p.Name]; !p.Free || !s.OK || s.Value < 1 || s.Value > 65535 {
			owner[int(p.Number)] = p.Name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		s := chosen[name]
		p, known := port.Lookup(name)
		switch {
		case !known:
			r.Errorf(s.At, "there is no port of that name: write one of %s",
				strings.Join(free, ", "))
		case !p.Free:
			r.Errorf(s.At, "%s is fixed at %d by %s: leave it out", name, p.Number, p.Owner)
		case s.OK && (s.Value < 1 || s.Value > 65535):
			r.Errorf(s.At, "%d is no port: choose a number from 1 to 65535", s.Value)
		case s.OK:
			checkRange(r, s)
			if first, taken := owner[s.Value]; taken {
				r.Errorf(s.At,
					"%d is the port of %s too: choose another number for one of the two",
					s.Value, first)
				continue
			}
			owner[s.Value] = name
		}
	}
}

// checkRange warns of numbers that something else on the host may take before our program starts.
func checkRange(r *document.Report, s document.Scalar[int]) {
	switch n := s.Value; {
	case n >= 30000 && n <= 32767:
		r.Warnf(s.At, "Kubernetes gives the numbers 30000 to 32767 to Services as node ports and "+
			"this is %d: choose another one", n)
	case n >= 32768 && n <= 60999:
		r.Warnf(s.At, "Linux takes the numbers 32768 to 60999 for outgoing connections and this "+
			"is %d: choose another one", n)
	}
}

// Timings are the names of the timing profiles, the fastest first.
func Timings() (names []string) {
	for _, t := range vrrp.Profiles() {
		names = append(names, t.Profile)
	}
	return names
}

func policies() (words []string) {
	for _, p := range clash.Policies() {
		words = append(words, string(p))
	}
	return words
}
