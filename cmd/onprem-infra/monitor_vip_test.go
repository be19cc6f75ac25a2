//go:build remote

package main

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/probes"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestCheckNames holds the names that people type.
func TestCheckNames(t *testing.T) {
	for _, name := range []string{"lb", "both", "api", "mcs", "ingress", "ingress-ready", "ingress_ready", "default-ingress", "dns"} {
		if _, ok := probes.Find(name); !ok {
			t.Errorf("there is no check %s", name)
		}
	}
	help := checkCommand(streams{}).Long
	for name := range probes.Named {
		if probes.Named[name].Passes == "" || !strings.Contains(help, "\n  "+name+" ") {
			t.Errorf("the help does not say what %s means", name)
		}
	}
	if _, ok := probes.Find("another"); ok {
		t.Error("there is another")
	}
}

// oneFinding is a FAKE prober that finds one thing.
type oneFinding struct {
	found health.Finding
	why   string
}

func (p oneFinding) Probe(context.Context, vrrp.CheckName) (health.Finding, string) {
	return p.found, p.why
}
func (oneFinding) Served(context.Context) (bool, string) { return false, "" }

// TestCheckOnce holds the verb's answers.
func TestCheckOnce(t *testing.T) {
	once := func(found health.Finding, why string) error {
		return checkOnce(t.Context(), oneFinding{found, why}, vrrp.CompatTiming(), vrrp.CheckIngress)
	}
	if err := once(health.Passed, "it answers"); err != nil {
		t.Error(err)
	}
	var exit exitError
	if err := once(health.Failed, "it answers 500"); !errors.As(err, &exit) || exit.code != exitFindings || !strings.Contains(err.Error(), "answers 500") {
		t.Errorf("%v", err)
	}
	if err := once(health.Untold, "no socket"); err == nil || errors.As(err, &exit) || !strings.Contains(err.Error(), "no socket") {
		t.Errorf("the probe failed: %v, want an error of the host", err)
	}
}

// TestMonitorRole holds that a node's role has the same names here as everywhere.
func TestMonitorRole(t *testing.T) {
	for name, want := range map[string]role.Role{"master": role.Master, "control-plane": role.Master, "worker": role.Worker, "arbiter": role.Arbiter, "bootstrap": "", "": ""} {
		got, err := nodeRole(name)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q is %q, %v, want %q", name, got, err, want)
		}
	}
}

// TestMonitorVIPUsage holds what the verbs refuse before they touch anything.
func TestMonitorVIPUsage(t *testing.T) {
	for _, args := range [][]string{
		{"monitor", "vip"}, {"monitor", "vip", "--role=bootstrap"}, {"monitor", "vip", "--role=arbiter"}, {"check"}, {"check", "another"},
	} {
		var logged strings.Builder
		if code := run(t.Context(), args, streams{in: strings.NewReader(""), out: &logged, err: &logged}); code != exitUsage {
			t.Errorf("%q: exit code %d: %s", args, code, logged.String())
		}
	}
}
