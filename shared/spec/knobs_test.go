package spec

import (
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/clash"
)

func TestKnobs(t *testing.T) {
	text := edit{"  platform: none", "  platform: none\n  timing: compat\n  vrrp: multicast\n  mdns: disabled\n  metrics: localhost\n  onClash: refuse\n  vrids: {api: 7}\n  ports: {lb: 7000}"}.of(t, goodCluster)
	cluster, findings := Parse("c", []byte(text), Knobs{
		Timing: "vm", VRRP: "unicast", MDNS: "enabled", Metrics: "node", Clash: "report", VRIDs: []string{"api=9", "ingress=10"}, Ports: []string{"lb-ready=7001"},
	})
	if len(findings) > 0 {
		t.Fatal(lines(findings))
	}
	if cluster.Timing != "vm" || cluster.VRRP != Unicast || cluster.MDNS != MDNSEnabled || cluster.Metrics != MetricsNode || cluster.OnClash != clash.Report ||
		!maps.Equal(cluster.VRIDs, map[string]uint8{"api": 9, "ingress": 10}) ||
		!maps.Equal(cluster.Ports, map[string]uint16{"lb": 7000, "lb-ready": 7001}) {
		t.Errorf("flags do not stand over the file: %+v", cluster)
	}
}

func TestKnobFindings(t *testing.T) {
	for _, tt := range []struct {
		name  string
		knobs Knobs
		want  string
	}{
		{"timing unknown", Knobs{Timing: "x"}, `--timing: error: timing: "x" is not known: write one of fast, lan, vm, compat`},
		{"vrrp unknown", Knobs{VRRP: "x"}, `--vrrp: error: vrrp: "x" is not known: write one of unicast, multicast`},
		{"metrics unknown", Knobs{Metrics: "vip"}, `--metrics: error: metrics: "vip" is not known: write one of localhost, node`},
		{"mdns unknown", Knobs{MDNS: "x"}, `--mdns: error: mdns: "x" is not known: write one of enabled, disabled`},
		{"clients that are no network", Knobs{DNSClients: []string{"10.0.0.0/8", "10.0.0.1"}}, `--dns-clients: error: dnsClients[1]: "10.0.0.1" has no prefix length: write the network, such as 192.0.2.0/24`},
		{"clash unknown", Knobs{Clash: "x"}, `--on-clash: error: onClash: "x" is not known: write one of report, refuse`},
		{"vrid without a name", Knobs{VRIDs: []string{"9"}}, `--vrid: error: vrids: "9" is not NAME=N: write a name, an equals sign and a whole number`},
		{"vrid without a number", Knobs{VRIDs: []string{"api="}}, `--vrid: error: vrids: "api=" is not NAME=N: write a name, an equals sign and a whole number`},
		{"vrid zero", Knobs{VRIDs: []string{"api=0"}}, `--vrid: error: vrids.api: 0 is no virtual router ID: choose a number from 1 to 255`},
		{"vrid too large", Knobs{VRIDs: []string{"ingress=256"}}, `--vrid: error: vrids.ingress: 256 is no virtual router ID: choose a number from 1 to 255`},
		{"vrid twice", Knobs{VRIDs: []string{"api=8", "api=9"}}, `--vrid: error: vrids.api: is given twice: leave one of the two`},
		{"vrid unknown", Knobs{VRIDs: []string{"dns=9"}}, `--vrid: error: vrids.dns: there is no virtual router of that name: write api or ingress`},
		{"vrids equal", Knobs{VRIDs: []string{"api=9", "ingress=9"}}, `--vrid: error: vrids.ingress: the API and ingress would both use virtual router ID 9: choose two different numbers`},
		{"vrid equal to the other's own", Knobs{VRIDs: []string{"ingress=2"}}, `--vrid: error: vrids.ingress: the API and ingress would both use virtual router ID 2: choose two different numbers`},
		{"port beyond numbers", Knobs{Ports: []string{"lb=99999999999999999999"}}, `--port: error: ports: "lb=99999999999999999999" is not NAME=N: write a name, an equals sign and a whole number`},
		{"port fixed", Knobs{Ports: []string{"dns=5353"}}, `--port: error: ports.dns: dns is fixed at 53 by CoreDNS: leave it out`},
		{"port of another", Knobs{Ports: []string{"lb=6443"}}, `--port: error: ports.lb: 6443 is the port of api too: choose another number for one of the two`},
		{"fast with a proof of each node", Knobs{Timing: "fast", Proven: []string{"a=900", "b=1100", "c=2000"}}, ""},
		{"fast with a proof of two", Knobs{Timing: "fast", Proven: []string{"a=900", "b=1100"}}, `--timing: error: timing: timing fast needs a proof of 3 hosts at least, and has one of 2: run onprem-infra doctor --timing-proof 1m on every host that may hold a VIP, and write what each prints under timingProof, or as --proven`},
		{"a host that was late", Knobs{Timing: "fast", Proven: []string{"a=900", "b=26000", "c=2000"}}, `--proven: error: timingProof.b: b was 26ms late, and timing fast allows up to 25.9ms: find out what keeps it busy and measure again, or write timing: lan`},
		{"a proof of no host", Knobs{Proven: []string{"M0=900"}}, `--proven: error: timingProof.M0: "M0" is no host name: use lower-case letters, digits, inner hyphens and dots, with at most 63 characters between dots`},
		{"a proof of no time", Knobs{Proven: []string{"a=0"}}, `--proven: error: timingProof.a: 0 is no time in microseconds that a host was late: write a number from 1 to 10000000`},
		{"a proof of an hour", Knobs{Proven: []string{"a=3600000000"}}, `--proven: error: timingProof.a: 3600000000 is no time in microseconds that a host was late: write a number from 1 to 10000000`},
		{"a proof without a number", Knobs{Proven: []string{"a=1ms"}}, `--proven: error: timingProof: "a=1ms" is not NAME=N: write a name, an equals sign and a whole number`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, findings := Parse("c", []byte(goodCluster), tt.knobs)
			hold(t, goodCluster, findings)
			if got := strings.TrimSuffix(lines(findings), "\n"); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestProofFindings holds that a description which lists the control plane warns of each host without a
// proof, by whichever form of its name, that one which lists a part of it counts alone, and that spare
// hosts, which nobody can measure yet, need none.
func TestProofFindings(t *testing.T) {
	const measure = ": run onprem-infra doctor --timing-proof 1m on each of them, and write what each prints under timingProof, or as --proven\n"
	for _, tt := range []struct {
		name, text string
		proven     []string
		want       string
	}{
		{"each host", goodProvisioned, []string{"m0=900", "m1=900", "m2.prod.example.com=900", "w0=900"}, ""},
		{"other hosts", goodProvisioned, []string{"foo=1", "bar=2", "mm2=3"}, `--timing: warning: timing: timing fast needs a proof of each control plane node, and has none of m0, m1, m2` + measure +
			`--timing: warning: timing: timing fast has no proof of w0, which may hold the ingress VIP` + measure +
			`--proven: warning: timingProof.bar: no host that may hold a VIP is listed by that name: keep it if a host calls itself so, or is to join later
--proven: warning: timingProof.foo: no host that may hold a VIP is listed by that name: keep it if a host calls itself so, or is to join later
--proven: warning: timingProof.mm2: no host that may hold a VIP is listed by that name: spell it m2 where that is meant
`},
		{"one of none", goodProvisioned, []string{"m0=900", "m1=900", "w0=900", "w1=900"}, `--timing: warning: timing: timing fast needs a proof of each control plane node, and has none of m2` + measure +
			`--proven: warning: timingProof.w1: no host that may hold a VIP is listed by that name: keep it if a host calls itself so, or is to join later
`},
		{"a worker of none", goodProvisioned, []string{"m0=900", "m1=900", "m2=900"}, `--timing: warning: timing: timing fast has no proof of w0, which may hold the ingress VIP` + measure},
		{"roles that are filled in", edit{"- name: m2\n      role: master", "- name: m2"}.of(t, goodProvisioned), []string{"m0=900", "m1=900", "w0=900"},
			`c:26:7: warning: platform.baremetal.hosts[2].role: is missing: the host "m2" is taken as a master, as by the installer: write role: master
` + `--timing: warning: timing: timing fast needs a proof of each control plane node, and has none of m2` + measure},
		{"a spare one of none", edit{"- name: w0\n      role: worker", "- name: w0\n      role: master"}.of(t, goodProvisioned), []string{"m0=900", "m1=900", "m2=900"}, `c:18:5: warning: platform.baremetal.hosts: there are fewer hosts of the role worker than replicas, 0 and 1, and only the agent-based installer takes that: list the others
` +
			`c:30:7: warning: platform.baremetal.hosts[3]: the control plane has 3 nodes before it in the list, and no more replicas: "w0" is spare; write more replicas, or remove the host
`},
		{"too few", goodProvisioned, []string{"m0=900"}, `--timing: error: timing: timing fast needs a proof of 3 hosts at least, and has one of 1` + strings.Replace(measure, "each of them", "every host that may hold a VIP", 1) +
			`--timing: warning: timing: timing fast has no proof of w0, which may hold the ingress VIP` + measure},
		{"hosts that are not all listed", goodInstallConfig, []string{"a=900", "b=900", "c=900"}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, findings := Parse("c", []byte(tt.text), Knobs{Timing: "fast", Proven: tt.proven})
			if got := lines(findings); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// TestKnobs_DNSClients holds that an install-config, which has no such field, can restrict who asks the
// name servers, and that the flag stands over the field of a cluster.yaml.
func TestKnobs_DNSClients(t *testing.T) {
	want := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("198.51.100.0/24")}
	own := edit{"  platform: none", "  platform: none\n  dnsClients: [203.0.113.0/24]"}.of(t, goodCluster)
	for name, text := range map[string]string{"install-config": goodProvisioned, "cluster.yaml": own} {
		cluster, findings := Parse("c", []byte(text), Knobs{DNSClients: []string{"10.0.0.0/8", "198.51.100.0/24"}})
		if len(findings) > 0 || !slices.Equal(cluster.DNSClients, want) {
			t.Errorf("%s: %v\n%s", name, cluster.DNSClients, lines(findings))
		}
	}
}

// Flags are read even where the file cannot be, so that all findings come at once.
func TestKnobFindingsWithoutACluster(t *testing.T) {
	_, findings := Parse("c", nil, Knobs{Timing: "quick", Ports: []string{"lb"}})
	if len(findings) != 3 || findings[0].File != "c" {
		t.Errorf("got\n%s", lines(findings))
	}
}

// Ports that exchange their numbers are two different ports still.
func TestPortsExchanged(t *testing.T) {
	_, findings := Parse("c", []byte(goodCluster), Knobs{Ports: []string{"lb=9444", "lb-ready=9445"}})
	if len(findings) > 0 {
		t.Error(lines(findings))
	}
}
