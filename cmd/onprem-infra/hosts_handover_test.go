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

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// reversed runs a verb of the handover on a bootstrap machine with a journal, whose phase machine last
// reported so long ago.
func reversed(t *testing.T, own files, age time.Duration, verb func(streams, files) *cobra.Command, args ...string) (code int, text string) {
	t.Helper()
	report := progress.Encode(progress.Progress{Phase: progress.Takeover, At: time.Now().Add(-age)})
	if err := os.WriteFile(own.run.ProgressFile(), report, 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	cmd := verb(streams{out: &out, err: &out}, own)
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	markHostFailures(cmd)
	cmd.SetArgs(args)
	err := cmd.ExecuteContext(t.Context())
	if err == nil {
		return 0, out.String()
	}
	return err.(exitError).code, out.String() + err.Error()
}

// TestHostsTakeBack holds that the verbs ask exactly for what the journal's handover allows, of a phase
// machine that works, with the reason for its journal.
func TestHostsTakeBack(t *testing.T) {
	at := time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)
	phase := func(p progress.Phase, after int) ledger.Entry {
		return ledger.Entry{Time: at.Add(time.Duration(after) * time.Second), Kind: ledger.Phase, Phase: p}
	}
	handing := []ledger.Entry{phase(progress.Announce, 0), phase(progress.Takeover, 1)}
	held := append(handing[:2:2], ledger.Entry{Time: at.Add(9 * time.Second), Kind: ledger.Back})
	released := append(handing[:2:2], phase(progress.Release, 2), ledger.Entry{Time: at.Add(3 * time.Second), Kind: ledger.Released, Hosts: []string{"w0"}})
	yes := []string{"--yes", "--why", "no image"}
	for name, tt := range map[string]struct {
		verb    func(streams, files) *cobra.Command
		journal []ledger.Entry
		age     time.Duration
		args    []string
		code    int
		want    string
		of      time.Time // of what is asked for
	}{
		"handing over":    {takeBackCommand, handing, 0, yes, 0, "provisioning will be taken back", at},
		"without --yes":   {takeBackCommand, handing, 0, nil, 2, "add --yes", time.Time{}},
		"not yet":         {takeBackCommand, []ledger.Entry{phase(progress.Deploy, 0)}, 0, yes, 1, `the handover has not begun: the phase is "deploy"`, time.Time{}},
		"it has ended":    {takeBackCommand, append(handing[:2:2], phase(progress.Ended, 3)), 0, yes, 1, "the handover has ended", time.Time{}},
		"hosts began":     {takeBackCommand, released, 0, yes, 1, "this machine has let hosts of the cluster begin at 2026-11-20T10:00:03Z", time.Time{}},
		"a second time":   {takeBackCommand, held, 0, yes, 1, "it was taken back at 2026-11-20T10:00:09Z", time.Time{}},
		"it stands still": {takeBackCommand, handing, progress.Late, yes, 3, "onprem-provision does not run", time.Time{}},
		"again":           {handOverCommand, held, 0, []string{"--why", "no image"}, 0, "provisioning will be handed over again", at.Add(9 * time.Second)},
		"by itself":       {handOverCommand, handing, 0, nil, 1, "provisioning is not taken back", time.Time{}},
	} {
		t.Run(name, func(t *testing.T) {
			own := machineFiles(t, describedBMC(t, "x", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}}), "x")
			if err := own.journal.Append(tt.journal...); err != nil {
				t.Fatal(err)
			}
			// The description shares an address, which this machine has again, and its cluster has no Ironic
			// of ours.
			code, text := reversed(t, own, tt.age, tt.verb, tt.args...)
			if code != tt.code || !strings.Contains(text, tt.want) {
				t.Errorf("exit %d: %s", code, text)
			}
			got, err := own.run.ReadReversal()
			if err != nil || !got.Of.Equal(tt.of) {
				t.Errorf("it asks for %+v, %v", got, err)
			}
			if tt.code == 0 && (got.Why != "no image" || time.Since(got.At) > time.Minute || got.Back != (tt.args[0] == "--yes")) {
				t.Errorf("it asks for %+v", got)
			}
		})
	}
}

// TestHostsTakeBack_Cluster holds that the verb refuses while it is not known what the cluster does, and
// names the command that stops the cluster's own Ironic.
func TestHostsTakeBack_Cluster(t *testing.T) {
	api := &openShift{answers: map[string]string{
		"/apis/metal3.io/v1alpha1/namespaces/openshift-machine-api/baremetalhosts": `{"items":[{"metadata":{"name":"w0","annotations":{"baremetalhost.metal3.io/paused":"until the handover"}}}]}`,
		"/apis/apps/v1/namespaces/openshift-machine-api/deployments/metal3":        `{"status":{"replicas":1}}`,
		"/apis/metal3.io/v1alpha1/provisionings/provisioning-configuration":        `{"metadata":{}}`,
	}}
	kubeconfig := api.kubeconfig(t)
	c := handover.Cluster{Metal3: true, Operator: true, Returns: true}
	p := plan.Plan{Provisioning: &provision.Plan{}}
	p.Distribution, p.Namespace = spec.OpenShift, "openshift-kni-infra"
	m := ledger.Memory{Phase: progress.Takeover}
	refusal := func(kubeconfig string) string { return c.Refusal(m, viewOf(t.Context(), c, p, kubeconfig)) }
	const stop = `the cluster's own Ironic runs: stop it by 'kubectl annotate --overwrite provisionings.metal3.io provisioning-configuration provisioning.metal3.io/paused="until the handover" && kubectl --namespace openshift-machine-api scale deployment metal3 --replicas=0'`
	if got := refusal(kubeconfig); got != stop {
		t.Errorf("Ironic runs: %q", got)
	}
	if got := refusal(filepath.Join(t.TempDir(), "none")); !strings.HasPrefix(got, "it is not known whether hosts of the cluster have begun: read kubeconfig") {
		t.Errorf("no credentials: %q", got)
	}
	api.answers["/apis/apps/v1/namespaces/openshift-machine-api/deployments/metal3"] = `{"spec":{"replicas":0}}`
	if got := refusal(kubeconfig); got != "" {
		t.Errorf("it is stopped: %q", got)
	}
	api.answers["/apis/metal3.io/v1alpha1/namespaces/openshift-machine-api/baremetalhosts"] = `{"items":[{"metadata":{"name":"w0"}}]}`
	if got := refusal(kubeconfig); !strings.HasPrefix(got, "metal3 may have begun with 1 hosts (w0)") {
		t.Errorf("a host has begun: %q", got)
	}
}

// TestHostsTakeBack_Elsewhere holds that another host leads to the bootstrap machine.
func TestHostsTakeBack_Elsewhere(t *testing.T) {
	for _, verb := range []func(streams, files) *cobra.Command{takeBackCommand, handOverCommand} {
		cmd := verb(streams{out: io.Discard, err: io.Discard}, files{cluster: filepath.Join(t.TempDir(), "cluster.json")})
		cmd.SilenceErrors, cmd.SilenceUsage = true, true
		markHostFailures(cmd)
		cmd.SetArgs([]string{})
		err := cmd.ExecuteContext(t.Context())
		var code exitError
		if !errors.As(err, &code) || code.code != 3 || !strings.Contains(err.Error(), "run the command there") {
			t.Errorf("%s: %+v", cmd.Name(), err)
		}
	}
}

// TestHostsTakeBack_Torn holds that a file of nothing asks for nothing.
func TestHostsTakeBack_Torn(t *testing.T) {
	dir := hostorders.Dir(t.TempDir())
	for _, text := range []string{"", "{}", `{"version":1,"content":{"back":true}}`} {
		if err := os.WriteFile(dir.ReversalFile(), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if r, err := dir.ReadReversal(); err == nil {
			t.Errorf("%q asks for %+v", text, r)
		}
	}
}
