package matrix

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_2/types"

	"github.com/onprem-infra/onprem-infra/cluster"
	byoperator "github.com/onprem-infra/onprem-infra/cluster/mco/described"
	"github.com/onprem-infra/onprem-infra/cluster/mco/static"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/announcing"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// planted is a router's password in every cell that has one.
const planted = `s3cret"{{.}}\<&>'` + "\u00fc\U0001f600"

// routedCells are the kinds of clusters whose hosts announce VIPs by BGP: the operator has that on
// bare metal alone.
func routedCells() (all []cell) {
	for _, families := range spec.Families() {
		for _, topology := range shapes {
			all = append(all, cell{platform: spec.BareMetal, balancer: spec.Managed, records: spec.Internal, families: families, topology: topology, routed: true})
		}
	}
	return all
}

// peersOf are the routers, with the word for BFD of an install-config or of the operator's text.
func (c cell) peersOf(field, bfd string) string {
	var all []map[string]any
	for i, address := range c.inOrder("192.0.2.1", "2001:db8:1::1", false) {
		peer := map[string]any{"peerAddress": address, "peerASN": 65101, field: bfd}
		if i == 0 {
			peer["password"] = planted
		}
		all = append(all, peer)
	}
	text, _ := json.Marshal(all)
	return string(text)
}

// peersJSON is what the installer makes of them for the operator.
func (c cell) peersJSON() string {
	api, _ := json.Marshal(c.api())
	ingress, _ := json.Marshal(c.ingress())
	return fmt.Sprintf(`{"localASN":64512,"defaultPeers":%s,"communities":["64512:100"],"apiVIPs":%s,"ingressVIPs":%s}`, c.peersOf("bfdEnabled", "true"), api, ingress)
}

// routedTree is the tree for an operator that knows vipManagement.
func routedTree(t *testing.T) []asset.File {
	t.Helper()
	return tree(t, spec.Cluster{Routing: spec.Routing{Management: spec.ByBGP}})
}

// node is what a node has of an Ignition config after it has described the cluster to itself: by
// the operator's file, and by the units that do it.
func node(t *testing.T, config types.Config) asset.Set {
	t.Helper()
	given := set(t, config)
	b := asset.Builder{By: "operator"}
	made, units := 0, 0
	for _, f := range given.Files() {
		if f.Path != byoperator.Path {
			b.Goods(f)
			if strings.Contains(string(f.Contents), "s3cret") {
				t.Errorf("%s has the password", f.Path)
			}
			continue
		}
		files, findings := byoperator.Of(f.Path, f.Contents)
		if findings.HasErrors() || f.Mode != 0o600 {
			t.Fatalf("%s, mode %o: %v", f.Path, f.Mode, findings)
		}
		b.File(plan.Path, 0o644, files.Cluster)
		if files.Passwords != nil {
			b.File(spoken.PasswordsFile, 0o600, files.Passwords)
		}
		made++
	}
	for _, u := range given.Units() {
		if strings.HasPrefix(u.Name, "onprem-describe.") && u.Enabled {
			units++
			continue
		}
		b.Units(u)
	}
	if made != 1 || units != 2 {
		t.Errorf("%d files of the operator's and %d units that read them", made, units)
	}
	all, err := b.Set()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// TestRouted holds that the templates, filled in for a cluster whose hosts announce VIPs, and after
// a node has made its description of the operator's, are what that cluster's nodes get otherwise.
func TestRouted(t *testing.T) {
	o, err := operatorWith(routedTree(t), routedFuncs)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range routedCells() {
		described, _ := c.described(t)
		p := compiled(t, described)
		for _, r := range p.Roles() {
			if !slices.Contains(role.Nodes(), r) {
				continue
			}
			config, err := o.render(c.controllerConfig(), string(r))
			if err != nil {
				t.Fatalf("%s, %s: %v", c, r, err)
			}
			want, err := cluster.AssetsWith(p, r, announcing.PasswordsOf(described.Routing))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(announcing.PasswordsOf(described.Routing)), planted) {
				t.Fatal("there is no password to lose")
			}
			got := slices.DeleteFunc(node(t, config).Tree(), func(f asset.File) bool {
				return r == role.Arbiter && f.Path == spoken.PasswordsFile // its template is that of all roles
			})
			if err := alike(got, want.Tree()); err != nil {
				t.Fatalf("%s, %s: %v", c, r, err)
			}
		}
	}
}

// TestRouted_Others holds that the same templates give every other cluster what those for a release
// without vipManagement give it, file by file.
func TestRouted_Others(t *testing.T) {
	before, err := operatorWith(tree(t, spec.Cluster{}), routedFuncs)
	if err != nil {
		t.Fatal(err)
	}
	o, err := operatorWith(routedTree(t), routedFuncs)
	if err != nil {
		t.Fatal(err)
	}
	same := func(what string, config *controllerConfigSpec) {
		t.Helper()
		for _, r := range role.Nodes() {
			was, err := before.render(config, string(r))
			if err != nil {
				t.Fatal(err)
			}
			is, err := o.render(config, string(r))
			if err != nil {
				t.Fatal(err)
			}
			if err := alike(set(t, is).Tree(), set(t, was).Tree()); err != nil {
				t.Fatalf("%s, %s: %v", what, r, err)
			}
		}
	}
	for _, c := range cells() {
		same(c.String(), c.controllerConfig())
	}
	// The owner of a balancer decides where VIPs are.
	c := routedCells()[0]
	c.balancer = spec.UserManaged
	same("with a balancer of the user's", c.controllerConfig())
	keepalived := cells()[0].controllerConfig()
	keepalived.Infra.Status.PlatformStatus.BareMetal.VIPManagement = "Keepalived"
	same("as it says itself", keepalived)
}

// TestRouted_FormerReleases holds that nothing of it is in the templates that are written without
// being asked for: a release that lacks the function could not read a single one of its nodes'.
func TestRouted_FormerReleases(t *testing.T) {
	for _, f := range tree(t, spec.Cluster{}) {
		for _, word := range []string{"BGP", "VIPManagement", "frrK8s", "FRRK8s", "onprem-describe", "operator.json"} {
			if strings.Contains(string(f.Contents), word) || strings.Contains(f.Path, word) {
				t.Errorf("%s has %q", f.Path, word)
			}
		}
	}
	if _, err := newOperator(routedTree(t)); err == nil || !strings.Contains(err.Error(), `function "isBGPVIPManagement" not defined`) {
		t.Errorf("a release without the function: %v", err)
	}
}

// TestRouted_Over lays the tree over the operator's own speakers: none of them is left.
func TestRouted_Over(t *testing.T) {
	all := map[string]asset.File{}
	for _, name := range []string{
		"common/on-prem/files/0020-kube-vip-ingress.yaml", "common/on-prem/files/0021-kube-vip-ingress-secondary.yaml",
		"master/00-master/on-prem/files/0000-frr-k8s.yaml", "master/00-master/on-prem/files/0010-kube-vip-api.yaml",
		"master/00-master/on-prem/files/0011-kube-vip-api-secondary.yaml", "master/00-master/on-prem/files/frr-k8s-conf.yaml",
		"master/00-master/on-prem/files/frr-k8s-peers.yaml", "master/00-master/on-prem/files/frr-k8s-startup-daemons.yaml",
		"master/00-master/on-prem/files/frr-k8s-startup-vtysh.yaml", "master/00-master/on-prem/units/frr-k8s-hostpath.service.yaml",
	} {
		text := fmt.Sprintf("mode: 0644\npath: /theirs/%s\ncontents:\n  inline: theirs\n", path.Base(name))
		if strings.Contains(name, "/units/") {
			text = "name: frr-k8s-hostpath.service\nenabled: true\ncontents: theirs\n"
		}
		all["/templates/"+name] = asset.File{Path: "/templates/" + name, Contents: []byte(text)}
	}
	for _, f := range routedTree(t) {
		all[f.Path] = f
	}
	var laid []asset.File
	for _, f := range all {
		laid = append(laid, f)
	}
	o, err := operatorWith(laid, routedFuncs)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range role.Nodes() {
		config, err := o.render(routedCells()[0].controllerConfig(), string(r))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range set(t, config).Tree() {
			if strings.Contains(string(f.Contents)+f.Path, "theirs") {
				t.Errorf("%s: %s is the operator's", r, f.Path)
			}
		}
	}
}

// TestRouted_Bootstrap holds that the manifests of the bootstrap command are, for such a cluster,
// the speaker's pod with the description that it makes, and CoreDNS's without a password.
func TestRouted_Bootstrap(t *testing.T) {
	o, err := operatorWith(routedTree(t), routedFuncs)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range routedCells() {
		described, _ := c.described(t)
		p := compiled(t, described)
		made, err := o.bootstrap(c.controllerConfig())
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		files, findings := byoperator.Of(static.RoutersFile, []byte(made[static.RoutersFile]))
		if findings.HasErrors() || string(files.Cluster) != string(plan.Encode(p)) || string(files.Passwords) != string(announcing.PasswordsOf(described.Routing)) {
			t.Fatalf("%s: %v, got\n%s\nwant\n%s", c, findings, files.Cluster, plan.Encode(p))
		}
		speaker := made["/etc/kubernetes/manifests/0000-frr-k8s.yaml"]
		if want := string(pod.Render(static.Speaker(p))); speaker != want {
			t.Fatalf("%s: got\n%s\nwant\n%s", c, speaker, want)
		}
		dns, err := plan.Parse(static.CoreDNSFile, []byte(made[static.CoreDNSFile]))
		if err != nil {
			t.Fatalf("%s: CoreDNS's description: %v", c, err)
		}
		if !slices.Equal(dns.VIPs.API, p.VIPs.API) || fmt.Sprint(dns.Records) != fmt.Sprint(p.Records) || dns.Families != p.Families {
			t.Errorf("%s: CoreDNS would answer otherwise", c)
		}
		for at, text := range made {
			if at != static.RoutersFile && strings.Contains(text, "s3cret") {
				t.Errorf("%s: %s has the password", c, at)
			}
			if strings.Contains(at, "kube-vip") && strings.Trim(text, "\n")[0] != '#' {
				t.Errorf("%s: %s is a pod:\n%s", c, at, text)
			}
		}
		if made["/etc/kubernetes/manifests/keepalived.yaml"] != "" || made["/etc/kubernetes/manifests/coredns.yaml"] == "" {
			t.Errorf("%s: other pods: %v", c, made)
		}
	}
	// Other clusters' bootstrap machines get what they got.
	before, err := newOperator(tree(t, spec.Cluster{}))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cells() {
		was, errWas := before.bootstrap(c.controllerConfig())
		is, errIs := o.bootstrap(c.controllerConfig())
		if errWas != nil || errIs != nil || fmt.Sprint(was) != fmt.Sprint(is) {
			t.Fatalf("%s: %v, %v, got\n%v\nwant\n%v", c, errWas, errIs, is, was)
		}
	}
}

// TestRouted_Hostile puts hostile passwords into the operator's text: each is in the one file of
// mode 0600 alone, and comes out of it as it went in, or the node refuses the text.
func TestRouted_Hostile(t *testing.T) {
	o, err := operatorWith(routedTree(t), routedFuncs)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for _, mark := range []string{
		"", `"`, `\`, `\u0022`, `", "asn": "1`, "{{ .PullSecret }}", "#", "'", "<&>", "*x", "!x", "\u00fc", "\U0001f600", "%n", "`", "$(id)",
		"\n10.9.9.9 x", " x", "\t", "\x00", "\x7f", "\u0085", "\u2028", "\r",
	} {
		hostile := "s3cret" + mark
		c := routedCells()[0]
		config := c.controllerConfig()
		quoted, _ := json.Marshal(hostile)
		old, _ := json.Marshal(planted)
		config.BGPVIPPeersJSON = strings.Replace(config.BGPVIPPeersJSON, string(old), string(quoted), 1)
		made, err := o.render(config, "master")
		if err != nil {
			t.Fatalf("%q: %v", hostile, err)
		}
		for _, f := range set(t, made).Files() {
			has := strings.Contains(string(f.Contents), "s3cret")
			if has != (f.Path == byoperator.Path) || has && f.Mode != fs.FileMode(0o600) {
				t.Errorf("%q is in %s, mode %o", hostile, f.Path, f.Mode)
			}
			if !has {
				continue
			}
			files, findings := byoperator.Of(f.Path, f.Contents)
			if strings.Contains(fmt.Sprint(findings)+string(files.Cluster), "s3cret") {
				t.Errorf("%q leaks: %v\n%s", hostile, findings, files.Cluster)
			}
			passwords, err := spoken.Passwords(string(files.Passwords))
			switch {
			case findings.HasErrors() && strings.ContainsAny(mark, "\n\r\t \x00\x7f\u0085\u2028"):
			case findings.HasErrors() || err != nil || len(passwords) != 1 || passwords["192.0.2.1"].Reveal() != hostile:
				t.Errorf("%q: %v, %v, %d passwords", hostile, findings, err, len(passwords))
			default:
				kept++
			}
		}
	}
	if kept < 14 {
		t.Errorf("only %d passwords were kept", kept)
	}
}
