//go:build remote

package main

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/test/need"
)

const readme = "../../README.md"

// blocks are the lines of code in README.md, without their indent.
func blocks(t *testing.T) (all [][]string) {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	before := ""
	for line := range strings.Lines(string(text)) {
		code, ok := strings.CutPrefix(strings.TrimRight(line, "\n"), "    ")
		switch {
		case !ok:
		case before != "" && len(all) > 0 && strings.HasPrefix(before, "    "):
			all[len(all)-1] = append(all[len(all)-1], code)
		default:
			all = append(all, []string{code})
		}
		before = strings.TrimRight(line, "\n")
	}
	return all
}

// comment is what follows a command on its line.
var comment = regexp.MustCompile(`\s+#.*$`)

// readmeCommands are the commands of the blocks, each on one line of its own unless it is a loop,
// or a file that ends with END. What is no command for a shell is left out.
func readmeCommands(t *testing.T) (all []string) {
	t.Helper()
	for _, block := range blocks(t) {
		if first := block[0]; strings.Contains(first, "->") || strings.HasPrefix(first, "//") {
			continue // a drawing, and Go
		}
		command, until := "", ""
		for _, line := range block {
			line = comment.ReplaceAllString(line, "")
			command += line
			switch {
			case strings.HasPrefix(line, "for "):
				until = "done"
			case strings.HasSuffix(line, "<<END"):
				until = "END"
			}
			switch {
			case strings.HasSuffix(line, `\`), strings.HasSuffix(line, "|"), until != "" && line != until:
				command += "\n"
				continue
			}
			all, command, until = append(all, command), "", ""
		}
	}
	return all
}

// elsewhere are the commands that a test cannot run here, by how they begin, each with a test that
// does what it says: those that change the machine, or look at one that runs. A target of make is
// looked up in the Makefile.
var elsewhere = map[string]string{
	"curl -s http://localhost:9455/metrics": "TestMeter",
	"onprem-infra doctor":                   "TestDoctor",
	"onprem-infra status":                   "TestStatus",
	"cp -r master/. / &&":                   "TestLongKubeadm",
	"sed -n 's/^enable //p'":                "TestLongKubeadm",
	"kubeadm init":                          "TestLongKubeadm",
	"kubectl apply --recursive -f":          "TestLongKubeadm",
	"kubectl get nodes -o":                  "TestMigrate",
	"cp -r tree/. machine-config-operator/": "TestScript",
	"ONPREM_INFRA_SEED=17 go test":          "TestReplay",
	"ONPREM_INFRA_SCHEDULE=file":            "TestReplay",
}

// readmeNeeds is what a command of README.md finds in the directory where its reader is, beside
// what the commands before it have left.
var readmeNeeds = map[string]string{
	"onprem-infra diff --role=master -c /etc/onprem-infra/cluster.json":                   "mkdir -p host && cp -r node/. host",
	"onprem-infra report --out vip.html master-0.jsonl":                                   `for n in 0 1 2; do echo '{"at":"2026-01-02T03:04:05Z","instance":"a","state":"BACKUP"}' >master-$n.jsonl; done; echo '{"at":"2026-01-02T03:05:05Z","instance":"a","state":"MASTER"}' >>master-0.jsonl`,
	"onprem-infra render --role=master -c cluster.yaml --images images.json --timing lan": "rm -rf tree && onprem-infra render --role=master -c cluster.yaml --images images.json --timing vm --out tree",
}

// TestReadmeCommands runs every command of README.md in its order, as a reader does, or knows the
// test that does.
func TestReadmeCommands(t *testing.T) {
	need.Command(t, "ignition-validate")
	dir, bin := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "onprem-infra"), []byte("#!/bin/sh\nONPREM_INFRA_BE=1 exec '"+self+"' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run, known := 0, maps.Clone(elsewhere)
	for _, command := range readmeCommands(t) {
		if prefix := prefixOf(command, elsewhere); prefix != "" {
			delete(known, prefix)
			continue
		}
		if target, ok := strings.CutPrefix(command, "make "); ok {
			hasTarget(t, strings.Fields(target)[0])
			continue
		}
		script := "set -e\n" + readmeNeeds[prefixOf(command, readmeNeeds)] + "\n" + command
		script = strings.NewReplacer("/usr/local/share/man", "man", "-c /etc/onprem-infra/cluster.json", "-c node/etc/onprem-infra/cluster.json --root host").Replace(script)
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("README.md says %q: %v\n%s", command, err, out)
		}
		run++
	}
	if run < 15 {
		t.Errorf("%d commands were run", run)
	}
	for prefix := range known {
		t.Errorf("README.md says nothing like %q any more", prefix)
	}
	for _, file := range []string{"failures.html", "worker.ign", "vip.html", "man/man1/onprem-infra-diff.1", "tree/etc/onprem-infra/cluster.json"} {
		if _, err := os.Stat(filepath.Join(dir, file)); err != nil {
			t.Error(err)
		}
	}
}

// prefixOf is the key that a command begins with, empty for none.
func prefixOf(command string, m map[string]string) string {
	for _, prefix := range slices.Sorted(maps.Keys(m)) {
		if strings.HasPrefix(strings.ReplaceAll(command, "\\\n", ""), prefix) || strings.HasPrefix(command, prefix) {
			return prefix
		}
	}
	return ""
}

func hasTarget(t *testing.T, target string) {
	t.Helper()
	text, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(text), "\n"+target+":") {
		t.Errorf("README.md says make %s, and the Makefile has no such target", target)
	}
}

// TestReadmeElsewhere holds that there is each test which does what README.md says in place of
// TestReadmeCommands.
func TestReadmeElsewhere(t *testing.T) {
	var all strings.Builder
	for _, dir := range []string{".", "../../test/e2e", "../../test/chaos", "../../test/podvip"} {
		files, err := filepath.Glob(dir + "/*_test.go")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	for command, test := range elsewhere {
		if !regexp.MustCompile(`(?m)^func ` + test).MatchString(all.String()) {
			t.Errorf("%q: there is no test %s", command, test)
		}
	}
}

// TestReadmeSymptoms holds that the table of symptoms names each of doctor's checks, and nothing
// else.
func TestReadmeSymptoms(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "<!-- symptoms:")
	table, _, _ = strings.Cut(table, "<!-- end of symptoms -->")
	named := map[string]bool{}
	for line := range strings.Lines(table) {
		_, answer, _ := strings.Cut(strings.TrimPrefix(line, "|"), "|")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(answer, -1) {
			named[m[1]] = true
		}
	}
	delete(named, "status") // a verb
	checks := map[string]bool{}
	for _, check := range doctor.All() {
		checks[string(check)] = true
		if !named[string(check)] {
			t.Errorf("README.md names no symptom of what doctor calls %q", check)
		}
	}
	for name := range named {
		if !checks[name] {
			t.Errorf("README.md has doctor say %q, which it has no check for", name)
		}
	}
}

// TestReadmeFitsATerminal holds that no line of README.md is wrapped by a terminal: no code, and no prose.
func TestReadmeFitsATerminal(t *testing.T) {
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range tooWide(string(text)) {
		if !strings.HasPrefix(line, "|") { // a row of a table is one line
			t.Errorf("README.md: %s", line)
		}
	}
	for _, block := range blocks(t) {
		for _, line := range block {
			for _, wide := range tooWide("    " + line) {
				t.Errorf("README.md: %s", wide)
			}
		}
	}
}
