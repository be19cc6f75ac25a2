//go:build remote

package main

import (
	"context"
	"errors"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/progress"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// erased is how a line of progress begins.
const erased = "\r\x1b[K"

// TestProgress_Simulate holds that a person at a terminal sees how far it is, and that a program, a
// terminal that cannot draw over a line, and whoever wants it quiet get nothing of that.
func TestProgress_Simulate(t *testing.T) {
	script := need.Command(t, "script")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "c.yaml")
	if err := os.WriteFile(config, []byte(must(t, "", "example", "install-config")), 0o644); err != nil {
		t.Fatal(err)
	}
	verb := "simulate --phases 2 --schedules 20 -c " + config
	for _, tt := range []struct {
		name, term string
		args       []string
		shown      bool
	}{
		{"a terminal", "xterm", []string{script, "-qec", self + " " + verb, "/dev/null"}, true},
		{"a terminal, quiet", "xterm", []string{script, "-qec", self + " " + verb + " -q", "/dev/null"}, false},
		{"a dumb terminal", "dumb", []string{script, "-qec", self + " " + verb, "/dev/null"}, false},
		{"a pipe", "xterm", append([]string{self}, strings.Fields(verb)...), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), tt.args[0], tt.args[1:]...)
			cmd.Env = append(os.Environ(), "ONPREM_INFRA_BE=1", "TERM="+tt.term)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
			shown := strings.Contains(string(out), erased+"power-loss, in 2 phases (") &&
				strings.Contains(string(out), erased+"random schedules: 0 of 20 (") && strings.Contains(string(out), erased+"scenario ")
			if shown != tt.shown || !tt.shown && strings.Contains(string(out), erased) {
				t.Errorf("%q", out)
			}
		})
	}
}

// TestProgress_Doctor holds that doctor shows how far it is, and what the first look found before
// the second one has confirmed it.
func TestProgress_Doctor(t *testing.T) {
	var shown strings.Builder
	host := fakehost.Doctor(t, fakehost.PlanWithImages(t))
	host.Daemons.LookupAt = func(context.Context, netip.Addr, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("198.51.100.1")}, nil
	}
	line := progress.Start(&shown, "inspecting")
	r := host.Diagnose(t.Context(), diagnose.Progress{Line: line, First: doctorFirst})
	line.Done()
	if len(r.Findings) == 0 {
		t.Fatal("it found nothing")
	}
	first, second, ok := strings.Cut(shown.String(), "seen at the first inspection; a second one follows:\n  ["+string(r.Findings[0].Check)+"] ")
	if !ok || !strings.Contains(first, erased+"first inspection: 1 of ") || !strings.Contains(second, erased+"second inspection: 1 of ") ||
		!strings.HasSuffix(second, erased) {
		t.Errorf("%q", shown.String())
	}
}

// TestProgress_Hosts holds that a person at a terminal sees how many BMCs have been asked, and that
// nobody else does.
func TestProgress_Hosts(t *testing.T) {
	script := need.Command(t, "script")
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	config := describedBMC(t, "Pl4ntedS3cret", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}})
	for verb, want := range map[string]string{
		"hosts":                 "asking the BMCs of the hosts: 1 of 1 are done (",
		"hosts disks":           "asking the BMCs of the hosts: 1 of 1 are done (",
		"doctor --provisioning": "asking the provisioning network and the BMCs: 1 of 1 BMCs are done (",
	} {
		for _, quiet := range []string{"", " -q"} {
			cmd := exec.CommandContext(t.Context(), script, "-qec", self+" "+verb+quiet+" -c "+config, "/dev/null")
			cmd.Env = append(os.Environ(), "ONPREM_INFRA_BE=1", "TERM=xterm")
			out, err := cmd.CombinedOutput()
			if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) {
				t.Fatal(err)
			}
			if strings.Contains(string(out), erased+want) != (quiet == "") || !strings.Contains(string(out), "m0") {
				t.Errorf("%s%s: %q", verb, quiet, out)
			}
		}
	}
}
