package main

import (
	"strings"
	"testing"
)

// TestPlanSummary holds that the default is one screen with what an operator compares.
func TestPlanSummary(t *testing.T) {
	config := must(t, "", "example", "install-config")
	text := must(t, config, "plan", "-c", "-", "--timing", "lan")
	if lines := strings.Count(text, "\n"); lines > 52 {
		t.Errorf("the summary has %d lines:\n%s", lines, text)
	}
	for _, want := range []string{
		"cluster prod.example.com: openshift on baremetal, HighlyAvailable, IPv4\n", "networks       192.0.2.0/24\n",
		"192.0.2.5  api      2\n", "192.0.2.6  ingress  33\n",
		"VRRP           unicast, timing lan: an advert every 100 ms\n",
		"priorities     bootstrap machine 230, control plane 31 to 208, margin 22, 9 statements proved\n",
		"DNS records    Internal: api.prod.example.com, api-int.prod.example.com, *.apps.prod.example.com\n",
		"images         none given yet: ignition and render need --images\n",
		"provisioning  disabled\n", "PROVISIONED BY", "worker-1  cluster ",
		"342 ms", "the holder of the API VIP vanishes\n", "-o yaml or -o json",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("there is no %q in\n%s", want, text)
		}
	}
	if whole := must(t, config, "plan", "-c", "-", "--timing", "lan", "-o", "yaml"); strings.Count(whole, "\n") < 200 {
		t.Errorf("-o yaml is not whole:\n%s", whole)
	}
	user := strings.Replace(config, "OpenShiftManagedDefault", "UserManaged", 1)
	text = must(t, user, "plan", "-c", "-")
	for _, none := range []string{"VRRP  ", "priorities  ", "NOT SERVED"} {
		if strings.Contains(text, none) {
			t.Errorf("the cluster has no elections, and there is %q in\n%s", none, text)
		}
	}
	if !strings.Contains(text, "192.0.2.5  api      none: a load balancer of yours holds it\n") {
		t.Errorf("%s", text)
	}
}
