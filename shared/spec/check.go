package spec

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
)

// Check holds a Cluster to the rules that Parse holds a cluster.yaml to, for one that was made or
// changed in another way. Findings have the path of the field in a cluster.yaml, and no line.
func Check(c Cluster) Findings {
	r := &report{}
	d := draft{
		name: word("clusterDomain", c.Name), domain: word("clusterDomain", c.BaseDomain),
		platform:     c.Platform,
		distribution: word("distribution", string(c.Distribution)),
		topology:     word("topology", string(c.Topology)), families: word("families", c.Families),
		replicas: count("controlPlaneReplicas", c.ControlPlaneReplicas,
			c.ControlPlaneReplicas != 0),
		networks:     r.checkNetworks("machineNetworks", c.MachineNetworks),
		clients:      r.checkNetworks("dnsClients", c.DNSClients),
		api:          r.checkVIPs("apiVIPs", c.APIVIPs),
		ingress:      r.checkVIPs("ingressVIPs", c.IngressVIPs),
		loadBalancer: word("loadBalancer", string(c.LoadBalancer)),
		dnsRecords:   word("dnsRecords", string(c.DNSRecords)),
		settings: settings{
			timing: word("timing", c.Timing), vrrp: word("vrrp", string(c.VRRP)),
			mdns:    word("mdns", string(c.MDNS)),
			metrics: word("metrics", string(c.Metrics)),
			clash:   word("onClash", string(c.OnClash)),
			former: former{at: at("migrateFrom"), given: c.MigrateFrom != Former{},
				timing: word("migrateFrom.timing", c.MigrateFrom.Timing),
				vrrp:   word("migrateFrom.vrrp", string(c.MigrateFrom.VRRP))},
			vrids: counts("vrids", c.VRIDs), ports: counts("ports", c.Ports),
		},
		nodes: nodes{
			namespace:    word("namespace", c.Nodes.Namespace),
			kubeconfig:   word("kubeconfig", c.Nodes.Kubeconfig),
			kubeletUnit:  word("kubeletUnit", c.Nodes.KubeletUnit),
			controlPlane: word("nodeLabels.controlPlane", c.Nodes.ControlPlaneLabel),
		},
	}
	for i, dir := range c.Nodes.CertificateDirectories {
		where := at(element("certificateDirectories", i))
		d.nodes.certificates = append(d.nodes.certificates, said[string]{dir, where, true, true})
	}
	if c.DNSVIP.IsValid() {
		d.dns = r.checkVIPs("dnsVIP", []netip.Addr{c.DNSVIP})
	}
	r.oneOf(word("platform", string(c.Platform)), append(installed(), string(None))...)
	for _, key := range slices.Sorted(maps.Keys(c.Images)) {
		s := said[string]{c.Images[key], at(step("images", key)), true, true}
		if !slices.Contains(imageKeys(), key) {
			r.errorf(s.at, "there is no such field: remove it, or use one of %s",
				strings.Join(imageKeys(), ", "))
		} else {
			r.checkImage(s)
		}
	}
	r.checkSettings(d.settings, c.Name, c.DNSVIP.IsValid())
	r.validate(d)
	return r.findings.first()
}

// checkVIPs is a list of virtual IPs, as far as they are addresses that hosts can share.
func (r *report) checkVIPs(field string, addrs []netip.Addr) vips {
	l := vips{at: at(field), given: true, whole: true}
	for i, addr := range addrs {
		err := errors.New("invalid")
		if addr.IsValid() {
			err = nil
		}
		where := at(element(field, i))
		if why := noVIP(addr.String(), addr, err); why != "" {
			r.errorf(where, "%s %s", quote(addr.String()), why)
			l.whole = false
			continue
		}
		l.list = append(l.list, vip{addr, where})
	}
	if len(addrs) > maxVIPs {
		r.errorf(at(element(field, maxVIPs)), tooManyVIPs)
	}
	return l
}

// checkNetworks is a list of networks, as far as hosts can be in them.
func (r *report) checkNetworks(field string, prefixes []netip.Prefix) networks {
	l := networks{at: at(field), whole: true}
	for i, prefix := range prefixes {
		where := at(element(field, i))
		if r.checkNetwork(where, prefix.String(), prefix) {
			l.list = append(l.list, network{prefix, where})
		}
		l.whole = len(l.list) == i+1
	}
	if len(prefixes) > maxNetworks {
		r.errorf(at(element(field, maxNetworks)), tooManyNetworks, maxNetworks)
	}
	return l
}

// at is where a field stands in a cluster.yaml.
func at(field string) place { return place{path: "spec." + field} }

// element is a place in a list.
func element(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// word is a text that was set unless it is empty.
func word(field, text string) said[string] {
	return said[string]{text, at(field), text != "", text != ""}
}

func count(field string, n int, given bool) said[int] { return said[int]{n, at(field), given, given} }

func counts[N uint8 | uint16](field string, numbers map[string]N) map[string]said[int] {
	all := map[string]said[int]{}
	for name, n := range numbers {
		all[name] = count(step(field, name), int(n), true)
	}
	return all
}
