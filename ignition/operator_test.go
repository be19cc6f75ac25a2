package ignition_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/coreos/ignition/v2/config/v3_2"
	"github.com/coreos/ignition/v2/config/v3_2/types"
	"sigs.k8s.io/yaml"

	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

// What the Machine Config Operator makes of an object that it does not take, by the class of what
// is wrong.
const (
	// no configuration can be rendered from it, and the whole pool is degraded
	unreadable = "unreadable"
	refused    = "refused" // the daemon on the node does not support it, and degrades the node
	fixed      = "fixed"   // applied at the first boot alone: a change later degrades the node
	// beside fields that the daemon applies, of which then none can change any more
	trap     = "trap"
	doubled  = "doubled"  // the object has a field of its own for it, with another meaning
	nameless = "nameless" // no pool finds the object, or another one has its name
	// the place does not keep what is put there, and the daemon degrades the node whose files differ
	unkept = "unkept"
)

// machineConfig is the object as the operator reads it.
type machineConfig struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"`
	Metadata   struct {
		Name   string            `json:"name"`
		Labels map[string]string `json:"labels"`
	} `json:"metadata"`
	Spec struct {
		Config json.RawMessage `json:"config"`
	} `json:"spec"`
}

// judge says what the operator would have against an object for a role: "class: what". It is
// written from the operator's documentation.
func judge(text []byte, r role.Role) (wrong []string, config types.Config) {
	finding := func(class, format string, args ...any) {
		wrong = append(wrong, class+": "+fmt.Sprintf(format, args...))
	}
	var m machineConfig
	if err := yaml.UnmarshalStrict(text, &m); err != nil {
		return []string{unreadable + ": " + err.Error()}, config
	}
	if m.APIVersion != "machineconfiguration.openshift.io/v1" || m.Kind != "MachineConfig" {
		finding(unreadable, "a %s of %s", m.Kind, m.APIVersion)
	}
	if m.Metadata.Labels["machineconfiguration.openshift.io/role"] != string(r) ||
		len(m.Metadata.Labels) != 1 {
		finding(nameless, "labels %v", m.Metadata.Labels)
	}
	if m.Metadata.Name != "99-"+string(r)+"-onprem-infra" {
		finding(nameless, "%q", m.Metadata.Name)
	}
	var sections map[string]map[string]json.RawMessage
	if err := json.Unmarshal(m.Spec.Config, &sections); err != nil {
		finding(unreadable, "%v", err)
		return wrong, config
	}
	for name, section := range sections {
		judgeSection(finding, name, section)
	}
	config, report, err := v3_2.Parse(m.Spec.Config)
	if err != nil || len(report.Entries) > 0 {
		finding(unreadable, "%v %s", err, report.String())
	}
	for _, f := range config.Storage.Files {
		judgeFile(finding, f)
	}
	return wrong, config
}

func judgeSection(
	finding func(class, format string, args ...any), name string, section map[string]json.RawMessage,
) {
	known := map[string]map[string]string{ // by section and field: the class, empty for what is taken
		"ignition":        {"version": "", "config": fixed, "proxy": fixed, "security": fixed, "timeouts": fixed},
		"storage":         {"files": "", "directories": fixed, "disks": fixed, "filesystems": fixed, "links": fixed, "luks": fixed, "raid": fixed},
		"systemd":         {"units": ""},
		"passwd":          {"groups": fixed, "users": trap},
		"kernelArguments": {"shouldExist": doubled, "shouldNotExist": doubled},
	}
	for field := range section {
		if class, is := known[name][field]; !is || class != "" {
			finding(class, "%s.%s", name, field)
		}
	}
}

func judgeFile(finding func(class, format string, args ...any), f types.File) {
	if f.Mode == nil || *f.Mode&^0o777 != 0 {
		finding(unreadable, "%s has a mode that is none, or has special bits", f.Path)
	}
	if len(f.Append) > 0 {
		finding(refused, "%s is appended to", f.Path)
	}
	if f.Contents.Source == nil || !strings.HasPrefix(*f.Contents.Source, "data:") ||
		f.Contents.Compression != nil {
		finding(refused, "the contents of %s are not in place", f.Path)
	}
	if f.User != (types.NodeUser{}) || f.Group != (types.NodeGroup{}) {
		finding(trap, "%s has an owner", f.Path)
	}
	lost := func(dir string) bool { return strings.HasPrefix(f.Path, dir) }
	if slices.ContainsFunc(
		[]string{"/run/", "/tmp/", "/proc/", "/sys/", "/dev/", "/boot/"}, lost,
	) || lost("/usr/") && !lost("/usr/local/") {
		finding(unkept, "%s", f.Path)
	}
}

// goods are a set with something of everything that a set can hold.
func goods(t testing.TB) asset.Set {
	t.Helper()
	var s asset.Set
	err := errors.Join(
		s.AddFile(asset.File{Path: "/usr/local/bin/b", Mode: 0o755, Contents: []byte(
			"#!/bin/sh\necho '100%' <&2 é\n",
		)}),
		s.AddFile(asset.File{Path: "/etc/a", Mode: 0o600, Contents: []byte{0, 0xff, '\n'}}),
		s.AddFile(asset.File{Path: "/etc/empty", Mode: 0o644}),
		s.AddUnit(asset.Unit{Name: "b.service", Enabled: true, Contents: []byte(
			"[Service]\nExecStart=/bin/true\n\n[Install]\nWantedBy=multi-user.target\n",
		)}),
		s.AddUnit(asset.Unit{Name: "a.socket", Enabled: true}),
		s.AddUnit(asset.Unit{Name: "c.service", DropIns: []asset.DropIn{
			{Name: "10-a.conf", Contents: []byte("[Service]\nUser=1\n")},
		}}),
	)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// parsed is the document of a set, as Ignition reads it.
func parsed(t testing.TB, set asset.Set) types.Config {
	t.Helper()
	document, err := ignition.Encode(set)
	if err != nil {
		t.Fatal(err)
	}
	config, _, err := v3_2.Parse(document)
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestMachineConfig(t *testing.T) {
	text, err := ignition.MachineConfig(goods(t), role.Worker)
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, text)
	for _, r := range role.Nodes() {
		text, err := ignition.MachineConfig(goods(t), r)
		if err != nil {
			t.Fatal(err)
		}
		if wrong, config := judge(text, r); len(wrong) > 0 ||
			!reflect.DeepEqual(config, parsed(t, goods(t))) {
			t.Errorf("%s: %q, with the configuration\n%+v", r, wrong, config)
		}
	}
	if text, err := ignition.MachineConfig(goods(t), role.Bootstrap); text != nil ||
		!errors.As(err, &ignition.NoPool{}) {
		t.Errorf("for the bootstrap machine: %v\n%s", err, text)
	}
	var bad asset.Set
	if err := bad.AddUnit(asset.Unit{
		Name: "a.service", Contents: []byte("[Service\n"),
	}); err != nil {
		t.Fatal(err)
	}
	if text, err := ignition.MachineConfig(bad, role.Worker); text != nil || err == nil {
		t.Errorf("a unit that cannot be read: %v\n%s", err, text)
	}
}

// TestOperatorJudge_Refuses proves that the judge knows each class.
func TestOperatorJudge_Refuses(t *testing.T) {
	good, err := ignition.MachineConfig(goods(t), role.Worker)
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct{ old, new, want string }{
		"another version":       {"version: 3.2.0", "version: 4.0.0", unreadable},
		"a special bit":         {"mode: 384", "mode: 1408", unreadable},
		"another kind":          {"kind: MachineConfig", "kind: MachineConfigPool", unreadable},
		"a field of nobody":     {"spec:\n", "spec:\n  nothing: 1\n", unreadable},
		"another pool":          {"role: worker", "role: infra", nameless},
		"another name":          {"name: 99-worker-onprem-infra", "name: 00-worker", nameless},
		"appending":             {"path: /etc/empty\n", "path: /etc/empty\n        append:\n        - source: data:,a\n", refused},
		"contents elsewhere":    {"source: data:;base64,AP8K", "source: https://example.com/a", refused},
		"compressed contents":   {"source: data:;base64,AP8K", "compression: gzip\n          source: data:;base64,AP8K", refused},
		"a directory":           {"    storage:\n", "    storage:\n      directories:\n      - path: /etc/d\n", fixed},
		"a link":                {"    storage:\n", "    storage:\n      links:\n      - path: /etc/l\n        target: /etc/a\n", fixed},
		"another configuration": {"      version: 3.2.0", "      version: 3.2.0\n      config:\n        merge: []", fixed},
		"a user":                {"    storage:\n", "    passwd:\n      users:\n      - name: me\n    storage:\n", trap},
		"an owner":              {"path: /etc/empty\n", "path: /etc/empty\n        user:\n          name: me\n", trap},
		"kernel arguments":      {"    storage:\n", "    kernelArguments:\n      shouldExist: [a]\n    storage:\n", doubled},
		"the image's own files": {"path: /etc/empty", "path: /usr/lib/empty", unkept},
		"memory":                {"path: /etc/empty", "path: /run/empty", unkept},
	} {
		bad := strings.Replace(string(good), tt.old, tt.new, 1)
		if bad == string(good) {
			t.Fatalf("%s: nothing was changed", name)
		}
		wrong, _ := judge([]byte(bad), role.Worker)
		if !slices.ContainsFunc(wrong, func(w string) bool {
			return strings.HasPrefix(w, tt.want+": ")
		}) {
			t.Errorf("%s is %q, want something %s", name, wrong, tt.want)
		}
	}
}
