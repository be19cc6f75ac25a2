package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// announced is a description whose hosts announce the VIPs, with its images.
const announced = `apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: baremetal
  controlPlaneReplicas: 3
  machineNetworks: [10.1.1.0/24, 10.1.2.0/24]
  apiVIPs: [198.51.100.5]
  ingressVIPs: [198.51.100.6]
  vipManagement: bgp
  bgp:
    asn: 64512
    racks:
    - network: 10.1.1.0/24
      peers: [{address: 10.1.1.1, asn: 65101}]
    - network: 10.1.2.0/24
  images: {baremetalRuntimeCfgImage: r/o:1, keepalivedImage: r/k:1, corednsImage: r/c:1, haproxyImage: r/h:1, frrImage: r/f:1}
`

// TestBGPPasswords holds where the passwords of routers come to: into one file of the bootstrap machine, in a
// document for its owner alone, and into no message.
func TestBGPPasswords(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	cluster, good := put("cluster.yaml", announced), put("good", "10.1.1.1 s3cret\n10.1.2.1 s3cret2\n")
	plain := put("plain.yaml", strings.NewReplacer("vipManagement: bgp", "", "198.51.100.", "10.1.1.").Replace(announced[:strings.Index(announced, "  bgp:")])+"\n")
	ignition := func(code int, args ...string) (out, err string) {
		t.Helper()
		got := invoke(t, "", append([]string{"ignition"}, args...)...)
		if got.code != code || strings.Contains(got.err, "s3cret") {
			t.Errorf("%v: %+v, want %d", args, got, code)
		}
		return got.out, got.err
	}
	document := filepath.Join(dir, "b.ign")
	ignition(0, "--role=bootstrap", "-c", cluster, "--bgp-passwords", good, "--out", document)
	text, err := os.ReadFile(document)
	info, errStat := os.Stat(document)
	if err != nil || errStat != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("%v, %v, mode %v", err, errStat, info.Mode())
	}
	var parsed struct {
		Storage struct {
			Files []struct {
				Path string
				Mode int
			}
		}
		Systemd struct{ Units []struct{ Name string } }
	}
	if err := json.Unmarshal(text, &parsed); err != nil {
		t.Fatal(err)
	}
	modes, units := map[string]int{}, ""
	for _, f := range parsed.Storage.Files {
		modes[f.Path] = f.Mode
	}
	for _, u := range parsed.Systemd.Units {
		units += " " + u.Name
	}
	if modes[spoken.PasswordsFile] != 0o600 || !strings.Contains(units, "onprem-speaker.service") || strings.Contains(units, "keepalived") {
		t.Errorf("mode %o of the passwords; units%s", modes[spoken.PasswordsFile], units)
	}
	if out, _ := ignition(0, "--role=bootstrap", "-c", cluster); strings.Contains(out, spoken.PasswordsFile) {
		t.Error("a file of no passwords is written")
	}
	for _, tt := range []struct {
		code int
		want string
		args []string
	}{
		{1, "no rack of bgp.racks has a router 10.1.1.9", []string{"--role=bootstrap", "-c", cluster, "--bgp-passwords", put("unknown", "10.1.1.9 s3cret\n10.1.1.1 s3cret\n")}},
		{1, "line 1", []string{"--role=bootstrap", "-c", cluster, "--bgp-passwords", put("half", "s3cret\n")}},
		{2, "name one that exists", []string{"--role=bootstrap", "-c", cluster, "--bgp-passwords", filepath.Join(dir, "absent")}},
		{2, "vipManagement", []string{"--role=bootstrap", "-c", plain, "--bgp-passwords", good}},
	} {
		if _, err := ignition(tt.code, tt.args...); !strings.Contains(err, tt.want) {
			t.Errorf("%v: %s", tt.args, err)
		}
	}
}

// TestBGPPasswords_InstallConfig holds that a password of an install-config comes into that file too, and into
// nothing else that is written or printed.
func TestBGPPasswords_InstallConfig(t *testing.T) {
	dir := t.TempDir()
	config, images := filepath.Join(dir, "install-config.yaml"), filepath.Join(dir, "images.json")
	text := `apiVersion: v1
baseDomain: example.com
metadata: {name: prod}
controlPlane: {replicas: 3}
networking: {machineNetwork: [{cidr: 192.0.2.0/24}]}
platform:
  baremetal:
    apiVIPs: [198.51.100.5]
    ingressVIPs: [198.51.100.6]
    bgpVIPConfig:
      localASN: 64512
      peers: [{peerAddress: 192.0.2.1, peerASN: 65101, password: s3cret, bfdEnabled: "true"}]
`
	if err := os.WriteFile(config, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(images, []byte(`{"baremetalRuntimeCfgImage":"r/o:1","corednsImage":"r/c:1","haproxyImage":"r/h:1","frrImage":"r/f:1"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, role := range []string{"bootstrap", "master"} {
		out := filepath.Join(dir, role)
		if got := invoke(t, "", "render", "--role="+role, "-c", config, "--images", images, "--out", out); got.code != 0 || strings.Contains(got.out+got.err, "s3cret") {
			t.Fatalf("%s: %+v", role, got)
		}
		err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			if has := strings.Contains(string(text), "s3cret"); has != strings.HasSuffix(path, spoken.PasswordsFile) || has && string(text) != "192.0.2.1 s3cret\n" {
				t.Errorf("%s: %s has the password: %v", role, path, has)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if got := invoke(t, "", "validate", "--strict", "-c", config); got.code != 1 || !strings.Contains(got.out+got.err, "error: bgpVIPConfig: it has passwords of routers") ||
		!strings.Contains(got.out+got.err, "--bgp-passwords") {
		t.Errorf("%+v", got)
	}
	for _, verb := range [][]string{{"validate"}, {"plan"}, {"plan", "-o", "json"}, {"routers"}} {
		if got := invoke(t, "", append(verb, "-c", config)...); got.code != 0 || strings.Contains(got.out+got.err, "s3cret") {
			t.Errorf("%v: %+v", verb, got)
		}
	}
}
