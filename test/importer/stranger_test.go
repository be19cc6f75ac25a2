package importer

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// stranger is a program of somebody else that uses everything which is there to be imported.
const stranger = `package main

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

// goTool runs the go command in a directory, without a network: what is not on this machine is not needed.
func goTool(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOFLAGS=-mod=mod", "GOPROXY=off", "GOSUMDB=off", "GOWORK=off", "CGO_ENABLED=0")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("go %s: %v\n%s", strings.Join(args, " "), err, errs.String())
	}
	return strings.TrimSpace(out.String())
}

// TestStranger makes a module that imports this one, builds its program without a build tag, and runs it. What the module's go.mod and go.sum gain is what
// it takes to import us; most of what our own go.mod names is not among it.
func TestStranger(t *testing.T) {
	us, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	sums, err := os.ReadFile(filepath.Join(us, "go.sum"))
	if err != nil {
		t.Fatal(err)
	}
	write := func(name string, text []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	lines := func(name string) int {
		text, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		return bytes.Count(text, []byte("\n"))
	}
	write("main.go", []byte(stranger))
	write("install-config.yaml", installConfig(10))
	goTool(t, dir, "mod", "init", "example.com/stranger")
	modBefore, sumBefore := lines("go.mod"), lines("go.sum")
	goTool(t, dir, "mod", "edit", "-require=github.com/onprem-infra/onprem-infra@v0.0.0", "-replace=github.com/onprem-infra/onprem-infra@v0.0.0="+us)
	write("go.sum", sums) // the checksum database is not asked: "go mod tidy" keeps what is needed
	goTool(t, dir, "mod", "tidy", "-e")
	goTool(t, dir, "build", "-o", "stranger", ".")
	if modules := strings.Count(goTool(t, dir, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}}{{end}}{{end}}", "."), "\n"); modules == 0 {
		t.Error("the program uses no module")
	}
	packages := strings.Fields(goTool(t, dir, "list", "-deps", "."))
	foreign := 0
	for _, p := range packages {
		for _, heavy := range []string{"k8s.io/", "github.com/containers/", "github.com/coredns/", "github.com/vishvananda/", "github.com/spf13/", "google.golang.org/"} {
			if strings.HasPrefix(p, heavy) {
				t.Errorf("the stranger's program holds %s", p)
			}
		}
		if first, _, _ := strings.Cut(p, "/"); strings.Contains(first, ".") && !strings.HasPrefix(p, "github.com/onprem-infra/") && first != "example.com" {
			foreign++
		}
	}
	t.Logf("go.mod %d -> %d lines, go.sum %d -> %d lines; %d packages, %d of them of other modules", modBefore, lines("go.mod"), sumBefore, lines("go.sum"), len(packages), foreign)
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "stranger"), filepath.Join(dir, "install-config.yaml"))
	out, err := cmd.CombinedOutput()
	if want := "true\nmaster true\nworker true\n"; err != nil || string(out) != want {
		t.Errorf("%v: it prints %q, want %q", err, out, want)
	}
	said := fmt.Sprintf("A stranger's go.mod grows from %d to %d lines and its go.sum from none to %d", modBefore, lines("go.mod"), lines("go.sum"))
	text, err := os.ReadFile("../../README.md")
	if err != nil || sumBefore != 0 || !strings.Contains(strings.Join(strings.Fields(string(text)), " "), said) {
		t.Errorf("README does not say: %s (%v)", said, err)
	}
}
