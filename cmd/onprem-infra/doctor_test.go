//go:build remote

package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
)

// TestDoctorJSON holds the fields that scripts go by, and that the help names each.
func TestDoctorJSON(t *testing.T) {
	var out strings.Builder
	r := diagnose.Report{
		Findings: []doctor.Finding{
			{Check: doctor.CheckStale, Severity: doctor.Error, Fault: facts.Fault{Subject: "a", Seen: "b", Do: "c"}},
		},
	}
	if err := printDoctor(streams{out: &out}, r, "json"); err == nil {
		t.Error("a finding is no negative answer")
	}
	warned := diagnose.Report{Findings: []doctor.Finding{{Check: doctor.CheckRacks, Severity: doctor.Warning}}}
	var text strings.Builder
	if err := printDoctor(streams{out: &text}, warned, "text"); err != nil || !strings.Contains(text.String(), "nothing is wrong\n\n1. [bgp-racks] warning:") {
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

// TestDoctorUsage holds that a host of no cluster needs to be told which one, which is the host's
// fault.
func TestDoctorUsage(t *testing.T) {
	if o := invoke(t, "", "doctor"); o.code != exitHost ||
		!strings.Contains(o.err, "name the description of its future cluster with -c") {
		t.Errorf("%+v", o)
	}
	for _, args := range [][]string{{"doctor", "-o", "yaml"}, {"doctor", "--peer", "x"}, {"doctor", "x"}} {
		if o := invoke(t, "", args...); o.code != exitUsage || o.out != "" || o.err == "" {
			t.Errorf("%q: %+v", args, o)
		}
	}
}
