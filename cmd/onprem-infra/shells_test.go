package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// TestCompletionShells has each shell that Debian has complete a verb, a flag, and what a flag
// takes.
func TestCompletionShells(t *testing.T) {
	need.File(t, "/usr/share/bash-completion/bash_completion")
	// The shells ask the program, which is this test here.
	program := filepath.Join(t.TempDir(), "onprem-infra")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(program, []byte("#!/bin/sh\nONPREM_INFRA_BE=1 exec '"+self+"' \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ shell, script string }{
		// Each completes $line, and prints the candidates.
		{"bash", `source /usr/share/bash-completion/bash_completion
source <(onprem-infra completion bash)
COMP_LINE=$line COMP_POINT=${#line} COMP_WORDS=($line) COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
[ "${line% }" = "$line" ] || { COMP_WORDS+=(""); COMP_CWORD=$((COMP_CWORD + 1)); }
COMP_TYPE=9
__start_onprem-infra
printf '%s\n' "${COMPREPLY[@]}"`},
		{"zsh", `autoload -Uz compinit && compinit -u -D
source <(onprem-infra completion zsh)
[ "$_comps[onprem-infra]" = _onprem-infra ] || exit 1
_describe() { print -l -- "${completions[@]}" }
compadd() { print -l -- "$@" }
words=(${=line}); [ "${line% }" = "$line" ] || words+=("")
CURRENT=$#words
_onprem-infra`},
		{"fish", `onprem-infra completion fish | source
complete -C "$line"`},
	} {
		t.Run(tt.shell, func(t *testing.T) {
			shell := need.Command(t, tt.shell)
			for line, want := range map[string]string{
				"onprem-infra simul":               "simulate",
				"onprem-infra bootstrap run v":     "vip",
				"onprem-infra diff --role ":        "bootstrap",
				"onprem-infra simulate --timing c": "compat",
				"onprem-infra plan --stri":         "--strict",
			} {
				args := []string{"-c", tt.script}
				if tt.shell == "zsh" {
					args = append([]string{"-f"}, args...)
				}
				cmd := exec.Command(shell, args...)
				home := t.TempDir()
				cmd.Env = append(os.Environ(), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "line="+line, "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_DATA_HOME="+home)
				out, err := cmd.CombinedOutput()
				if err != nil {
					t.Fatalf("%s: %v\n%s", line, err, out)
				}
				got := strings.FieldsFunc(string(out), func(r rune) bool { return strings.ContainsRune("\n\t :", r) })
				if !slices.Contains(got, want) {
					t.Errorf("%s: completes to\n%s\nwithout %q", line, out, want)
				}
			}
		})
	}
}
