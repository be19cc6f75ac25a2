package described_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/mco/described"
	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// routers is what the installer writes for two racks and one host with routers of its own.
const routers = `{"localASN":64512,"defaultPeers":[{"peerAddress":"10.1.0.1","peerASN":65101,"password":"s3cret","port":179,"bfdEnabled":"true"},` +
	`{"peerAddress":"10.2.0.1","peerASN":65102,"bfdEnabled":"true","holdTime":"9","keepaliveTime":"3"}],"communities":["64512:100"],` +
	`"apiVIPs":["198.51.100.5"],"ingressVIPs":["198.51.100.6"],"hostOverrides":{"m0":[{"peerAddress":"10.9.0.1","peerASN":65103,"password":"an0ther","ebgpMultiHop":"true"}]}}`

// file is the operator's file with a text of routers, as a template quotes it.
func file(text string) string {
	return fmt.Sprintf(`{
  "apiVersion": "onprem-infra.io/v1alpha1",
  "kind": "Cluster",
  "spec": {
    "apiVIPs": ["198.51.100.5"],
    "bgpVIPPeersJSON": %q,
    "clusterDomain": "ostest.test.metalkube.org",
    "families": "IPv4",
    "images": {
      "frrImage": "registry.example.com/frr:1"
    },
    "ingressVIPs": ["198.51.100.6"],
    "machineNetworks": ["10.1.0.0/24", "10.2.0.0/24"],
    "platform": "BareMetal",
    "topology": "HighlyAvailable"
  }
}
`, text)
}

// own is the same cluster in our own words.
const own = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
spec:
  clusterDomain: ostest.test.metalkube.org
  platform: baremetal
  topology: HighlyAvailable
  machineNetworks: [10.1.0.0/24, 10.2.0.0/24]
  apiVIPs: [198.51.100.5]
  ingressVIPs: [198.51.100.6]
  images: {frrImage: "registry.example.com/frr:1"}
  vipManagement: bgp
  bgp:
    asn: 64512
    communities: ["64512:100"]
    racks:
    - {network: 10.1.0.0/24, holdTime: 9s, keepaliveTime: 3s, peers: [{address: 10.1.0.1, asn: 65101}]}
    - {network: 10.2.0.0/24, holdTime: 9s, keepaliveTime: 3s, peers: [{address: 10.2.0.1, asn: 65102}]}
    - {name: m0, bfdInterval: none, peers: [{address: 10.9.0.1, asn: 65103, hops: 254}]}
`

// TestOf holds that the operator's text of routers becomes our description, byte for byte, and its passwords the file
// that hosts read.
func TestOf(t *testing.T) {
	got, findings := described.Of("operator.json", []byte(file(routers)))
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	c, wrong := spec.Parse("cluster.yaml", []byte(own), spec.Knobs{})
	if wrong.HasErrors() {
		t.Fatal(wrong)
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	if want := plan.Encode(p); string(got.Cluster) != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got.Cluster, want)
	}
	if want := "10.1.0.1 s3cret\n10.9.0.1 an0ther\n"; string(got.Passwords) != want {
		t.Errorf("passwords %q, want %q", got.Passwords, want)
	}
	if again, err := plan.Parse(plan.Path, got.Cluster); err != nil || again.BGP == nil {
		t.Errorf("a host does not read it: %v", err)
	}
	if len(findings) > 0 {
		t.Errorf("a router without a word of BFD has none: %v", findings)
	}
	newer, findings := described.Of("operator.json", []byte(file(strings.NewReplacer(`"bfdEnabled":"true"`, `"failureDetection":"BFD"`, `"ebgpMultiHop":"true"`, `"peerReachability":"MultiHop","BFDEnabled":"false"`,
		`"holdTime":"9","keepaliveTime":"3"`, `"holdTimeSeconds":9,"keepaliveTimeSeconds":3`).Replace(routers))))
	if string(newer.Cluster) != string(got.Cluster) || findings.HasErrors() {
		t.Errorf("in the words of a newer install-config: %v\n%s", findings, newer.Cluster)
	}
	none, findings := described.Of("operator.json", []byte(file(strings.NewReplacer(`"password":"s3cret",`, "", `"password":"an0ther",`, "").Replace(routers))))
	if none.Passwords != nil || findings.HasErrors() || string(none.Cluster) != string(got.Cluster) {
		t.Errorf("without passwords: %q, %v", none.Passwords, findings)
	}
}

// TestOf_VIPs holds that a machine network for virtual IPs alone, in which the installer may want them, is none of the
// hosts'.
func TestOf_VIPs(t *testing.T) {
	want, _ := described.Of("operator.json", []byte(file(routers)))
	more := strings.Replace(file(routers), `["10.1.0.0/24",`, `["10.1.0.0/24", "198.51.100.0/24",`, 1)
	if got, findings := described.Of("operator.json", []byte(more)); string(got.Cluster) != string(want.Cluster) || len(findings) > 0 {
		t.Errorf("%v\n%s\nwant\n%s", findings, got.Cluster, want.Cluster)
	}
}

// TestOf_Wrong holds that nothing is made of a text with a mistake, that each mistake is named where the user made it,
// and that no finding repeats a password.
func TestOf_Wrong(t *testing.T) {
	for name, tt := range map[string]struct{ from, to, want string }{
		"no JSON":                  {`"localASN":64512`, `localASN`, "spec.bgpVIPPeersJSON: is no JSON from byte "},
		"two texts":                {`"apiVIPs":["198.51.100.5"],"ingressVIPs":["198.51.100.6"],`, `"x":{}}{`, "is not one map"},
		"a list of hosts":          {`"hostOverrides":{"m0":[`, `"hostOverrides":[[`, "spec.bgpVIPPeersJSON: is no JSON from byte "},
		"no number":                {`"localASN":64512,`, "", "has no asn"},
		"a number of none":         {`"peerASN":65101`, `"peerASN":"x"`, "bgpVIPConfig.peers[0].peerASN"},
		"an address of none":       {`"10.2.0.1"`, `"router"`, "bgpVIPConfig.peers[1].peerAddress"},
		"another port":             {`"port":179`, `"port":1790`, "bgpVIPConfig.peers[0].port: 1790 is not the port of BGP"},
		"a blank in a password":    {"an0ther", "an0 s3cret", "hosts[0].bgpPeers[0].password: has a blank or a control character"},
		"a password of two lines":  {"an0ther", `an0\n10.1.0.1 s3cret`, "hosts[0].bgpPeers[0].password: has a blank or a control character"},
		"an end in a password":     {"an0ther", `an0\u0000s3cret`, "hosts[0].bgpPeers[0].password: has a blank or a control character"},
		"a number as password":     {`"an0ther"`, `7`, "hosts[0].bgpPeers[0].password: want a string"},
		"a password too long":      {"an0ther", strings.Repeat("s3cret", 14), "hosts[0].bgpPeers[0].password: has 84 bytes"},
		"two passwords":            {`"peerAddress":"10.9.0.1"`, `"peerAddress":"10.1.0.1"`, "hosts[0].bgpPeers[0].password: differs"},
		"a community of none":      {"64512:100", "none", `communities[0]: "none" is no community`},
		"a hold time of none":      {`"holdTime":"9"`, `"holdTime":"soon"`, `holdTime: "soon" is no time`},
		"no routers":               {routers, "", "spec.bgpVIPPeersJSON: has no routers"},
		"a router of the hosts":    {`"peerASN":65102`, `"peerASN":64512`, "is the hosts' own number"},
		"a name that is no host's": {`"m0"`, `"m 0"`, "is no name of a rack"},
	} {
		changed := strings.Replace(routers, tt.from, tt.to, 1)
		if changed == routers {
			t.Fatalf("%s: nothing is changed", name)
		}
		got, findings := described.Of("operator.json", []byte(file(changed)))
		var all strings.Builder
		for _, f := range findings {
			fmt.Fprintln(&all, f)
		}
		if got.Cluster != nil || got.Passwords != nil || !findings.HasErrors() || !strings.Contains(all.String(), tt.want) {
			t.Errorf("%s: want %q, got %s%s", name, tt.want, all.String(), got.Cluster)
		}
		if strings.Contains(all.String(), "s3cret") || strings.Contains(all.String(), "an0") {
			t.Errorf("%s: a finding has a password: %s", name, all.String())
		}
	}
	good := file(routers)
	for name, text := range map[string]string{
		"no document":         "a: [",
		"a cluster.json":      strings.Replace(good, "bgpVIPPeersJSON", "clusterDomains", 1),
		"a domain of none":    strings.Replace(good, `"ostest.test.metalkube.org"`, `"-"`, 1),
		"a VIP of none":       strings.Replace(good, `["198.51.100.5"]`, `["here"]`, 1),
		"a VIP in a network":  strings.Replace(good, `["198.51.100.5"]`, `["10.1.0.5"]`, 1),
		"no machine networks": strings.Replace(good, `["10.1.0.0/24", "10.2.0.0/24"]`, `[]`, 1),
	} {
		if got, findings := described.Of("operator.json", []byte(text)); !findings.HasErrors() || got.Cluster != nil || strings.Contains(fmt.Sprint(findings), "s3cret") {
			t.Errorf("%s: %v\n%s", name, findings, got.Cluster)
		}
	}
}

// FuzzOf holds for any text of routers: no panic, and a password only in its own file, which hosts read.
func FuzzOf(f *testing.F) {
	f.Add(routers, "s3cret")
	f.Add(`{"localASN":"1.10","defaultPeers":[{}],"hostOverrides":{"":null}}`, "a\x00b")
	f.Add(`{"defaultPeers":{"a":[1e99]},"communities":7}`, "\"\\\u2028\U0001f600<&>")
	f.Add("null", "")
	f.Fuzz(func(t *testing.T, text, password string) {
		text = strings.ReplaceAll(text, "s3cret", strings.Trim(fmt.Sprintf("%q", password), `"`))
		got, findings := described.Of("operator.json", []byte(file(text)))
		if findings.HasErrors() == (got.Cluster != nil) {
			t.Fatalf("neither findings nor files: %v", findings)
		}
		if got.Cluster == nil {
			return
		}
		p, err := plan.Parse(plan.Path, got.Cluster)
		if err != nil || p.BGP == nil {
			t.Fatalf("a host does not read it: %v\n%s", err, got.Cluster)
		}
		if err := announcing.CheckPasswords(*p.BGP, string(got.Passwords)); err != nil {
			t.Errorf("the speaker refuses its file: %v", err)
		}
		if len(password) > 8 && strings.Contains(string(got.Cluster), password) {
			t.Errorf("%q is in\n%s", password, got.Cluster)
		}
		if _, err := spoken.Passwords(string(got.Passwords)); err != nil {
			t.Error(err)
		}
	})
}
