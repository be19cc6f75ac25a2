package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// plantedIgnition is a document of a host, with a secret as a document has one.
const plantedIgnition = `{"ignition":{"version":"3.4.0"},"storage":{"files":[{"path":"/etc/token","contents":{"source":"data:,Pl4ntedS3cret"}}]}}`

// provisionedInputs are descriptions of hosts that the bootstrap machine provisions, with the files
// that the flags name, in a directory of their own.
func provisionedInputs(t *testing.T) (dir string, configs []string, flags []string) {
	t.Helper()
	dir = t.TempDir()
	images := map[string]string{}
	if err := json.Unmarshal([]byte(must(t, "", "example", "images")), &images); err != nil {
		t.Fatal(err)
	}
	images["ironicImage"], images["ironicAgentImage"] = "registry.example.com/ironic:1", "registry.example.com/agent:1"
	images["osImage"] = "https://mirror.example.com/os.raw@sha256:" + strings.Repeat("0", 64)
	text, err := json.Marshal(images)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"install-config.yaml": plantedConfig, "cluster.yaml": plantedCluster, "images.json": string(text), "master.ign": plantedIgnition,
		"bmc.yaml": "username: " + planted + "\npassword: " + planted + "\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir, []string{filepath.Join(dir, "install-config.yaml"), filepath.Join(dir, "cluster.yaml")},
		[]string{"--role=bootstrap", "--images", filepath.Join(dir, "images.json")}
}

// TestSecretsOfHosts_InOneFile holds that accounts and Ignition documents of hosts are in the file
// of hosts, for its owner alone, and in no other file, output or message of any verb.
func TestSecretsOfHosts_InOneFile(t *testing.T) {
	dir, configs, flags := provisionedInputs(t)
	with := append(slices.Clone(flags), "--host-ignition", "master="+filepath.Join(dir, "master.ign"))
	for i, config := range configs {
		tree, document := filepath.Join(dir, string(rune('a'+i))), filepath.Join(dir, string(rune('a'+i))+".ign")
		for _, args := range [][]string{
			append([]string{"render", "-c", config, "--out", tree}, with...),
			append([]string{"ignition", "-c", config, "--out", document}, with...),
			append([]string{"diff", "-c", config, "--root", tree}, flags...),
			append([]string{"diff", "-c", config, "--root", dir, "-o", "json"}, flags...),
			append([]string{"plan", "-o", "json", "-c", config}, flags[1:]...),
			append([]string{"plan", "-c", config}, flags[1:]...),
			{"validate", "-c", config},
			append([]string{"ignition", "-c", config, "--out", filepath.Join(dir, string(rune('a'+i))+"-node.ign"), "--role=master"}, flags[1:]...),
			append([]string{"ignition", "-c", config, "--out", document, "--dry-run"}, with...),
			append([]string{"render", "-c", config, "--out", tree}, with...),
		} {
			o := invoke(t, "", args...)
			if o.code != 0 && (args[0] != "diff" || o.code != exitFindings) {
				t.Errorf("%v: exit %d: %s", args, o.code, o.err)
			}
			if strings.Contains(o.out+o.err, planted) {
				t.Errorf("%v prints a secret:\n%s%s", args, o.out, o.err)
			}
		}
		files := 0
		err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			text, err := os.ReadFile(path)
			info, _ := d.Info()
			one := path == filepath.Join(tree, layout.Hosts)
			if files++; strings.Contains(string(text), planted) != one || one != (info.Mode() == 0o600) {
				t.Errorf("%s with mode %v: it has a secret: %v", path, info.Mode(), !one)
			}
			return err
		})
		if err != nil || files < 10 {
			t.Errorf("%d files were searched (%v)", files, err)
		}
		holdIgnition(t, document)
	}
	for name, args := range map[string][]string{
		"to a pipe": append([]string{"ignition", "-c", configs[0]}, with...),
		"as Butane": append([]string{"ignition", "-c", configs[0], "-o", "butane"}, with...),
	} {
		o := invoke(t, "", args...)
		if !strings.Contains(o.err, "note: the description has a network for m0, which the bootstrap machine does not apply") {
			t.Errorf("%s: no note about the host's network: %s", name, o.err)
		}
		if found, _, err := ignition.Find([]byte(o.out), layout.Hosts); err != nil || !strings.Contains(string(found), planted) || strings.Contains(o.err, planted) {
			t.Errorf("%s: %v, the document lacks the file of hosts, or a message has a secret: %s", name, err, o.err)
		}
	}
}

// holdIgnition holds that one file of an Ignition document has secrets, and that only the owner of
// the document may read it.
func holdIgnition(t *testing.T, path string) {
	t.Helper()
	text, err := os.ReadFile(path)
	info, errStat := os.Stat(path)
	if err != nil || errStat != nil || info.Mode() != 0o600 {
		t.Fatalf("%v %v: %s has mode %v, want 0600", err, errStat, path, info.Mode())
	}
	var d struct {
		Storage struct {
			Files []struct {
				Path     string
				Mode     int
				Contents struct{ Source string }
			}
		}
		Systemd json.RawMessage
	}
	if err := json.Unmarshal(text, &d); err != nil || strings.Contains(string(d.Systemd), planted) {
		t.Fatalf("%v, or a unit has a secret", err)
	}
	for _, f := range d.Storage.Files {
		_, encoded, _ := strings.Cut(f.Contents.Source, ",")
		contents, err := base64.StdEncoding.DecodeString(encoded)
		if one := f.Path == layout.Hosts; err != nil || strings.Contains(string(contents), planted) != one || one != (f.Mode == 0o600) {
			t.Errorf("%s with mode %o: %v, or it has a secret: %v", f.Path, f.Mode, err, !one)
		}
	}
	contents, _, err := ignition.Find(text, layout.Hosts)
	file, errDecode := hostfile.Decode(contents)
	if host, ok := file.Of("m0"); err != nil || errDecode != nil || !ok || host.Password.Reveal() != planted || host.Ignition.Reveal() != plantedIgnition {
		t.Errorf("%v %v: the file of hosts has %+v", err, errDecode, file)
	}
	if _, ok := file.Of("w0"); ok {
		t.Error("the file of hosts has one that the cluster provisions")
	}
}

// TestHostIgnition_Usage holds what is reported of a wrong use of the flag, without a text of a
// document.
func TestHostIgnition_Usage(t *testing.T) {
	dir, configs, flags := provisionedInputs(t)
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	good, broken := filepath.Join(dir, "master.ign"), write("broken.ign", plantedIgnition[:90])
	fields := strings.Replace(plantedIgnition, "/etc/token", planted, 1)
	for _, tt := range []struct {
		name string
		args []string
		code int
		want string
	}{
		{"no document", nil, exitUsage, "--host-ignition HOST=FILE or ROLE=FILE: no Ignition document is given for m0 (master): give one"},
		{"no file", []string{"master"}, exitUsage, `"master": write the name of a host or its role, =`},
		{"an absent file", []string{"master=" + good + "x"}, exitUsage, "there is no file"},
		{"twice", []string{"master=" + good, "control-plane=" + good}, exitUsage, "names master twice"},
		{"an unknown host", []string{"master=" + good, "m9=" + good}, exitUsage, "an Ignition document is given for m9: name a host"},
		{"a cut document", []string{"m0=" + broken}, exitFindings, "broken.ign is no Ignition document for m0: it is refused"},
		{"a document with a fault", []string{"m0=" + write("fault.ign", fields)}, exitFindings, "at $.storage.files.0.path (line 1"},
		{"two of them", []string{"m0=" + broken, "master=" + write("empty.ign", "")}, exitFindings, "empty.ign is no Ignition document for master: it is empty"},
		{"one that is too long", []string{"m0=" + write("long.ign", strings.Repeat(" ", inputLimit+1))}, exitFindings, "long.ign is longer than"},
	} {
		for _, verb := range []string{"ignition", "render"} {
			t.Run(verb+" "+tt.name, func(t *testing.T) {
				out := filepath.Join(t.TempDir(), "out")
				args := append([]string{verb, "-c", configs[0], "--out", out}, flags...)
				for _, value := range tt.args {
					args = append(args, "--host-ignition", value)
				}
				o := invoke(t, "", args...)
				if o.code != tt.code || !strings.Contains(o.err, tt.want) || strings.Contains(o.err+o.out, planted) {
					t.Errorf("exit %d, %s%s; want %d, %q", o.code, o.err, o.out, tt.code, tt.want)
				}
				if _, err := os.Stat(out); err == nil {
					t.Error("it wrote its output")
				}
			})
		}
	}
	for name, args := range map[string][]string{
		"a node":          {"ignition", "--role=master", "--images", flags[2], "-c", configs[0], "--host-ignition", "master=" + good},
		"another machine": {"render", "--role=cluster", "-c", configs[0], "--out", dir, "--host-ignition", "master=" + good},
	} {
		if o := invoke(t, "", args...); o.code != exitUsage || !strings.Contains(o.err, "--host-ignition is for --role=bootstrap") {
			t.Errorf("%s: exit %d, %s", name, o.code, o.err)
		}
	}
	lacking := []string{"ignition", "--role=bootstrap", "-c", configs[0], "--images", write("lacking.json", `{"baremetalRuntimeCfgImage": "r/a:1", "keepalivedImage": "r/b:1", "corednsImage": "r/c:1"}`), "--host-ignition", "master=" + good}
	if o := invoke(t, "", lacking...); o.code == 0 || !strings.Contains(o.err, "the bootstrap needs images.ironicImage") || strings.Contains(o.err, "hosts is missing") {
		t.Errorf("without an image of Ironic's: exit %d, %s", o.code, o.err)
	}
	own := append([]string{"ignition", "-c", configs[0], "--out", good, "--force", "--host-ignition", "master=" + good}, flags...)
	if o := invoke(t, "", own...); o.code != exitUsage || !strings.Contains(o.err, "it is an input of this command") {
		t.Errorf("it writes over its input: exit %d, %s", o.code, o.err)
	}
}

// TestHostIgnition_Missing holds that images and documents which are missing are reported at once,
// and that a machine without Ironic gets a note, once, and nothing of provisioning.
func TestHostIgnition_Missing(t *testing.T) {
	dir, configs, _ := provisionedInputs(t)
	images := filepath.Join(dir, "ironic.json")
	if err := os.WriteFile(images, []byte(`{"ironicImage": "i"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	o := invoke(t, "", "ignition", "--role=bootstrap", "-c", configs[0], "--images", images)
	for _, want := range []string{"no Ignition document is given for m0 (master)", "images.baremetalRuntimeCfgImage, images.keepalivedImage, images.corednsImage, images.ironicAgentImage, images.osImage"} {
		if o.code != exitUsage || !strings.Contains(o.err, want) {
			t.Errorf("exit %d, %s; want %q", o.code, o.err, want)
		}
	}
	if err := os.WriteFile(images, []byte(must(t, "", "example", "images")), 0o600); err != nil {
		t.Fatal(err)
	}
	o = invoke(t, "", "ignition", "--role=bootstrap", "-c", configs[0], "--images", images)
	if o.code != 0 || strings.Count(o.err, "no images.ironicImage") != 1 || strings.Contains(o.out, "onprem-ironic") || strings.Contains(o.out, layout.Hosts) {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
	if o := invoke(t, "", "ignition", "--role=master", "-c", configs[0], "--images", images); o.code != 0 || strings.Contains(o.err, "ironicImage") {
		t.Errorf("a node: exit %d, %s", o.code, o.err)
	}
}

// TestHosts_Unfit holds that hosts which Ironic cannot install are findings with their places, where the
// images have Ironic; another program may install them.
func TestHosts_Unfit(t *testing.T) {
	dir, configs, flags := provisionedInputs(t)
	flags = append(flags, "--host-ignition", "master="+filepath.Join(dir, "master.ign"))
	replace := func(config, old, now string) (line int) {
		text := string(readAll(t, config))
		before, _, found := strings.Cut(text, old)
		if !found {
			t.Fatalf("%s has no %q", config, old)
		}
		if err := os.WriteFile(config, []byte(strings.Replace(text, old, now, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		return strings.Count(before+now, "\n") + 1
	}
	pin := replace(configs[1], "credentials: {file: bmc.yaml}}", "credentials: {file: bmc.yaml}, verify: 'pin:"+strings.Repeat("ab", 32)+"'}")
	legacy := replace(configs[0], "bmc: {address: 'redfish://bmc-0", "bootMode: legacy\n      bmc: {address: 'redfish-virtualmedia://bmc-0") - 1
	http := filepath.Join(dir, "http.yaml")
	if err := os.WriteFile(http, []byte(strings.ReplaceAll(plantedConfig, "ipmi:", "redfish-virtualmedia:")), 0o600); err != nil {
		t.Fatal(err)
	}
	replace(http, "    hosts:", "    provisioningNetwork: Disabled\n    hosts:")
	byHTTP := replace(http, "'redfish://bmc-0", "'redfish-uefihttp://bmc-0")
	for _, tt := range []struct {
		config, path, want string
		line               int
	}{
		{http, "platform.baremetal.hosts[0].bmc.address", "or use redfish-virtualmedia", byHTTP},
		{configs[1], "spec.hosts[0].bmc.verify", "Ironic verifies by authorities alone", pin},
		{configs[0], "platform.baremetal.hosts[0].bootMode", "choose the boot mode UEFI", legacy},
	} {
		for _, verb := range []string{"render", "ignition"} {
			o := invoke(t, "", append([]string{verb, "-c", tt.config, "--out", filepath.Join(dir, "out")}, flags...)...)
			said := strings.Join(strings.Fields(o.err), " ")
			if o.code != 1 || !strings.Contains(said, fmt.Sprintf("%s:%d:", tt.config, tt.line)) ||
				!strings.Contains(said, ": error: "+tt.path+": ") || !strings.Contains(said, tt.want) {
				t.Errorf("%s %s: exit %d: %s", verb, filepath.Base(tt.config), o.code, o.err)
			}
		}
		if o := invoke(t, "", "validate", "-c", tt.config); o.code != 0 {
			t.Errorf("without ironicImage: exit %d: %s", o.code, o.out)
		}
	}
}

// TestRender_WithoutProvisioning holds that a tree gets rid of what provisions hosts, the file of
// hosts included, when the images have no Ironic any more.
func TestRender_WithoutProvisioning(t *testing.T) {
	dir, configs, flags := provisionedInputs(t)
	tree, images := filepath.Join(dir, "tree"), filepath.Join(dir, "plain.json")
	if err := os.WriteFile(images, []byte(must(t, "", "example", "images")), 0o600); err != nil {
		t.Fatal(err)
	}
	first := append([]string{"render", "-c", configs[0], "--out", tree, "--host-ignition", "master=" + filepath.Join(dir, "master.ign")}, flags...)
	if o := invoke(t, "", first...); o.code != 0 {
		t.Fatal(o.err)
	}
	again := []string{"render", "--role=bootstrap", "-c", configs[0], "--images", images, "--out", tree}
	if o := invoke(t, "", again...); o.code != exitFindings || !strings.Contains(o.err, "--prune") {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
	if o := invoke(t, "", append(again, "--prune")...); o.code != 0 || !strings.Contains(o.err, ", 6 removed") {
		t.Errorf("exit %d, %s", o.code, o.err)
	}
	if _, err := os.Stat(filepath.Join(tree, layout.Hosts)); err == nil {
		t.Error("the file of hosts is still there")
	}
}

// TestRender_WorkersNotProvisioned holds that it is printed when a cluster's objects provision no workers, and
// what is missing for it.
func TestRender_WorkersNotProvisioned(t *testing.T) {
	config, _ := bareCluster(t)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	for change, want := range map[[2]string]string{
		{"network: managed", "network: managed, address: two"}: "it lacks a provisioning network with address: one and a load balancer of ours",
		{"ironicImage: 'r/ironic:1', ", ""}:                    "it lacks images.ironicImage",
		{}:                                                     "",
	} {
		path := filepath.Join(filepath.Dir(config), "changed.yaml")
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), change[0], change[1], 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		o := invoke(t, "", "render", "--role=cluster", "-c", path, "--out", t.TempDir())
		said := strings.Join(strings.Fields(o.err), " ")
		if o.code != 0 || want != "" && !strings.Contains(said, "provisions none of its 2 workers, and these objects have no Ironic: "+want) ||
			want == "" && strings.Contains(said, "none of its") {
			t.Errorf("%q: exit %d: %s", change, o.code, o.err)
		}
	}
}
