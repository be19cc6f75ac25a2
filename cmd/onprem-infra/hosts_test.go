package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/preflight/report"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
)

// describedBMC is a cluster.yaml of one host behind a FAKE BMC, with the files that it names.
func describedBMC(t *testing.T, password string, o fakebmc.Options) (path string) {
	t.Helper()
	o.User, o.Password = "admin", "Pl4ntedS3cret"
	running := fakebmc.Start(t, fakebmc.New(o), fakebmc.Certificate{})
	dir := t.TempDir()
	for name, text := range map[string]string{
		"ca.pem":   string(running.PEM),
		"bmc.yaml": "username: admin\npassword: " + password + "\n",
		"cluster.yaml": fmt.Sprintf(`apiVersion: onprem-infra.io/v1alpha1
kind: Cluster
metadata: {name: prod}
spec:
  baseDomain: example.com
  platform: none
  topology: SingleReplica
  machineNetworks: [192.0.2.0/24]
  apiVIPs: [192.0.2.5]
  ingressVIPs: [192.0.2.6]
  provisioning: {network: managed, bmcCA: ca.pem}
  hosts:
  - name: m0
    role: master
    bootMAC: %s
    bmc: {address: '%s/redfish/v1/Systems/1', credentials: {file: bmc.yaml}}
    rootDisk: {serialNumber: %s}
`, o.Machines[0].Ports[0].MAC, strings.Replace(running.URL, "https", "redfish", 1), o.Machines[0].Disks[0].Serial),
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "cluster.yaml")
}

// TestHosts asks a FAKE BMC over TLS, by the account and the CA that a cluster.yaml names.
func TestHosts(t *testing.T) {
	machine := fakebmc.Sample(1)
	on := fakebmc.Sample(1)
	on.Legacy = true
	for name, tt := range map[string]struct {
		password string
		machine  fakebmc.Machine
		code     int
		ready    string
	}{
		// The FAKE's certificate is for a day.
		"ready":            {"Pl4ntedS3cret", machine, 0, "yes, but: bmc-tls"},
		"a wrong password": {"An0therS3cret", machine, 1, "no: bmc-login"},
		"BIOS":             {"Pl4ntedS3cret", on, 0, "yes, but: bmc-tls, boot-mode"},
	} {
		t.Run(name, func(t *testing.T) {
			file := describedBMC(t, tt.password, fakebmc.Options{Machines: []fakebmc.Machine{tt.machine}})
			o := invoke(t, "", "hosts", "-c", file, "-o", "json")
			var got report.Report
			if err := json.Unmarshal([]byte(o.out), &got); err != nil || len(got.Hosts) != 1 {
				t.Fatalf("%v: exit %d:\n%s%s", err, o.code, o.out, o.err)
			}
			if got.Hosts[0].Ready != tt.ready || o.code != tt.code {
				t.Errorf("exit %d, %+v", o.code, got)
			}
			text := invoke(t, "", "hosts", "-c", file)
			if !strings.Contains(text.out, "m0") || text.code != tt.code {
				t.Errorf("exit %d:\n%s%s", text.code, text.out, text.err)
			}
			if all := o.out + o.err + text.out + text.err; strings.Contains(all, "S3cret") {
				t.Errorf("it prints a password:\n%s", all)
			}
		})
	}
}

// TestHostsDisks holds that the dry run names the disk that the hints choose, and why not another.
func TestHostsDisks(t *testing.T) {
	file := describedBMC(t, "Pl4ntedS3cret", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}})
	o := invoke(t, "", "hosts", "disks", "-c", file, "-o", "json")
	var rows []report.DiskRow
	if err := json.Unmarshal([]byte(o.out), &rows); err != nil || len(rows) != 2 || o.code != 0 {
		t.Fatalf("%v: exit %d:\n%s%s", err, o.code, o.out, o.err)
	}
	if rows[0].Verdict != "chosen" || !strings.HasPrefix(rows[1].Verdict, "refused: ") {
		t.Errorf("%+v", rows)
	}
}

// TestHosts_None holds what is said of a description without BMCs, and of missing files.
func TestHosts_None(t *testing.T) {
	o := invoke(t, clusterWith("none", "", ""), "hosts", "-c", "-")
	if o.code != 1 || !strings.Contains(o.err, "no host of the description has a BMC") {
		t.Errorf("exit %d: %s", o.code, o.err)
	}
	file := describedBMC(t, "x", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}})
	for _, name := range []string{"ca.pem", "bmc.yaml"} {
		if err := os.Remove(filepath.Join(filepath.Dir(file), name)); err != nil {
			t.Fatal(err)
		}
		if o := invoke(t, "", "hosts", "-c", file); o.code != 1 || !strings.Contains(o.err, name) {
			t.Errorf("without %s: exit %d: %s", name, o.code, o.err)
		}
	}
}
