// Package example holds commented inputs that the verbs accept.
package example

import (
	"bytes"
	"embed"
	"fmt"
	"net/netip"
	"text/template"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

//go:embed templates
var files embed.FS

// Images is a file for --images.
func Images() ([]byte, error) { return files.ReadFile("templates/images.json") }

// InstallConfig is an install-config.yaml of OpenShift.
func InstallConfig(p spec.Platform, families string) ([]byte, error) {
	return render("install-config.yaml.tmpl", newNetworks(p, families))
}

// Cluster is a cluster.yaml for any Kubernetes, whose virtual IPs come to hosts in that way.
func Cluster(p spec.Platform, families string, management spec.Management) ([]byte, error) {
	e := newNetworks(p, families)
	if e.Management = management; management == spec.ByBGP {
		e.separate(families)
	}
	if err := e.addRacks(); err != nil {
		return nil, err
	}
	return render("cluster.yaml.tmpl", e)
}

// Managements are the ways in which virtual IPs come to hosts.
func Managements() []spec.Management {
	return []spec.Management{spec.ByVRRP, spec.ByBGP, spec.ByBoth}
}

// render fills an example with the section of its platform.
func render(name string, e networks) ([]byte, error) {
	templates, err := template.ParseFS(files, "templates/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the examples: %w", err)
	}
	var section, text bytes.Buffer
	if t := templates.Lookup(string(e.Platform) + ".yaml.tmpl"); t != nil {
		if err := t.Execute(&section, e); err != nil {
			return nil, err
		}
	}
	e.Section = section.String()
	if err := templates.ExecuteTemplate(&text, name, e); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// networks is what differs between examples. Addresses are those for documentation (RFC 5737, RFC
// 3849) and, inside the cluster, private ones.
type networks struct {
	Platform     spec.Platform
	Families     string // in words
	Machine      []string
	Cluster      []podNetwork
	Service      []string
	API, Ingress []string
	DNS          string // of the primary family
	NameServer   string // outside the cluster, of the primary family
	Section      string // of the platform, in an install-config
	Management   spec.Management
	Racks        []rack
}

// rack is the network of a rack, with its router's addresses.
type rack struct {
	Network string
	ASN     int
	Routers []netip.Addr
}

// addRacks adds a rack for each network of the primary family. Its router has an address of each
// family.
func (e *networks) addRacks() error {
	var prefixes []netip.Prefix
	for _, network := range e.Machine {
		p, err := netip.ParsePrefix(network)
		if err != nil {
			return err
		}
		prefixes = append(prefixes, p)
	}
	second := 0
	for i, p := range prefixes {
		router := p.Addr().Next()
		if p.Addr().Is4() == prefixes[0].Addr().Is4() {
			e.Racks = append(e.Racks, rack{p.String(), 65101 + i, []netip.Addr{router}})
			continue
		}
		e.Racks[second].Routers = append(e.Racks[second].Routers, router)
		second++
	}
	return nil
}

// separate has two racks with a network each, and virtual IPs outside of both.
func (e *networks) separate(families string) {
	e.Machine, e.API, e.Ingress = nil, nil, nil
	e.DNS = "203.0.113.7"
	if families != "ipv6" {
		e.Machine = append(e.Machine, "192.0.2.0/25", "192.0.2.128/25")
		e.API, e.Ingress = append(e.API, "203.0.113.5"), append(e.Ingress, "203.0.113.6")
	} else {
		e.DNS = "2001:db8:99::7"
	}
	if families != "ipv4" {
		e.Machine = append(e.Machine, "2001:db8:1::/64", "2001:db8:3::/64")
		e.API, e.Ingress = append(e.API, "2001:db8:99::5"), append(e.Ingress, "2001:db8:99::6")
	}
}

// podNetwork is a network of pods; each host takes HostPrefix bits of it.
type podNetwork struct {
	CIDR       string
	HostPrefix int
}

// Families are the address families of the examples.
func Families() []string { return []string{"ipv4", "ipv6", "dual"} }

func newNetworks(p spec.Platform, families string) networks {
	titles := map[string]string{"ipv4": "IPv4", "ipv6": "IPv6", "dual": "dual-stack"}
	e := networks{
		Platform: p, Families: titles[families], DNS: "192.0.2.7", NameServer: "198.51.100.53",
	}
	if families != "ipv6" {
		e.Machine = append(e.Machine, "192.0.2.0/24")
		e.Cluster = append(e.Cluster, podNetwork{"10.128.0.0/14", 23})
		e.Service = append(e.Service, "172.30.0.0/16")
		e.API, e.Ingress = append(e.API, "192.0.2.5"), append(e.Ingress, "192.0.2.6")
	}
	if families != "ipv4" {
		e.Machine = append(e.Machine, "2001:db8:1::/64")
		e.Cluster = append(e.Cluster, podNetwork{"fd01::/48", 64})
		e.Service = append(e.Service, "fd02::/112")
		e.API, e.Ingress = append(e.API, "2001:db8:1::5"), append(e.Ingress, "2001:db8:1::6")
	}
	if families == "ipv6" {
		e.DNS, e.NameServer = "2001:db8:1::7", "2001:db8:2::53"
	}
	return e
}
