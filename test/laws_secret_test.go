package test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// revealing are the shipped files that may read the text of a secret, each with its reason.
var revealing = map[string]string{
	"cluster/metal3/metal3.go":                 "OpenShift's operators read the accounts of BMCs and the networks of hosts in Secrets",
	"shared/host/ironic/ironic.go":             "the account of Ironic's API is sent to it",
	"shared/host/ironic/write.go":              "Ironic wants the accounts of BMCs and the config drive",
	"shared/frr/text.go":                       "a command for a daemon has the password of its router",
	"shared/host/bgpprobe/bgpprobe.go":         "the kernel signs packets by it",
	"shared/host/frr/vty.go":                   "the command is sent to the daemon",
	"shared/provisioning/hostfile/hostfile.go": "it is the one file that has them",
	"shared/announcing/passwords.go":           "it makes the one file that hosts read them from",
	"shared/spec/routing/installconfig.go":     "it compares two of one router, and their lengths, and repeats none",
	"shared/host/identity/ask.go":              "Ironic wants the account, once its certificate is known",
	"shared/host/preflight/targets/targets.go": "a BMC wants its account; the reader of Redfish sends it",
}

// TestLawsSecrets holds that the text of a secret is read where that is needed and nowhere else: of
// what a file does not read, it can print nothing.
func TestLawsSecrets(t *testing.T) {
	used := map[string]bool{}
	for _, p := range shipped(t) {
		if p.room() == "shared/secret" {
			continue
		}
		fset, files := source(t, p)
		for name, f := range files {
			if at := reveals(f); at != token.NoPos {
				file := p.room() + "/" + name
				if used[file] = true; revealing[file] == "" {
					t.Errorf("%s: it reads a secret: state the reason in test/laws_secret_test.go, or pass the secret on", fset.Position(at))
				}
			}
		}
	}
	for file := range revealing {
		if !used[file] {
			t.Errorf("test/laws_secret_test.go: %s reads no secret: take its reason out", file)
		}
	}
}

// reveals is where a file reads a secret.
func reveals(f *ast.File) (at token.Pos) {
	ast.Inspect(f, func(n ast.Node) bool {
		if sel, ok := n.(*ast.SelectorExpr); ok && sel.Sel.Name == "Reveal" {
			at = sel.Sel.Pos()
		}
		return true
	})
	return at
}

// TestLawsSecrets_SeesOne holds that the law finds the method, as it has that name.
func TestLawsSecrets_SeesOne(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "shared", "secret", "secret.go"))
	if err != nil || !strings.Contains(string(text), "func (t Text) Reveal() string {") {
		t.Errorf("shared/secret has no method Reveal: the law looks for nothing (%v)", err)
	}
	f, err := parser.ParseFile(token.NewFileSet(), "a.go", "package a\nvar b = c.password.Reveal()", 0)
	if err != nil || reveals(f) == token.NoPos {
		t.Errorf("the law does not find a call (%v)", err)
	}
}
