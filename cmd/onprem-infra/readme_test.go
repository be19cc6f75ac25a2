//go:build remote

package main

import (
	"cmp"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
)

const repository = "../.."

// pages are the documents whose commands are run, by their path in the repository, the root's first:
// its commands leave what a reader of the others has.
func pages(t *testing.T) (names []string) {
	t.Helper()
	err := filepath.WalkDir(repository, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(repository, path)
		if err == nil && filepath.Ext(name) == ".md" && name != "CHANGELOG.md" && name != "test/scars/TABLE.md" {
			names = append(names, name)
		}
		return err
	})
	if err != nil || len(names) < 10 {
		t.Fatalf("%d documents, %v", len(names), err)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(strings.Count(a, "/"), strings.Count(b, "/")), strings.Compare(a, b))
	})
	return names
}

func pageText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(repository, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// blocks are the lines of code in a page, without their indent. What stands between two fences is an
// output, another program's language, or the reference of a verb.
func blocks(t *testing.T, name string) (all [][]string) {
	t.Helper()
	text := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(pageText(t, name), "")
	before := ""
	for line := range strings.Lines(text) {
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

// pageCommands are the commands of the blocks, each on one line of its own unless it is a loop, or
// a file that ends with END. What is no command for a shell is left out.
func pageCommands(t *testing.T, name string) (all []string) {
	t.Helper()
	for _, block := range blocks(t, name) {
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

// elsewhere are the commands that a test cannot run here, by how they begin, each with the test that
// comes closest to it: those that change the machine or a cluster, or read one that runs. The longest
// beginning counts. TestReadmeVerbs holds their verbs and flags. A target of make is one of the
// Makefile, and a test of "go test" one of its packages.
var elsewhere = map[string]string{
	"NODEIP_PREFER=lowest onprem-infra node-ip":              "TestNodeIPVerbs",
	"curl -s http://localhost:9455/metrics":                  "TestVIPMeter",
	"onprem-infra doctor":                                    "TestDoctor_LiveHost",
	"onprem-infra doctor --provisioning-link":                "TestDoctorProvisioning",
	"onprem-infra hosts -c":                                  "TestHosts",
	"onprem-infra hosts add":                                 "TestHostsBare_Apply",
	"onprem-infra hosts disks":                               "TestHostsDisks",
	"onprem-infra hosts accept":                              "TestHostsAccept",
	"onprem-infra hosts hand-over":                           "TestHostsTakeBack",
	"onprem-infra hosts release":                             "TestHostsRelease",
	"onprem-infra hosts remove":                              "TestHostsScale_Apply",
	"onprem-infra hosts rewrite":                             "TestHostsRewrite",
	"onprem-infra hosts take-back":                           "TestHostsTakeBack",
	"onprem-infra ignition --role=bootstrap --host-ignition": "TestSecretsOfHosts_InOneFile",
	"onprem-infra ignition --role=bootstrap --bgp-passwords": "TestBGPPasswords",
	"onprem-infra status":                                    "TestStatusText",
	"onprem-infra status --watch":                            "TestStatusWatch",
	"onprem-infra status -c install-config.yaml":             "TestStatusWorkers",
	"cp -r master/. / &&":                                    "TestLongKubeadm",
	"ssh root@bootstrap cat":                                 "TestScript",
	"sed -n 's/^enable //p'":                                 "TestLongKubeadm",
	"kubeadm init":                                           "TestLongKubeadm",
	"kubectl apply --recursive -f":                           "TestLongKubeadm",
	"kubectl get nodes -o":                                   "TestMigration",
	"kubectl get bmh,":                                       "TestWorkers",
	"kubectl get configmaps -A":                              "TestWorkers",
	"kubectl label node NAME onprem-infra.node-restriction":  "TestHostileKubelet",
	"kubectl label node NAME onprem-infra.io/rack":           "TestLabels",
	"kubectl --namespace openshift-kni-infra":                "TestCandidates_Rollback",
	"kubectl annotate node":                                  "TestCandidates_Rollback",
	"cp -r tree/. machine-config-operator/":                  "TestOver",
	"journalctl -u onprem-keepalived":                        "TestLongReboot",
}

// recipes are the commands, by how they begin, that take a mirror of another Debian: only their
// syntax is checked.
var recipes = []string{"debootstrap ", "lib=", "for daemon in ", "install -D ", "patchelf ", "tar -C root "}

// readmeNeeds is what a command finds in the directory where its reader is, beside what the commands
// before it have left.
var readmeNeeds = map[string]string{
	"onprem-infra simulate -c cluster.yaml --provisioning":                                "mkdir -p hosts && cd hosts && cat >cluster.yaml <<'END'\n" + provisioned.Describe("one") + "END",
	"onprem-infra diff --role=master -c /etc/onprem-infra/cluster.json":                   "rm -rf node host && onprem-infra render --role=master -c install-config.yaml --images images.json --out node && cp -r node host",
	"onprem-infra report --out hosts.html installation.jsonl":                             `echo '{"time":"2026-01-02T03:04:05Z","kind":"started"}' >installation.jsonl`,
	"onprem-infra report --out workers.html installation.jsonl workers.json":              `echo '{"time":"2026-01-02T03:04:05Z","kind":"started"}' >installation.jsonl; echo '{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"worker-0"}}' >workers.json`,
	"onprem-infra report --out vip.html master-0.jsonl":                                   `for n in 0 1 2; do echo '{"at":"2026-01-02T03:04:05Z","instance":"a","state":"BACKUP"}' >master-$n.jsonl; done; echo '{"at":"2026-01-02T03:05:05Z","instance":"a","state":"MASTER"}' >>master-0.jsonl`,
	"onprem-infra render --role=master -c cluster.yaml --images images.json --timing lan": "rm -rf tree && onprem-infra render --role=master -c cluster.yaml --images images.json --timing vm --out tree",
}

// TestReadmeCommands runs every command of every page in its order, as a reader does who has
// followed the root's page before, or knows the test that does.
func TestReadmeCommands(t *testing.T) {
	need.Command(t, "ignition-validate")
	quick, bin := t.TempDir(), t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "onprem-infra"), []byte("#!/bin/sh\nONPREM_INFRA_BE=1 exec '"+self+"' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	run, known := 0, maps.Clone(elsewhere)
	for _, page := range pages(t) {
		dir := quick
		if page != "README.md" {
			dir = t.TempDir()
			if err := os.CopyFS(dir, os.DirFS(quick)); err != nil {
				t.Fatal(err)
			}
		}
		for _, command := range pageCommands(t, page) {
			prefix := prefixOf(command, slices.Collect(maps.Keys(elsewhere)))
			delete(known, prefix)
			target, isMake := strings.CutPrefix(command, "make ")
			script := "set -e\n" + readmeNeeds[prefixOf(command, slices.Collect(maps.Keys(readmeNeeds)))] + "\n" + command
			script = strings.NewReplacer("/usr/local/share/man", "man", "-c /etc/onprem-infra/cluster.json", "-c node/etc/onprem-infra/cluster.json --root host").Replace(script)
			args := []string{"-c", script}
			switch {
			case prefix != "":
				continue
			case isMake:
				hasTarget(t, page, strings.Fields(target)[0])
				continue
			case strings.Contains(command, "go test "):
				hasTests(t, page, command)
				continue
			case prefixOf(command, recipes) != "":
				args = append([]string{"-n"}, args...)
			default:
				run++
			}
			cmd := exec.Command("bash", args...)
			cmd.Dir, cmd.Env = dir, append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%s has %q: %v\n%s", page, command, err, out)
			}
		}
	}
	if run < 30 {
		t.Errorf("%d commands were run", run)
	}
	for prefix := range known {
		t.Errorf("no page has a command like %q any more", prefix)
	}
	for _, file := range []string{"failures.html", "worker.ign", "vip.html", "man/man1/onprem-infra-diff.1", "tree/install"} {
		if _, err := os.Stat(filepath.Join(quick, file)); err != nil {
			t.Error(err)
		}
	}
}

// prefixOf is the longest of the prefixes with which a command begins, empty for none.
func prefixOf(command string, prefixes []string) (longest string) {
	for _, prefix := range prefixes {
		if len(prefix) > len(longest) && (strings.HasPrefix(command, prefix) ||
			strings.HasPrefix(strings.ReplaceAll(command, "\\\n", ""), prefix)) {
			longest = prefix
		}
	}
	return longest
}

func hasTarget(t *testing.T, page, target string) {
	t.Helper()
	if !strings.Contains(pageText(t, "Makefile"), "\n"+target+":") {
		t.Errorf("%s has make %s, and the Makefile has no such target", page, target)
	}
}

// hasTests holds that the packages of a "go test" are there, and have a test of the name in -run.
func hasTests(t *testing.T, page, command string) {
	t.Helper()
	var all strings.Builder
	for _, m := range regexp.MustCompile(` \./(\S+)`).FindAllStringSubmatch(command, -1) {
		files, err := filepath.Glob(filepath.Join(repository, m[1], "*_test.go"))
		if err != nil || len(files) == 0 {
			t.Errorf("%s has %q: %s has no tests: %v", page, command, m[1], err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			all.Write(text)
		}
	}
	asked := regexp.MustCompile(`-run (\S+)`).FindStringSubmatch(command)
	if asked == nil {
		return
	}
	names := regexp.MustCompile(`(?m)^func (Test\w+)`).FindAllStringSubmatch(all.String(), -1)
	wanted := regexp.MustCompile(strings.Trim(asked[1], "'"))
	if !slices.ContainsFunc(names, func(name []string) bool { return wanted.MatchString(name[1]) }) {
		t.Errorf("%s has %q: there is no test %s", page, command, asked[1])
	}
}

// TestReadmeElsewhere holds that there is each test which stands in for a command that
// TestReadmeCommands does not run.
func TestReadmeElsewhere(t *testing.T) {
	var all strings.Builder
	for _, dir := range []string{".", "../../test/e2e", "../../test/kubeapi", "../../test/matrix", "../../shared/host/members"} {
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
		if !regexp.MustCompile(`(?m)^func ` + test + `\(`).MatchString(all.String()) {
			t.Errorf("%q: there is no test %s", command, test)
		}
	}
}

// TestReadmeVerbs holds that each command line in the running text and the blocks of a page, and in
// the examples of each verb, has a verb that there is, and flags that it has.
func TestReadmeVerbs(t *testing.T) {
	n := 0
	check := func(where, line string) {
		if fields := strings.Fields(line); len(fields) > 1 && fields[0] == "onprem-infra" {
			n++
			verbExists(t, where, fields[1:])
		}
	}
	for _, page := range pages(t) {
		text := regexp.MustCompile("(?ms)^```.*?^```$").ReplaceAllString(pageText(t, page), "")
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(text, -1) {
			check(page, m[1])
		}
		for _, command := range pageCommands(t, page) {
			for _, line := range commandLines(command) {
				check(page, line)
			}
		}
	}
	everyCommand(newRoot(streams{}), func(c *cobra.Command) {
		for line := range strings.Lines(c.Example) {
			check(c.CommandPath()+" --help", strings.TrimSpace(line))
		}
	})
	if n < 50 {
		t.Errorf("%d command lines", n)
	}
}

// commandLines are the single commands of what a shell reads, without what is set before each.
func commandLines(command string) (all []string) {
	command = strings.ReplaceAll(command, "\\\n", " ")
	for _, line := range regexp.MustCompile(`[|;&\n]+`).Split(command, -1) {
		all = append(all, regexp.MustCompile(`^\s*(\w+=\S*\s+|sudo |do )*`).ReplaceAllString(line, ""))
	}
	return all
}

// verbExists looks a verb and its flags up.
func verbExists(t *testing.T, where string, args []string) {
	t.Helper()
	if i := slices.IndexFunc(args, func(a string) bool { return strings.ContainsAny(a, "|><&;") }); i >= 0 {
		args = args[:i]
	}
	cmd, rest, err := newRoot(streams{}).Find(args)
	switch {
	case len(args) > 0 && regexp.MustCompile(`^[A-Z]+$`).MatchString(args[0]):
		return // VERB
	case err != nil || !cmd.HasParent() && len(rest) > 0 && !strings.HasPrefix(rest[0], "-"):
		t.Errorf("%s: there is no verb %q: %v", where, args, err)
		return
	}
	for _, arg := range rest {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		switch {
		case strings.HasPrefix(arg, "--"):
			if cmd.Flags().Lookup(name) == nil && name != "help" {
				t.Errorf("%s: %s has no flag %s", where, cmd.CommandPath(), arg)
			}
		case len(arg) == 2 && arg[0] == '-':
			if cmd.Flags().ShorthandLookup(name) == nil {
				t.Errorf("%s: %s has no flag %s", where, cmd.CommandPath(), arg)
			}
		}
	}
}

// TestReadmeSymptoms holds that the table of symptoms names each of doctor's checks, and nothing
// else.
func TestReadmeSymptoms(t *testing.T) {
	const page = "shared/operator/doctor/README.md"
	_, table, _ := strings.Cut(pageText(t, page), "<!-- symptoms:")
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
			t.Errorf("%s names no symptom of the check %q", page, check)
		}
	}
	for name := range named {
		if !checks[name] {
			t.Errorf("%s has %q, which is no check of doctor", page, name)
		}
	}
}

// TestReadmeFitsATerminal holds that no line of a page is wrapped by a terminal: no code, and no
// prose. A row of a table is one line, and so is a paragraph that is made from the code.
func TestReadmeFitsATerminal(t *testing.T) {
	generated := regexp.MustCompile(`(?s)<!-- \w+:[^>]*generated.*?<!-- end of \w+ -->`)
	for _, page := range pages(t) {
		for _, line := range tooWide(generated.ReplaceAllString(pageText(t, page), "")) {
			if !strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "<!-- ") {
				t.Errorf("%s: %s", page, line)
			}
		}
	}
}
