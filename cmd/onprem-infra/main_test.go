package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	if os.Getenv("ONPREM_INFRA_BE") == "1" {
		main() // for programs that a test starts, and that start this one
	}
	testscript.Main(m, map[string]func(){"onprem-infra": main})
}

// TestScript runs the command as users do. To see what a script did: go test -run
// TestScript/validate -v.
func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, RequireUniqueNames: true})
}
