package main

import (
	"strings"
	"testing"
)

// TestFlagValues asks for the values of each flag that takes one of a few, as the shells' scripts
// do.
func TestFlagValues(t *testing.T) {
	const families, cluster, format = "ipv4 ipv6 dual", "baremetal none nutanix openstack ovirt vsphere", "baremetal nutanix openstack ovirt vsphere"
	for line, want := range map[string]string{
		"example install-config --platform": format,
		"example install-config --families": families,
		"example cluster --platform":        cluster,
		"example cluster --families":        families,
		"ignition --role":                   "bootstrap master worker arbiter control-plane",
		"ignition --format":                 "ignition machineconfig butane",
		"ignition -o":                       "ignition machineconfig butane",
		"report -o":                         "html text",
		"ignition --spec-version":           "3.2.0",
		"ignition --timing":                 "fast lan vm compat",
		"ignition --vrrp":                   "unicast multicast",
		"render --role":                     "bootstrap master worker arbiter control-plane cluster",
		"render --timing":                   "fast lan vm compat",
		"render --vrrp":                     "unicast multicast",
		"plan -o":                           "text yaml json",
		"plan --timing":                     "fast lan vm compat",
		"plan --vrrp":                       "unicast multicast",
		"validate --output":                 "text json",
		"validate --timing":                 "fast lan vm compat",
		"validate --vrrp":                   "unicast multicast",
	} {
		o := invoke(t, "", append(append([]string{"__complete"}, strings.Fields(line)...), "")...)
		// The last line is the directive: 4 is "no names of files".
		if got := strings.Join(strings.Fields(o.out), " "); o.code != 0 || got != want+" :4" {
			t.Errorf("%s: got %q, %d, want %q", line, got, o.code, want)
		}
	}
}

// A flag that names a file to write is left to the shell.
func TestFlagValuesOfAFile(t *testing.T) {
	if o := invoke(t, "", "__complete", "ignition", "--out", ""); strings.TrimSpace(o.out) != ":0" {
		t.Errorf("got %q", o.out)
	}
}
