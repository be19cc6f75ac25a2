package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// TestRender_RoutersAndBack holds that a live node's tree goes from VRRP to both and back by consent alone, keeps the
// routers' passwords meanwhile, and loses them with the routers.
func TestRender_RoutersAndBack(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	vrrp := strings.NewReplacer("vipManagement: bgp", "x", "198.51.100.", "10.1.1.", ", 10.1.2.0/24", "").Replace(announced)
	vrrp = vrrp[:strings.Index(vrrp, "  x")] + vrrp[strings.Index(vrrp, "  images"):]
	both := vrrp + "  vipManagement: both\n  bgp: {asn: 64512, racks: [{network: 10.1.1.0/24, peers: [{address: 10.1.1.1, asn: 65101}]}]}\n"
	plain, routed, secrets := put("vrrp.yaml", vrrp), put("both.yaml", both), put("passwords", "10.1.1.1 s3cret\n")
	tree := filepath.Join(dir, "tree")
	for _, step := range []struct {
		args          []string
		code          int
		says          string
		former        string // in the tree's cluster.json afterwards
		speaker, keys bool   // are in the tree afterwards
	}{
		{[]string{"-c", plain}, 0, "", "", false, false},
		{[]string{"-c", routed}, 1, "Add --migrate", "", false, false},
		{[]string{"-c", routed, "--migrate", "--bgp-passwords", secrets}, 0, "", `"vipManagement": "vrrp"`, true, true},
		{[]string{"-c", routed, "--migrated"}, 0, "", "", true, true},
		{[]string{"-c", plain, "--migrate"}, 0, "", `"vipManagement": "both"`, true, true},
		{[]string{"-c", plain}, 0, "", `"vipManagement": "both"`, true, true},
		{[]string{"-c", plain, "--migrated", "--prune"}, 0, "", "", false, false},
	} {
		got := invoke(t, "", append([]string{"render", "--role=master", "--out", tree}, step.args...)...)
		if got.code != step.code || !strings.Contains(got.err, step.says) || strings.Contains(got.out+got.err, "s3cret") {
			t.Fatalf("%v: %+v", step.args, got)
		}
		text, err := os.ReadFile(filepath.Join(tree, plan.Path))
		_, former, migrates := strings.Cut(string(text), `"migrateFrom"`)
		if err != nil || migrates != (step.former != "") || migrates && !strings.Contains(former[:60], step.former) {
			t.Errorf("%v: %v\n%s", step.args, err, text)
		}
		_, errSpeaker := os.Stat(filepath.Join(tree, "etc/kubernetes/manifests/speaker.yaml"))
		_, errKeys := os.Stat(filepath.Join(tree, spoken.PasswordsFile))
		if (errSpeaker == nil) != step.speaker || (errKeys == nil) != step.keys {
			t.Errorf("%v: %v, %v", step.args, errSpeaker, errKeys)
		}
	}
}
