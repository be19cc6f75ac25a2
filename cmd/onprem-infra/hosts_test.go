package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	hostledger "github.com/onprem-infra/onprem-infra/shared/host/ledger"
	hostorders "github.com/onprem-infra/onprem-infra/shared/host/orders"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/host/preflight/report"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/hostfile"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec"
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
			if strict := invoke(t, "", "hosts", "-c", file, "--strict"); strict.code != exitFindings || !strings.Contains(strict.out, "warning: ") && tt.code == 0 {
				t.Errorf("with --strict: exit %d:\n%s%s", strict.code, strict.out, strict.err)
			}
			if all := o.out + o.err + text.out + text.err; strings.Contains(all, "S3cret") {
				t.Errorf("it prints a password:\n%s", all)
			}
		})
	}
}

// TestHosts_Help holds that the help names each check of a BMC.
func TestHosts_Help(t *testing.T) {
	help := must(t, "", "hosts", "--help")
	for _, check := range preflight.All() {
		if !strings.Contains(help, "\n  "+string(check)+" ") {
			t.Errorf("the help does not name %s", check)
		}
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

// TestHostsDisks_Several holds that a host without hints and with several disks is an error where the
// bootstrap machine is to install it, from the description as on that machine, and a warning elsewhere.
func TestHostsDisks_Several(t *testing.T) {
	m := fakebmc.Sample(1)
	file := describedBMC(t, "Pl4ntedS3cret", fakebmc.Options{Machines: []fakebmc.Machine{m}})
	text := strings.Replace(string(readAll(t, file)), "    rootDisk: {serialNumber: "+m.Disks[0].Serial+"}\n", "", 1)
	images := "  images: {ironicImage: r/ironic:1, ironicAgentImage: r/agent:1, osImage: 'https://images.example.com/os.raw@sha256:" + strings.Repeat("a", 64) + "'}\n"
	for _, tt := range []struct {
		images string
		code   int
		want   string
	}{{"", 0, `"chosen, as the smallest: there are no hints"`}, {images, 1, `"refused: the bootstrap machine takes none`}} {
		if err := os.WriteFile(file, []byte(text+tt.images), 0o600); err != nil {
			t.Fatal(err)
		}
		if o := invoke(t, "", "hosts", "disks", "-c", file, "-o", "json"); o.code != tt.code || !strings.Contains(o.out, tt.want) {
			t.Errorf("%q: exit %d: %s%s", tt.images, o.code, o.out, o.err)
		}
	}
	elsewhere := filepath.Join(t.TempDir(), "images.json")
	if err := errors.Join(os.WriteFile(file, []byte(text), 0o600), os.WriteFile(elsewhere, []byte(`{"ironicImage": "r/ironic:1"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	if o := invoke(t, "", "hosts", "-c", file, "--images", elsewhere, "-o", "json"); o.code != 1 || !strings.Contains(o.out, "installs no host of which more than one disk may be meant") {
		t.Errorf("with --images: exit %d: %s%s", o.code, o.out, o.err)
	}
	var said strings.Builder
	ask, err := hostTargets(streams{out: &said, err: &said}, &input{}, machineFiles(t, file, "Pl4ntedS3cret"))
	if err != nil || len(ask) != 1 || !ask[0].Want.Ours {
		t.Errorf("on the machine: %+v, %v: %s", ask, err, said.String())
	}
}

// TestHosts_None holds what is said of a description without BMCs, of missing files, and on a host
// that is no bootstrap machine.
func TestHosts_None(t *testing.T) {
	for _, args := range [][]string{{"hosts"}, {"hosts", "disks"}} {
		if o := invoke(t, "", args...); o.code != exitHost || !strings.Contains(o.err, "it is no bootstrap machine") {
			t.Errorf("%q: exit %d: %s", args, o.code, o.err)
		}
	}
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

// machineFiles are the files of a FAKE bootstrap machine that provisions the host of a description.
func machineFiles(t *testing.T, described, password string) files {
	t.Helper()
	cluster, findings := spec.Parse(described, readAll(t, described), spec.Knobs{})
	if findings.HasErrors() {
		t.Fatal(findings)
	}
	dir := t.TempDir()
	own := files{cluster: filepath.Join(dir, "cluster.json"), hosts: filepath.Join(dir, "hosts.json"),
		journal: hostledger.File(filepath.Join(dir, "journal.jsonl")), run: hostorders.Dir(dir)}
	p, err := plan.Compile(cluster)
	if err != nil {
		t.Fatal(err)
	}
	text := plan.Encode(p)
	secrets := hostfile.File{CA: string(readAll(t, filepath.Join(filepath.Dir(described), "ca.pem"))),
		Hosts: []hostfile.Host{{Name: "m0", Username: secret.New("admin"), Password: secret.New(password), RootDisk: cluster.Hosts[0].RootDisk}}}
	for path, text := range map[string][]byte{own.cluster: text, own.hosts: hostfile.Encode(secrets)} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return own
}

func readAll(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestHostTargets_Machine holds that the bootstrap machine asks BMCs by its own files, as from the
// description that they were made of.
func TestHostTargets_Machine(t *testing.T) {
	file := describedBMC(t, "Pl4ntedS3cret", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}})
	own := machineFiles(t, file, "Pl4ntedS3cret")
	var said strings.Builder
	std := streams{out: &said, err: &said}
	ask, err := hostTargets(std, &input{}, own)
	if err != nil || len(ask) != 1 {
		t.Fatalf("%v, %v: %s", ask, err, said.String())
	}
	if found := report.Examine(t.Context(), ask, nil); found.Hosts[0].Ready != "yes, but: bmc-tls" || found.Hosts[0].RootDisk == "-" ||
		!strings.Contains(found.Hosts[0].Firmware, "firmware ") {
		t.Errorf("%+v", found)
	}
	for name, tt := range map[string]struct{ remove, want string }{
		"no bootstrap machine": {own.cluster, "no bootstrap machine"},
		"no secrets":           {own.hosts, "provisions no hosts"},
	} {
		text := readAll(t, tt.remove)
		if err := os.Remove(tt.remove); err != nil {
			t.Fatal(err)
		}
		if _, err := hostTargets(std, &input{}, own); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(tt.remove, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(own.hosts, []byte("Pl4ntedS3cret"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hostTargets(std, &input{}, own); err == nil || strings.Contains(err.Error(), "S3cret") {
		t.Errorf("a broken file: %v", err)
	}
}

// TestHostTargets_Journal holds which hosts are to run, by the journal, and that one which cannot be read
// is named: it is not known then.
func TestHostTargets_Journal(t *testing.T) {
	own := machineFiles(t, describedBMC(t, "x", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}}), "x")
	joined := string(ledger.Encode(ledger.Entry{Time: time.Unix(1, 0), Kind: ledger.Joined, Host: "m0"}))
	for _, tt := range []struct {
		journal string
		running bool
		note    string
	}{{"", false, ""}, {joined, true, ""}, {"{}\n" + joined, false, "which hosts have joined the cluster is not known"}} {
		if err := os.WriteFile(string(own.journal), []byte(tt.journal), 0o600); err != nil {
			t.Fatal(err)
		}
		var said strings.Builder
		ask, err := hostTargets(streams{out: &said, err: &said}, &input{}, own)
		if err != nil || len(ask) != 1 || ask[0].Want.Running != tt.running || tt.note == "" && said.Len() > 0 ||
			!strings.Contains(strings.Join(strings.Fields(said.String()), " "), tt.note) {
			t.Errorf("%q: %+v, %v: %s", tt.journal, ask, err, said.String())
		}
	}
}

// TestHostTargets_Long holds that the file of secrets may be longer than a description: it has the
// hosts' Ignition documents.
func TestHostTargets_Long(t *testing.T) {
	own := machineFiles(t, describedBMC(t, "x", fakebmc.Options{Machines: []fakebmc.Machine{fakebmc.Sample(1)}}), "x")
	secrets, err := hostfile.Decode(readAll(t, own.hosts))
	if err != nil {
		t.Fatal(err)
	}
	secrets.Hosts[0].Ignition = secret.New(`{"ignition":{"version":"3.4.0"},"x":"` + strings.Repeat("x", inputLimit) + `"}`)
	if err := os.WriteFile(own.hosts, hostfile.Encode(secrets), 0o600); err != nil {
		t.Fatal(err)
	}
	if ask, err := hostTargets(streams{out: io.Discard, err: io.Discard}, &input{}, own); err != nil || len(ask) != 1 {
		t.Errorf("%d hosts: %.200v", len(ask), err)
	}
}
