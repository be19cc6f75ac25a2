//go:build remote

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	hostledger "github.com/onprem-infra/onprem-infra/shared/host/ledger"
	"github.com/onprem-infra/onprem-infra/shared/host/readiness"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// provisioningNetwork is a host without any address, and one that serves DHCP.
func provisioningNetwork(t *testing.T) (own, server *lab.Host, leases string) {
	t.Helper()
	l := lab.New(t)
	own, err := l.Add("own")
	if err == nil {
		server, err = l.Add("server", netip.MustParsePrefix("172.22.0.2/24"))
	}
	if err != nil {
		t.Fatal(err)
	}
	leases = t.TempDir() + "/leases"
	cmd := server.Command(t.Context(), need.Command(t, "dnsmasq"), "--keep-in-foreground",
		"--conf-file=/dev/null", "--port=0", "--interface=eth0", "--bind-dynamic", "--user=root",
		"--no-ping", "--pid-file=", "--log-facility=-", "--dhcp-leasefile="+leases,
		"--dhcp-range=172.22.0.100,172.22.0.150,1h", "--dhcp-boot=foreign.efi")
	log, err := cmd.StderrPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	for text := ""; !strings.Contains(text, "DHCP, IP range"); {
		b := make([]byte, 1<<12)
		n, err := log.Read(b)
		if err != nil {
			t.Fatalf("dnsmasq ended: %v: %s", err, text)
		}
		text += string(b[:n])
	}
	go func() { _, _ = io.Copy(io.Discard, log) }()
	return own, server, leases
}

// inspectLink runs doctor on a host of the lab.
func inspectLink(t *testing.T, on *lab.Host, args ...string) (out string, code int) {
	t.Helper()
	cmd := on.Command(t.Context(), os.Args[0], append([]string{"doctor"}, args...)...)
	cmd.Env = append(os.Environ(), "ONPREM_INFRA_BE=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	if exit := new(exec.ExitError); err != nil && !errors.As(err, &exit) || stderr.Len() > 0 {
		t.Fatalf("%v: %s", err, stderr.String())
	}
	return string(text), cmd.ProcessState.ExitCode()
}

// TestDoctorProvisioning holds what an operator sees of a DHCP server that is not stated, and that
// no lease is taken.
func TestDoctorProvisioning(t *testing.T) {
	own, _, leases := provisioningNetwork(t)
	out, code := inspectLink(t, own, "--provisioning-link", "eth0")
	folded := strings.Join(strings.Fields(out), " ")
	for _, want := range []string{"provisioning link eth0 (managed)", "1. [dhcp-foreign] error: DHCP servers, seen from this host, link eth0 (",
		"seen: 172.22.0.2 (", `by DHCP offers the address 172.22.0.1`, `the boot file "foreign.efi"`, "do: stop it on this network", "one thing is wrong"} {
		if !strings.Contains(folded, want) {
			t.Errorf("it does not print %q", want)
		}
	}
	if code != exitFindings || t.Failed() {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	if text, err := os.ReadFile(leases); len(text) > 0 || err != nil && !os.IsNotExist(err) {
		t.Errorf("leases: %q, %v", text, err)
	}
}

// TestDoctorProvisioningJSON holds the fields that scripts go by, that the help names each, and that
// a stated server is no finding.
func TestDoctorProvisioningJSON(t *testing.T) {
	own, _, _ := provisioningNetwork(t)
	out, code := inspectLink(t, own, "--provisioning-link", "eth0", "--provisioning-server", "172.22.0.2", "--provisioning-address", "172.22.0.2", "-o", "json")
	var top map[string]any
	if err := json.Unmarshal([]byte(out), &top); err != nil || code != exitFindings {
		t.Fatalf("exit code %d, %v:\n%s", code, err, out)
	}
	for _, name := range []string{"at", "link", "mode", "servers", "checks", "findings", "unseen"} {
		if _, ok := top[name]; !ok || !strings.Contains(doctorLong, name) {
			t.Errorf("%s is not in the object, or not in the help", name)
		}
	}
	var report diagnose.ProvisioningReport
	if err := json.Unmarshal([]byte(out), &report); err != nil {
		t.Fatal(err)
	}
	if len(report.Servers) != 1 || report.Servers[0].Offered.BootFile != "foreign.efi" ||
		len(report.Findings) != 1 || report.Findings[0].Check != "prov-taken" {
		t.Errorf("received %+v, found %+v", report.Servers, report.Findings)
	}
	finding, _ := top["findings"].([]any)[0].(map[string]any)
	for _, name := range []string{"check", "severity", "looked", "seen", "do", "vantage"} {
		if finding[name] == "" || !strings.Contains(doctorLong, name) {
			t.Errorf("%s is not in the finding, or not in the help", name)
		}
	}
	out, code = inspectLink(t, own, "--provisioning-link", "eth0", "--provisioning-mode", "unmanaged")
	if code != 0 || !strings.Contains(out, "11 checks: nothing is wrong") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
}

// TestReadyHost holds what doctor --provisioning inspects, on the bootstrap machine and elsewhere, and
// that it is the phase machine's preflight.
func TestReadyHost(t *testing.T) {
	file := describedBMC(t, "Pl4ntedS3cret", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}})
	own := machineFiles(t, file, "Pl4ntedS3cret")
	std := streams{out: io.Discard, err: io.Discard}
	here, err := readyHost(std, &input{}, own)
	if err != nil || !here.Machine || here.Ended || here.Targets[0].Want.Running || here.Plan == nil || len(here.Targets) != 1 || len(here.Unseen) > 0 {
		t.Errorf("on the machine: %+v, %v", here, err)
	}
	begun := []ledger.Entry{{Kind: ledger.Phase, Phase: progress.Deploy}, {Kind: ledger.Joined, Host: "m0", Time: time.Unix(1, 0)}}
	if err := own.journal.Append(begun...); err != nil {
		t.Fatal(err)
	}
	if h, err := readyHost(std, &input{}, own); err != nil || h.Ended || !h.Targets[0].Want.Running {
		t.Errorf("with a host that has joined: %+v, %v", h, err)
	}
	for phase, ended := range map[progress.Phase]bool{progress.AddrOff: false, progress.Unpause: true, progress.Ended: true} {
		h := own
		h.journal += hostledger.File(phase)
		if err := h.journal.Append(append(begun, ledger.Entry{Kind: ledger.Phase, Phase: phase})...); err != nil {
			t.Fatal(err)
		}
		if got, err := readyHost(std, &input{}, h); err != nil || got.Ended != ended || len(got.Unseen) > 0 {
			t.Errorf("in the phase %s: %+v, %v", phase, got, err)
		}
	}
	there, err := readyHost(std, &input{file: file}, files{cluster: "/nonexistent/c", hosts: "/nonexistent/h"})
	if err != nil || there.Machine || there.Plan == nil || len(there.Targets) != 1 {
		t.Errorf("elsewhere: %+v, %v", there, err)
	}
	if err := os.WriteFile(own.hosts, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if broken, err := readyHost(std, &input{}, own); err != nil || len(broken.Unseen) != 1 || len(broken.Targets) > 0 {
		t.Errorf("without accounts: %+v, %v", broken, err)
	}
	var _ interface { // the phase machine's
		Run(ctx context.Context) (blocking, warnings []string)
	} = here
}

// TestDoctorHosts holds the fields that scripts go by, and that the help names each.
func TestDoctorHosts(t *testing.T) {
	text, err := json.Marshal(readiness.Report{Findings: []readiness.Finding{{Host: "m0"}}})
	if err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := json.Unmarshal(text, &top); err != nil {
		t.Fatal(err)
	}
	for name := range top {
		if !strings.Contains(doctorLong, name) {
			t.Errorf("the help does not name %s", name)
		}
	}
	finding, _ := top["findings"].([]any)[0].(map[string]any)
	for name := range finding {
		if !strings.Contains(doctorLong, name) {
			t.Errorf("the help does not name %s of a finding", name)
		}
	}
	if o := invoke(t, "", "doctor", "--provisioning"); o.code != exitHost || !strings.Contains(o.err, "name a description with -c") {
		t.Errorf("%+v", o)
	}
	if o := invoke(t, clusterWith("none", "", ""), "doctor", "--provisioning", "-c", "-"); o.code != 1 || !strings.Contains(o.err, "has a BMC") {
		t.Errorf("%+v", o)
	}
}

// TestDoctorProvisioning_Expected holds that a server may be stated also where the description gives the
// other facts.
func TestDoctorProvisioning_Expected(t *testing.T) {
	cmd := doctorCommand(streams{out: io.Discard, err: io.Discard})
	cmd.SilenceErrors, cmd.SilenceUsage = true, true
	cmd.SetArgs([]string{"--provisioning", "--provisioning-server", "172.22.0.200", "-c", "/nonexistent/cluster.yaml"})
	if err := cmd.ExecuteContext(t.Context()); err == nil || !strings.Contains(err.Error(), "/nonexistent/cluster.yaml") {
		t.Errorf("%v, want that the description cannot be read", err)
	}
}
