// Package described makes the files of a host that announces VIPs by BGP out of the one in which
// the Machine Config Operator describes its cluster.
//
// The operator has the routers as one text of JSON, with their passwords, which no function of its
// templates reads. So a template writes that text into a file that root alone may read, and the
// host itself makes of it what every other host gets from elsewhere: a cluster description that all
// may read, and the file of passwords.
package described

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/network"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
)

const (
	// Path is the operator's file on a node: a cluster.json with Field in the place of bgp and
	// vipManagement. It has passwords, and mode 0600.
	Path = "/etc/onprem-infra-speaker/operator.json"
	// Field is the operator's text of routers, a string.
	Field = "bgpVIPPeersJSON"
)

// Files are a host's.
type Files struct {
	Cluster   []byte // cluster.json, without a password
	Passwords []byte // lines as spoken.Passwords reads them; nil for none
}

// Of makes a host's files from the text of the operator's file; findings name that file by name.
// The result is the zero value if one of the findings is an error. No finding has a password.
func Of(name string, text []byte) (Files, spec.Findings) {
	r := document.NewReader(name, "a cluster.json with the operator's text of routers")
	root, ok := r.Read(text)
	if !ok {
		return Files{}, r.Findings.First()
	}
	cluster := r.Map(r.Map(root).Get("spec"))
	routers := r.Text(cluster.Get(Field))
	if !routers.OK || routers.Value == "" {
		r.Errorf(routers.At, "has no routers: fix config.json of the ConfigMap bgp-vip-config in "+
			"openshift-network-operator, of which the operator makes it")
		return Files{}, r.Findings.First()
	}
	a := addresses(r, cluster)
	if len(a.Machines.All) == 0 {
		r.Errorf(a.Machines.At, "has no network, by which hosts know their routers: the "+
			"Infrastructure object has those of the install-config's networking.machineNetwork")
	}
	by, hosts, findings := read(name, routers.Value, a)
	if findings = append(r.Findings.First(), findings...); findings.HasErrors() {
		return Files{}, findings
	}
	described, wrong := spec.Parse(name, with(text, by, hosts), spec.Knobs{})
	if wrong.HasErrors() {
		return Files{}, append(findings, wrong...)
	}
	p, err := plan.Compile(described)
	if err != nil {
		return Files{}, append(findings, finding(name, err.Error()))
	}
	return Files{Cluster: plan.Encode(p), Passwords: announcing.PasswordsOf(by)}, findings
}

func finding(name, text string) spec.Finding {
	return spec.Finding{File: name, Severity: spec.Error, Path: "spec." + Field, Text: text}
}

// addresses are the cluster's addresses, by which the routers are checked.
func addresses(r *document.Reader, cluster document.Map) network.Addresses {
	return network.Addresses{
		Platform: spec.BareMetal, Machines: network.ReadNetworks(r, cluster.Get("machineNetworks")),
		API:     network.ReadVIPs(r, cluster.Get("apiVIPs")),
		Ingress: network.ReadVIPs(r, cluster.Get("ingressVIPs")),
	}
}

// read reads the operator's text of routers by the rules for an install-config, of which the
// installer makes it, and finds the networks that have hosts. Findings have the fields of that
// install-config.
func read(name, text string, a network.Addresses) (
	by routing.Settings, hosts []netip.Prefix, all spec.Findings) {
	section, err := sectionOf(text)
	if err != nil {
		return by, nil, spec.Findings{finding(name, err.Error())}
	}
	r := document.NewReader(name, "a map")
	root, ok := r.Read(section)
	if !ok {
		return by, nil, r.Findings.First()
	}
	draft := routing.ReadInstallConfig(r, r.Map(root), a)
	draft.Check(&r.Report, routing.Around{Addresses: a})
	all = r.Findings.First()
	for i := range all { // places in the section are of no file
		all[i].Line, all[i].Column = 0, 0
	}
	return draft.Values(), network.Prefixes(draft.OfHosts(a.Machines)), all
}

// with is the operator's file with our fields in the place of its own, and with the networks of
// hosts alone: each of them has a rack.
func with(text []byte, by routing.Settings, hosts []netip.Prefix) []byte {
	fields := map[string]any{}
	routed.AddFields(fields, by)
	values := func(v any) []byte {
		text, err := json.Marshal(v)
		if err != nil {
			panic("described: texts and numbers cannot fail to marshal: " + err.Error())
		}
		return text
	}
	var b bytes.Buffer
	for line := range bytes.Lines(text) {
		switch field := bytes.TrimLeft(line, " "); {
		case bytes.HasPrefix(field, []byte(`"`+Field+`":`)):
			line = fmt.Appendf(nil, "    \"vipManagement\": %q,\n    \"bgp\": %s,\n", by.Management,
				values(fields["bgp"]))
		case bytes.HasPrefix(field, []byte(`"machineNetworks":`)):
			line = fmt.Appendf(nil, "    \"machineNetworks\": %s,\n", values(hosts))
		}
		b.Write(line)
	}
	return b.Bytes()
}
