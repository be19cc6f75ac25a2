//go:build remote

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// operatorText is the Machine Config Operator's file of a cluster, with its text of routers.
const operatorText = `{
  "apiVersion": "onprem-infra.io/v1alpha1",
  "kind": "Cluster",
  "spec": {
    "apiVIPs": ["198.51.100.5"],
    "bgpVIPPeersJSON": "{\"localASN\":64512,\"defaultPeers\":[{\"peerAddress\":\"10.1.1.1\",\"peerASN\":65101,\"password\":\"s3cret\",\"bfdEnabled\":\"true\"}]}",
    "clusterDomain": "prod.example.com",
    "ingressVIPs": ["198.51.100.6"],
    "machineNetworks": ["10.1.1.0/24"],
    "platform": "BareMetal",
    "topology": "HighlyAvailable"
  }
}
`

// TestDescribe holds which files a host has of the operator's, with which modes, and that what is wrong changes none.
func TestDescribe(t *testing.T) {
	dir := t.TempDir()
	from, to, passwords := filepath.Join(dir, "operator.json"), filepath.Join(dir, "cluster.json"), filepath.Join(dir, "passwords")
	describe := func(text string) outcome {
		t.Helper()
		if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := invoke(t, "", "describe", "--from", from, "--to", to, "--passwords", passwords)
		if strings.Contains(got.out+got.err, "s3cret") {
			t.Errorf("the password is printed: %+v", got)
		}
		return got
	}
	has := func(path string, mode os.FileMode, want string) string {
		t.Helper()
		text, err := os.ReadFile(path)
		info, errStat := os.Stat(path)
		if err != nil || errStat != nil || info.Mode().Perm() != mode || !strings.Contains(string(text), want) {
			t.Errorf("%s: %v, %v, mode %v:\n%s", path, err, errStat, info.Mode(), text)
		}
		return string(text)
	}
	if got := describe(operatorText); got.code != 0 || strings.Count(got.out, "wrote ") != 2 {
		t.Fatalf("%+v", got)
	}
	before := has(to, 0o644, `"vipManagement": "bgp"`)
	if has(passwords, 0o600, "10.1.1.1 s3cret\n"); strings.Contains(before, "s3cret") {
		t.Errorf("the description has the password:\n%s", before)
	}
	if p, err := plan.Parse(to, []byte(before)); err != nil || p.BGP == nil {
		t.Errorf("a host does not read it: %v", err)
	}
	if got := describe(operatorText); got.code != 0 || got.out != "" {
		t.Errorf("nothing has changed: %+v", got)
	}
	if err := os.Chmod(passwords, 0o644); err != nil {
		t.Fatal(err)
	}
	if got := describe(operatorText); got.code != 0 || got.out != "wrote "+passwords+"\n" {
		t.Errorf("others could read the passwords: %+v", got)
	}
	has(passwords, 0o600, "s3cret")

	for _, same := range [][3]string{{from, from, passwords}, {from, to, from}, {from, to, to}} {
		got := invoke(t, "", "describe", "--from", same[0], "--to", same[1], "--passwords", same[2])
		if got.code != exitUsage || !strings.Contains(got.err, "two of them are the same") {
			t.Errorf("%v: %+v", same, got)
		}
	}
	has(from, 0o600, "bgpVIPPeersJSON")

	wrong := strings.NewReplacer("65101", "64512", `"198.51.100.6"`, `"nowhere"`).Replace(operatorText)
	got := describe(wrong)
	if got.code != exitFindings || !strings.Contains(got.err, "operator.json: error: bgpVIPConfig.peers[0].peerASN: is the hosts' own number") ||
		!strings.Contains(got.err, "spec.ingressVIPs[0]") {
		t.Errorf("%+v", got)
	}
	if has(to, 0o644, "") != before {
		t.Error("a wrong text changes the description")
	}
	has(passwords, 0o600, "s3cret")

	if got := describe(strings.Replace(operatorText, `\"password\":\"s3cret\",`, "", 1)); got.code != 0 || got.out != "" {
		t.Errorf("without a password: %+v", got)
	}
	if _, err := os.Stat(passwords); err == nil || has(to, 0o644, "") != before {
		t.Error("the file of passwords stays")
	}
	if got := invoke(t, "", "describe", "--from", filepath.Join(dir, "none")); got.code != exitUsage || !strings.Contains(got.err, "there is no file") {
		t.Errorf("%+v", got)
	}
	if got := invoke(t, "", "describe", "--to", to, "--passwords", passwords); got.code != exitHost || !strings.Contains(got.err, "this host has no /etc/onprem-infra-speaker/operator.json") {
		t.Errorf("on a host without the operator's file: %+v", got)
	}
	if got := invoke(t, "", "describe", "--from", from, "--to", filepath.Join(dir, "none", "x"), "--passwords", passwords); got.code != exitHost {
		t.Errorf("a description that cannot be written: %+v", got)
	}
}

// TestDescribe_KeepsOthersFiles holds that neither the operator's file nor one of another program is lost, by
// whatever name, and that nothing is written beside it.
func TestDescribe_KeepsOthersFiles(t *testing.T) {
	const notes = "call the customer back\n"
	open := strings.Replace(operatorText, `\"password\":\"s3cret\",`, "", 1)
	for name, tt := range map[string]struct {
		text, to, passwords string
		more                []string
		code                int
		err                 string
	}{
		"the input by another path":            {operatorText, "./operator.json", "passwords", nil, exitUsage, "two of them are the same"},
		"the input through a link":             {operatorText, "link", "passwords", []string{"--force"}, exitUsage, "two of them are the same"},
		"the input for passwords":              {operatorText, "cluster.json", "link", nil, exitUsage, "two of them are the same"},
		"one file for both":                    {operatorText, "both", "./both", nil, exitUsage, "two of them are the same"},
		"a foreign file for a description":     {operatorText, "notes", "passwords", nil, exitFindings, "write notes: there is a file that onprem-infra has not written"},
		"a foreign file for passwords":         {operatorText, "cluster.json", "notes", nil, exitFindings, "write notes: there is a file"},
		"a foreign file that would be removed": {open, "cluster.json", "notes", nil, exitFindings, "write notes: there is a file"},
		"by force":                             {operatorText, "notes", "passwords", []string{"--force"}, 0, ""},
		"a removal by force":                   {open, "cluster.json", "notes", []string{"--force"}, 0, ""},
		"empty files":                          {operatorText, "empty", "empty2", nil, 0, ""},
		"no directory, and no passwords":       {open, "cluster.json", "absent/passwords", nil, 0, ""},
		"a device":                             {open, "cluster.json", "/dev/null", nil, 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			t.Chdir(dir)
			for file, text := range map[string]string{"operator.json": tt.text, "notes": notes, "empty": "", "empty2": ""} {
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink("operator.json", "link"); err != nil {
				t.Fatal(err)
			}
			got := invoke(t, "", append([]string{"describe", "--from", "operator.json", "--to", tt.to, "--passwords", tt.passwords}, tt.more...)...)
			if got.code != tt.code || !strings.Contains(got.err, tt.err) {
				t.Errorf("%+v", got)
			}
			if text, err := os.ReadFile("operator.json"); err != nil || string(text) != tt.text {
				t.Errorf("the operator's file is lost: %v\n%s", err, text)
			}
			if info, err := os.Lstat("/dev/null"); err != nil || info.Mode().IsRegular() {
				t.Fatalf("/dev/null: %v, %v", info, err)
			}
			if tt.code == 0 {
				return
			}
			if text, err := os.ReadFile("notes"); err != nil || string(text) != notes {
				t.Errorf("the other program's file is lost: %v\n%s", err, text)
			}
			if entries, err := os.ReadDir("."); err != nil || len(entries) != 5 {
				t.Errorf("files were written: %v, %v", entries, err)
			}
		})
	}
}
