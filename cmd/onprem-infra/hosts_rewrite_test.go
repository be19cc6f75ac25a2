package main

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// TestHostsRewrite holds that the verb allows exactly the write of the disk that the journal has, on
// a bootstrap machine whose phase machine works, and never that of a host which has joined.
func TestHostsRewrite(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	phase := ledger.Entry{Time: at, Kind: ledger.Phase, Phase: progress.Deploy}
	asked := ledger.Entry{Time: at.Add(time.Second), Kind: ledger.Asked, Host: "m0", Verb: node.Deploy}
	doubt := ledger.Entry{Time: at.Add(2 * time.Second), Kind: ledger.Doubt, Host: "m0"}
	written := ledger.Entry{Time: doubt.Time, Kind: ledger.Written, Host: "m0"}
	late := ledger.Entry{Time: at.Add(3 * time.Second), Kind: ledger.Blocked, Host: "m0", Cause: "it has not joined"}
	joined := ledger.Entry{Time: at.Add(3 * time.Second), Kind: ledger.Joined, Host: "m0"}
	ended := ledger.Entry{Time: at.Add(4 * time.Second), Kind: ledger.Phase, Phase: progress.Ended}
	for name, tt := range map[string]struct {
		journal []ledger.Entry
		age     time.Duration // of the phase machine's report
		args    []string
		code    int
		want    string
	}{
		"in doubt":           {[]ledger.Entry{phase, asked, doubt}, 0, []string{"m0", "--yes", "--why", "no boot device"}, 0, "will be written anew"},
		"without --yes":      {[]ledger.Entry{phase, asked, doubt}, 0, []string{"m0"}, 2, "add --yes"},
		"joined":             {[]ledger.Entry{phase, asked, doubt, joined}, 0, []string{"m0", "--yes"}, 1, "m0 joined the cluster at 2026-11-20T10:00:03Z"},
		"complete, in time":  {[]ledger.Entry{phase, asked, written}, 0, []string{"m0", "--yes"}, 1, "may join the cluster yet"},
		"complete, and late": {[]ledger.Entry{phase, asked, written, late}, 0, []string{"m0", "--yes", "--why", "no boot device"}, 0, "will be written anew"},
		"not written":        {[]ledger.Entry{phase, asked}, 0, []string{"m0", "--yes"}, 1, "counts as not written"},
		"all is over":        {[]ledger.Entry{phase, asked, doubt, ended}, 0, []string{"m0", "--yes"}, 1, `it is "ended"`},
		"another name":       {[]ledger.Entry{phase, asked, doubt}, 0, []string{"mo", "--yes"}, 1, "it deploys m0"},
		"a phase machine that stands still": {[]ledger.Entry{phase, asked, doubt}, progress.Late, []string{"m0", "--yes"}, 3,
			"onprem-provision does not run"},
	} {
		t.Run(name, func(t *testing.T) {
			own := machineFiles(t, describedBMC(t, "x", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}}), "x")
			if err := own.journal.Append(tt.journal...); err != nil {
				t.Fatal(err)
			}
			report := progress.Encode(progress.Progress{Phase: progress.Deploy, At: time.Now().Add(-tt.age)})
			if err := os.WriteFile(own.run.ProgressFile(), report, 0o644); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			cmd := rewriteCommand(streams{out: &out, err: &out}, own)
			cmd.SilenceErrors, cmd.SilenceUsage = true, true
			markHostFailures(cmd)
			cmd.SetArgs(tt.args)
			err := cmd.ExecuteContext(t.Context())
			code, text := 0, out.String()
			if err != nil {
				code, text = err.(exitError).code, text+err.Error()
			}
			if code != tt.code || !strings.Contains(text, tt.want) {
				t.Errorf("exit %d: %s", code, text)
			}
			got, err := own.run.ReadRewrite("m0")
			if err != nil || (tt.code == 0) != got.Barred.Equal(doubt.Time) {
				t.Errorf("it allows %+v, %v", got, err)
			}
			if tt.code == 0 && (got.Why != "no boot device" || time.Since(got.At) > time.Minute) {
				t.Errorf("it allows %+v", got)
			}
		})
	}
}

// TestHostsRewrite_Elsewhere holds that another host leads to the bootstrap machine, and not to a flag
// that the verb does not have.
func TestHostsRewrite_Elsewhere(t *testing.T) {
	cmd := rewriteCommand(streams{out: io.Discard, err: io.Discard}, files{cluster: filepath.Join(t.TempDir(), "cluster.json")})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	markHostFailures(cmd)
	cmd.SetArgs([]string{"m0", "--yes"})
	err := cmd.ExecuteContext(t.Context())
	var code exitError
	if !errors.As(err, &code) || code.code != 3 || !strings.Contains(err.Error(), "run the command there") {
		t.Errorf("%+v", err)
	}
}

// TestHostsRewrite_Torn holds that a file of nothing allows nothing.
func TestHostsRewrite_Torn(t *testing.T) {
	dir := hostorders.Dir(t.TempDir())
	for _, text := range []string{"", "{}", `{"version":1,"content":{"host":"m0"}}`, `{"version":1,"content":{"host":"m1","barred":"2026-11-20T10:00:03Z"}}`} {
		if err := os.WriteFile(dir.RewriteFile("m0"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := dir.ReadRewrite("m0"); err == nil {
			t.Errorf("%q allows %+v", text, r)
		}
	}
}
