package setting

import (
	"maps"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
)

// Knobs are the settings as the command line gives them; each replaces the field of cluster.yaml
// that it stands for.
type Knobs struct {
	Timing  string
	VRRP    string
	MDNS    string
	Metrics string
	Clash   string
	VRIDs   []string // "api=9", "ingress=10"
	Ports   []string // "NAME=N"
	Proven  []string // "HOST=N", microseconds
	// DNSClients are networks.
	DNSClients []string
}

// Each returns the settings one by one: what is wrong with one of them alone is wrong for every
// cluster.
func (k Knobs) Each() []Knobs {
	all := []Knobs{{Timing: k.Timing, Proven: k.Proven}, {VRRP: k.VRRP}, {MDNS: k.MDNS},
		{Metrics: k.Metrics}, {Clash: k.Clash}, {DNSClients: k.DNSClients}}
	for _, id := range k.VRIDs {
		all = append(all, Knobs{VRIDs: []string{id}})
	}
	for _, port := range k.Ports {
		all = append(all, Knobs{Ports: []string{port}})
	}
	return all
}

// Clients are DNSClients as a list of a document, which is read as that of a cluster.yaml.
func (k Knobs) Clients() document.Value {
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
	for _, text := range k.DNSClients {
		list.Content = append(list.Content,
			&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text})
	}
	return document.Value{Node: list,
		At: document.Place{File: "--dns-clients", Path: "dnsClients"}}
}

// Replace replaces settings of the file by those of the command line.
func (s *Settings) Replace(r *document.Report, k Knobs) {
	for _, knob := range []struct {
		setting          *document.Scalar[string]
		flag, path, text string
	}{
		{&s.Timing, "--timing", "timing", k.Timing}, {&s.VRRP, "--vrrp", "vrrp", k.VRRP},
		{&s.MDNS, "--mdns", "mdns", k.MDNS}, {&s.Metrics, "--metrics", "metrics", k.Metrics},
		{&s.Clash, "--on-clash", "onClash", k.Clash},
	} {
		if knob.text != "" {
			*knob.setting = document.Given(knob.text,
				document.Place{File: knob.flag, Path: knob.path})
		}
	}
	s.VRIDs = pairs(r, s.VRIDs, "--vrid", "vrids", k.VRIDs)
	s.Ports = pairs(r, s.Ports, "--port", "ports", k.Ports)
	s.Proof = pairs(r, s.Proof, "--proven", "timingProof", k.Proven)
}

// pairs reads the NAME=N of a flag that may be repeated.
func pairs(r *document.Report, base map[string]document.Scalar[int], flag, path string,
	pairs []string) map[string]document.Scalar[int] {
	over := map[string]document.Scalar[int]{}
	maps.Copy(over, base)
	seen := map[string]bool{}
	for _, pair := range pairs {
		name, number, ok := strings.Cut(pair, "=")
		at := document.Place{File: flag, Path: document.Step(path, name)}
		n, err := strconv.Atoi(number)
		switch {
		case !ok || name == "" || err != nil:
			r.Errorf(document.Place{File: flag, Path: path},
				"%s is not NAME=N: write a name, an equals sign and a whole number",
				document.Quote(pair))
		case seen[name]:
			r.Errorf(at, "is given twice: leave one of the two")
		default:
			over[name], seen[name] = document.Given(n, at), true
		}
	}
	return over
}
