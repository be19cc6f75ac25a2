package spec

import (
	"errors"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
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
		lists: lists{
			networks: r.checkNetworks("machineNetworks", c.MachineNetworks),
			clients:  r.checkNetworks("dnsClients", c.DNSClients),
			api:      r.checkVIPs("apiVIPs", c.APIVIPs),
			ingress:  r.checkVIPs("ingressVIPs", c.IngressVIPs),
		},
		loadBalancer: word("loadBalancer", string(c.LoadBalancer)),
		dnsRecords:   word("dnsRecords", string(c.DNSRecords)),
		settings: settings{
			timing: word("timing", c.Timing), vrrp: word("vrrp", string(c.VRRP)),
			mdns:    word("mdns", string(c.MDNS)),
			metrics: word("metrics", string(c.Metrics)),
			clash:   word("onClash", string(c.OnClash)),
			former: former{At: at("migrateFrom"), Given: c.MigrateFrom != Former{},
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
		d.nodes.certificates = append(d.nodes.certificates, document.Given(dir, where))
	}
	if c.DNSVIP.IsValid() {
		d.dns = r.checkVIPs("dnsVIP", []netip.Addr{c.DNSVIP})
	}
	r.oneOf(word("platform", string(c.Platform)), append(platforms(), string(None))...)
	for _, key := range slices.Sorted(maps.Keys(c.Images)) {
		s := document.Given(c.Images[key], at(document.Step("images", key)))
		if !slices.Contains(imageKeys(), key) {
			r.Errorf(s.At, "there is no such field: remove it, or use one of %s",
				strings.Join(imageKeys(), ", "))
		} else {
			r.checkImage(s)
		}
	}
	r.checkSettings(d.settings, c.Name, c.DNSVIP.IsValid())
	r.validate(d)
	return r.Findings.First()
}

// checkVIPs is a list of virtual IPs, as far as they are addresses that hosts can share.
func (r *report) checkVIPs(field string, addrs []netip.Addr) vips {
	l := vips{At: at(field), Given: true, whole: true}
	for i, addr := range addrs {
		err := errors.New("invalid")
		if addr.IsValid() {
			err = nil
		}
		where := at(element(field, i))
		if why := noVIP(addr.String(), addr, err); why != "" {
			r.Errorf(where, "%s %s", document.Quote(addr.String()), why)
			l.whole = false
			continue
		}
		l.list = append(l.list, vip{addr, where})
	}
	if len(addrs) > maxVIPs {
		r.Errorf(at(element(field, maxVIPs)), tooManyVIPs)
	}
	return l
}

// checkNetworks is a list of networks, as far as hosts can be in them.
func (r *report) checkNetworks(field string, prefixes []netip.Prefix) networks {
	l := networks{At: at(field), whole: true}
	for i, prefix := range prefixes {
		where := at(element(field, i))
		if r.checkNetwork(where, prefix.String(), prefix) {
			l.list = append(l.list, network{prefix, where})
		}
		l.whole = len(l.list) == i+1
	}
	if len(prefixes) > maxNetworks {
		r.Errorf(at(element(field, maxNetworks)), tooManyNetworks, maxNetworks)
	}
	return l
}

// at is where a field stands in a cluster.yaml.
func at(field string) document.Place { return document.Place{Path: "spec." + field} }

// element is a place in a list.
func element(field string, i int) string { return fmt.Sprintf("%s[%d]", field, i) }

// word is a text that was set unless it is empty.
func word(field, text string) document.Scalar[string] {
	return document.Scalar[string]{Value: text, At: at(field), Given: text != "", OK: text != ""}
}

func count(field string, n int, given bool) document.Scalar[int] {
	return document.Scalar[int]{Value: n, At: at(field), Given: given, OK: given}
}

func counts[N uint8 | uint16](field string, numbers map[string]N) map[string]document.Scalar[int] {
	all := map[string]document.Scalar[int]{}
	for name, n := range numbers {
		all[name] = count(document.Step(field, name), int(n), true)
	}
	return all
}
