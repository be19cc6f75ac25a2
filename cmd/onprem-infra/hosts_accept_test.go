package main

import (
	"bytes"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// TestHostsAccept holds that the verb accepts a check that blocks now, for the present preflight, beside
// what was accepted before; and nothing else.
func TestHostsAccept(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 123, time.UTC)
	blockers := []string{"ra-foreign: router advertisements: fe80::1: stop them", "bmc-tls:m0: it has expired: renew it", "read the secrets: no such file"}
	own := machineFiles(t, describedBMC(t, "x", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}}), "x")
	for _, tt := range []struct {
		name     string
		phase    progress.Phase
		blockers []string
		age      time.Duration // of the phase machine's report
		args     []string
		code     int
		want     string
		accepted string // in the end
	}{
		{"too early", progress.Services, blockers, 0, []string{"ra-foreign", "--yes"}, 1, `checked in the phase "preflight", and it is "services"`, ""},
		{"without --yes", progress.Preflight, blockers, 0, []string{"ra-foreign"}, 2, "add --yes", ""},
		{"a slip", progress.Preflight, blockers, 0, []string{"bmc-tsl:m0", "--yes"}, 1, "is it bmc-tls:m0 that you mean?", ""},
		{"no host", progress.Preflight, blockers, 0, []string{"power", "--yes"}, 1, `no check "power" blocks: ra-foreign, bmc-tls:m0 does`, ""},
		{"nothing blocks", progress.Preflight, blockers[2:], 0, []string{"ra-foreign", "--yes"}, 1, "no check blocks now", ""},
		{"a phase machine that stands still", progress.Preflight, blockers, progress.Late, []string{"ra-foreign", "--yes"}, 3, "onprem-provision does not run", ""},
		{"a check", progress.Preflight, blockers, 0, []string{"ra-foreign", "--yes", "--why", "known"}, 0, "ra-foreign: accepted", "ra-foreign known"},
		{"of a host", progress.Preflight, blockers, 0, []string{"bmc-tls:m0", "--yes"}, 0, "bmc-tls:m0: accepted", "ra-foreign known, bmc-tls:m0 a person asked for it"},
		{"too late", progress.Deploy, nil, 0, []string{"ra-foreign", "--yes"}, 1, `it is "deploy"`, "ra-foreign known, bmc-tls:m0 a person asked for it"},
	} {
		if err := own.journal.Append(ledger.Entry{Time: at, Kind: ledger.Phase, Phase: tt.phase}); err != nil {
			t.Fatal(err)
		}
		report := progress.Encode(progress.Progress{Phase: tt.phase, At: time.Now().Add(-tt.age), Blockers: tt.blockers})
		if err := os.WriteFile(own.run.ProgressFile(), report, 0o644); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		cmd := acceptCommand(streams{out: &out, err: &out}, own)
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		markHostFailures(cmd)
		cmd.SetArgs(tt.args)
		err := cmd.ExecuteContext(t.Context())
		code, text := 0, out.String()
		if err != nil {
			code, text = err.(exitError).code, text+err.Error()
		}
		if code != tt.code || !strings.Contains(text, tt.want) {
			t.Errorf("%s: exit %d: %s", tt.name, code, text)
		}
		all, err := own.run.ReadAcceptances()
		var accepted []string
		for _, a := range all {
			accepted = append(accepted, a.Check+" "+a.Why)
			if !a.Of.Equal(at) || time.Since(a.At) > time.Minute {
				t.Errorf("%s: it accepts %+v", tt.name, a)
			}
		}
		if got := strings.Join(accepted, ", "); err != nil || got != tt.accepted {
			t.Errorf("%s: it accepts %q, %v", tt.name, got, err)
		}
	}
}
