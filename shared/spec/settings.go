package spec

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

// checkSettings checks the knobs. name is the cluster's, empty if it is not known, and dns means
// that its name servers have a virtual IP.
func (r *report) checkSettings(s settings, name string, dns bool) {
	r.oneOf(s.timing, Timings()...)
	r.oneOf(s.vrrp, string(Unicast), string(Multicast))
	r.oneOf(s.mdns, string(MDNSEnabled), string(MDNSDisabled))
	r.oneOf(s.metrics, string(MetricsLocalhost), string(MetricsNode))
	r.oneOf(s.clash, policies()...)
	r.checkFormer(s)
	r.checkVRIDs(s.vrids, name, dns)
	r.checkPorts(s.ports)
}

// oneOf reports a word that is not in a closed list.
func (r *report) oneOf(s document.Scalar[string], words ...string) {
	if s.OK && !slices.Contains(words, s.Value) {
		r.Errorf(s.At, "%s is not known: write one of %s", document.Quote(s.Value),
			strings.Join(words, ", "))
	}
}

// checkVRIDs checks the virtual router IDs that the user chose, beside those that follow from the
// name. That of the DNS VIP makes way for the other two unless it is chosen itself.
func (r *report) checkVRIDs(chosen map[string]document.Scalar[int], name string, dns bool) {
	ids := map[string]int{}
	if api, ingress, err := vrrp.IDs(name); err == nil {
		ids["api"], ids["ingress"] = int(api), int(ingress)
	}
	for _, router := range slices.Sorted(maps.Keys(chosen)) {
		s := chosen[router]
		switch {
		case router == "dns" && dns, router == "api", router == "ingress":
		default:
			r.Errorf(s.At, "there is no virtual router of that name: write %s",
				map[bool]string{true: "api, ingress or dns", false: "api or ingress"}[dns])
			continue
		}
		switch {
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
	if id := ids["dns"]; id != 0 && (id == ids["api"] || id == ids["ingress"]) {
		r.Errorf(chosen["dns"].At,
			"virtual router ID %d is that of the API or ingress too: choose another number", id)
	}
}

func (r *report) checkPorts(chosen map[string]document.Scalar[int]) {
	numbers := map[string]int{}
	for _, name := range slices.Sorted(maps.Keys(chosen)) {
		s := chosen[name]
		p, known := port.Lookup(name)
		switch {
		case !known:
			r.Errorf(s.At, "there is no port of that name: write one of %s",
				strings.Join(choosable(), ", "))
		case !p.Free:
			r.Errorf(s.At, "%s is fixed at %d by %s: leave it out", name, p.Number, p.Owner)
		case s.OK && (s.Value < 1 || s.Value > 65535):
			r.Errorf(s.At, "%d is no port: choose a number from 1 to 65535", s.Value)
		case s.OK:
			numbers[name] = s.Value
			r.checkRange(s)
		}
	}
	owner := map[int]string{} // of the numbers that are defaults
	for _, p := range port.All() {
		if _, chosen := numbers[p.Name]; !chosen {
			owner[int(p.Number)] = p.Name
		}
	}
	for _, name := range slices.Sorted(maps.Keys(numbers)) {
		if first, taken := owner[numbers[name]]; taken {
			r.Errorf(chosen[name].At,
				"%d is the port of %s too: choose another number for one of the two",
				numbers[name], first)
			continue
		}
		owner[numbers[name]] = name
	}
}

// checkRange warns of numbers that something else on the host may take before our program starts.
func (r *report) checkRange(s document.Scalar[int]) {
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
func Timings() []string {
	var names []string
	for _, t := range vrrp.Profiles() {
		names = append(names, t.Profile)
	}
	return names
}

func policies() []string {
	var words []string
	for _, p := range clash.Policies() {
		words = append(words, string(p))
	}
	return words
}

// Families are the sets of IP families that a cluster can have, spelt as the Machine Config
// Operator spells them: the primary one first.
func Families() []string { return []string{"IPv4", "IPv6", "DualStack", "DualStackIPv6Primary"} }

func choosable() []string {
	var names []string
	for _, p := range port.All() {
		if p.Free {
			names = append(names, p.Name)
		}
	}
	return names
}
