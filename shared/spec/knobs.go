package spec

import (
	"strconv"
	"strings"
)

// Knobs are the settings beside the cluster's own data as the command line gives them; each
// replaces the field of cluster.yaml that it stands for.
type Knobs struct {
	Timing  string
	VRRP    string
	MDNS    string
	Metrics string
	Clash   string
	VRIDs   []string // "api=9", "ingress=10"
	Ports   []string // "NAME=N"
}

// Each returns the settings one by one: what is wrong with one of them alone is wrong for every
// cluster.
func (k Knobs) Each() []Knobs {
	all := []Knobs{{Timing: k.Timing}, {VRRP: k.VRRP}, {MDNS: k.MDNS}, {Metrics: k.Metrics}, {Clash: k.Clash}}
	for _, id := range k.VRIDs {
		all = append(all, Knobs{VRIDs: []string{id}})
	}
	for _, port := range k.Ports {
		all = append(all, Knobs{Ports: []string{port}})
	}
	return all
}

// settings are the knobs wherever they came from.
type settings struct {
	timing, vrrp  said[string]
	mdns, metrics said[string]
	clash         said[string]
	former        former
	vrids, ports  map[string]said[int]
}

// knobs lays the command line over what the file says.
func (r *report) knobs(s *settings, k Knobs) {
	if k.Timing != "" {
		s.timing = said[string]{k.Timing, place{file: "--timing", path: "timing"}, true, true}
	}
	if k.VRRP != "" {
		s.vrrp = said[string]{k.VRRP, place{file: "--vrrp", path: "vrrp"}, true, true}
	}
	if k.MDNS != "" {
		s.mdns = said[string]{k.MDNS, place{file: "--mdns", path: "mdns"}, true, true}
	}
	if k.Metrics != "" {
		s.metrics = said[string]{k.Metrics, place{file: "--metrics", path: "metrics"}, true, true}
	}
	if k.Clash != "" {
		s.clash = said[string]{k.Clash, place{file: "--on-clash", path: "onClash"}, true, true}
	}
	s.vrids = r.pairs(s.vrids, "--vrid", "vrids", k.VRIDs)
	s.ports = r.pairs(s.ports, "--port", "ports", k.Ports)
}

// pairs reads the NAME=N of a flag that may be repeated.
func (r *report) pairs(base map[string]said[int], flag, path string, pairs []string) map[string]said[int] {
	over := map[string]said[int]{}
	for name, n := range base {
		over[name] = n
	}
	seen := map[string]bool{}
	for _, pair := range pairs {
		name, number, ok := strings.Cut(pair, "=")
		at := place{file: flag, path: step(path, name)}
		n, err := strconv.Atoi(number)
		switch {
		case !ok || name == "" || err != nil:
			r.errorf(place{file: flag, path: path}, "%s is not NAME=N: write a name, an equals sign and a whole number", quote(pair))
		case seen[name]:
			r.errorf(at, "is given twice: leave one of the two")
		default:
			over[name], seen[name] = said[int]{n, at, true, true}, true
		}
	}
	return over
}
