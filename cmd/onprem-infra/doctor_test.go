//go:build remote

package main

import (
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/readiness"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor/provisioning"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
)

// TestDoctorJSON holds the fields that scripts go by, and that the help names each.
func TestDoctorJSON(t *testing.T) {
	var out strings.Builder
	r := diagnose.Report{
		Findings: []doctor.Finding{
			{Check: doctor.CheckStale, Severity: doctor.Error, Fault: facts.Fault{Subject: "a", Seen: "b", Do: "c"}},
		},
	}
	if err := printReport(streams{out: &out}, printing{format: "json"}, r); err == nil {
		t.Error("a finding is no negative answer")
	}
	warned := diagnose.Report{Findings: []doctor.Finding{{Check: doctor.CheckRacks, Severity: doctor.Warning}}}
	var text strings.Builder
	if err := printReport(streams{out: &text}, printing{format: "text"}, warned); err != nil || !strings.Contains(text.String(), "nothing is wrong\n\n1. [bgp-racks] warning:") {
		t.Errorf("a warning is a negative answer: %v\n%s", err, text.String())
	}
	var top map[string]any
	if err := json.Unmarshal([]byte(out.String()), &top); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"at", "cluster", "live", "nodeIPs", "checks", "findings", "unseen"} {
		if _, ok := top[name]; !ok || !strings.Contains(doctorLong, name) {
			t.Errorf("%s is not in the object, or not in the help", name)
		}
	}
	finding, _ := top["findings"].([]any)[0].(map[string]any)
	for _, name := range []string{"check", "severity", "looked", "seen", "do"} {
		if finding[name] == "" || !strings.Contains(doctorLong, name) {
			t.Errorf("%s is not in the object, or not in the help", name)
		}
	}
	for line := range strings.Lines(doctorLong) {
		if len(line) > columns()+1 {
			t.Errorf("the help has %d columns: %s", len(line)-1, line)
		}
	}
}

// TestPrintReport holds which findings of each report are a negative answer, and how they are counted.
func TestPrintReport(t *testing.T) {
	const nothing, one = "nothing is wrong", "one thing is wrong"
	for _, severity := range []string{"warning", "error"} {
		for name, report := range map[string]interface {
			Text(layout.Width) string
			Faulty(strict bool) bool
		}{
			"doctor":              diagnose.Report{Findings: []doctor.Finding{{Severity: doctor.Severity(severity)}}},
			"--provisioning-link": diagnose.ProvisioningReport{Findings: []provisioning.Finding{{Severity: provisioning.Severity(severity)}}},
			"--provisioning":      readiness.Report{Findings: []readiness.Finding{{Severity: severity}}},
		} {
			for _, strict := range []bool{false, true} {
				var text strings.Builder
				err := printReport(streams{out: &text}, printing{format: "text", strict: strict}, report)
				want := map[string]string{"warning": nothing, "error": one}[severity]
				if (err != nil) != (strict || severity == "error") || !strings.Contains(text.String(), want) {
					t.Errorf("%s, %s, strict %t: %v\n%s", name, severity, strict, err, text.String())
				}
			}
			if err := printReport(streams{out: io.Discard}, printing{strict: true}, readiness.Report{}); err != nil {
				t.Errorf("without a finding: %v", err)
			}
		}
	}
}

// TestDoctorUsage holds that a host of no cluster needs to be told which one, which is the host's
// fault.
func TestDoctorUsage(t *testing.T) {
	if o := invoke(t, "", "doctor"); o.code != exitHost ||
		!strings.Contains(o.err, "name the description of its future cluster with -c") {
		t.Errorf("%+v", o)
	}
	for _, args := range [][]string{{"doctor", "-o", "yaml"}, {"doctor", "--peer", "x"}, {"doctor", "x"},
		{"doctor", "--lldp"}, {"doctor", "--provisioning", "--joins"}, {"doctor", "--provisioning", "--provisioning-mtu", "9000"},
		{"doctor", "--provisioning", "--provisioning-server", "x"}, {"doctor", "--provisioning", "--peer", "192.0.2.1"},
		{"doctor", "--provisioning", "--bgp-passwords", "x"}} {
		if o := invoke(t, "", args...); o.code != exitUsage || o.out != "" || o.err == "" {
			t.Errorf("%q: %+v", args, o)
		}
	}
}
