package importer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// own is the path of our module.
const own = "github.com/onprem-infra/onprem-infra"

// program is what another module has that uses everything which is there to be imported.
const program = `package main

import (
	"fmt"
	"os"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/ignition"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func main() {
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	described, findings := spec.Parse(os.Args[1], text, spec.Knobs{})
	if findings.HasErrors() {
		panic(findings)
	}
	described.Images = map[string]string{}
	for _, key := range []string{spec.RuntimeCfgImage, spec.KeepalivedImage, spec.HAProxyImage, spec.CoreDNSImage} {
		described.Images[key] = "registry.example.com/onprem:1"
	}
	p, err := plan.Compile(described)
	if err != nil {
		panic(err)
	}
	first, err := bootstrap.Assets(p)
	if err != nil {
		panic(err)
	}
	document, err := ignition.Encode(first)
	if err != nil {
		panic(err)
	}
	fmt.Println(len(document) > 1000)
	for _, r := range []role.Role{role.Master, role.Worker} {
		set, err := cluster.Assets(p, r)
		if err != nil {
			panic(err)
		}
		object, err := ignition.MachineConfig(set, r)
		if err != nil {
			panic(err)
		}
		fmt.Println(r, len(object) > 1000)
	}
}
`

// goTool runs the go command in a directory, without a network and without a change of go.mod: what
// our own build has not brought to this machine is not needed.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=readonly", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "CGO_ENABLED=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(out.String())
}

// required are the modules that our go.mod names, as module@version.
func required(t *testing.T, us string) (modules []string) {
	t.Helper()
	var file struct {
		Require []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(goTool(t, us, "mod", "edit", "-json")), &file); err != nil {
		t.Fatal(err)
	}
	for _, r := range file.Require {
		modules = append(modules, r.Path+"@"+r.Version)
	}
	return modules
}

// makeImporter makes the module of a program that imports ours, with the versions of other modules
// that ours names. Its go.sum is ours: the checksum database is not asked.
func makeImporter(t *testing.T, us string, modules []string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	sums, err := os.ReadFile(filepath.Join(us, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		"main.go": []byte(program), "install-config.yaml": installConfig(10), "go.sum": sums,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	goTool(t, dir, "mod", "init", "example.com/program")
	edit := []string{"mod", "edit", "-require=" + own + "@v0.0.0", "-replace=" + own + "@v0.0.0=" + us}
	for _, module := range modules {
		edit = append(edit, "-require="+module)
	}
	goTool(t, dir, edit...)
	return dir
}

// TestImportingProgram makes a module that imports this one, builds its program without a build tag, and
// runs it. The modules that hold its packages are what it takes to import us, and they suffice: the
// program is built from a go.mod that names no others. No count depends on the module cache, as
// "go mod tidy" does: that also asks for what the tests of others import.
func TestImportingProgram(t *testing.T) {
	us, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	all := required(t, us)
	const format = "{{with .Module}}{{if not (or .Main .Replace)}}{{.Path}}@{{.Version}}{{end}}{{end}}"
	wide := makeImporter(t, us, all)
	modules := slices.Compact(slices.Sorted(slices.Values(strings.Fields(
		goTool(t, wide, "list", "-deps", "-f", format, ".")))))
	dir := makeImporter(t, us, modules)
	goTool(t, dir, "build", "-o", "program", ".")
	for _, p := range strings.Fields(goTool(t, dir, "list", "-deps", ".")) {
		for _, heavy := range []string{"k8s.io/", "github.com/containers/", "github.com/coredns/", "github.com/vishvananda/", "github.com/spf13/", "google.golang.org/"} {
			if strings.HasPrefix(p, heavy) {
				t.Errorf("the program holds %s", p)
			}
		}
	}
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "program"), filepath.Join(dir, "install-config.yaml"))
	out, err := cmd.CombinedOutput()
	if want := "true\nmaster true\nworker true\n"; err != nil || string(out) != want {
		t.Errorf("%v: it prints %q, want %q", err, out, want)
	}
	statement := fmt.Sprintf("A program that imports all of them is built from %d modules of others, of the %d that our go.mod names", len(modules), len(all))
	text, err := os.ReadFile("../../shared/README.md")
	if err != nil || len(modules) == 0 || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), statement) {
		t.Errorf("shared/README.md does not state: %s (%v): %s", statement, err, modules)
	}
}
