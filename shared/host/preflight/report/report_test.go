package report

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/host/preflight"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// seen are a host that fits, one whose BMC does not answer, and one without hints.
func seen() []preflight.Facts {
	at := func(name, scheme string) preflight.Target {
		t := preflight.Target{Host: name, Scheme: scheme, Place: "hosts[0]"}
		t.Service.URL = "https://bmc-" + name
		return t
	}
	small := rootdisk.Disk{Name: "Bay 1", Bytes: 400 << 30, Serial: "S1"}
	large := rootdisk.Disk{Name: "Bay 2", Bytes: 800 << 30, Serial: "S2"}
	system := func() *redfish.Facts {
		return &redfish.Facts{System: &redfish.System{Power: "Off", Disks: []rootdisk.Disk{small, large}}}
	}
	all := []preflight.Facts{
		{Target: at("a", "redfish"), Redfish: system()},
		{Target: at("b", "redfish"), Redfish: &redfish.Facts{}},
		{Target: at("c", "redfish-virtualmedia"), Redfish: system()},
	}
	all[0].Target.Want.Disk = rootdisk.Hints{SerialNumber: "S2"}
	return all
}

func found() []preflight.Finding {
	return []preflight.Finding{
		{Check: preflight.CheckReach, Severity: preflight.Error, Host: "b", Place: "hosts[1]",
			Text: "nothing answers", Remedy: "fix the address", Vantage: preflight.Vantage},
		{Check: preflight.CheckRootDisk, Severity: preflight.Warning, Host: "c"},
	}
}

func TestTable(t *testing.T) {
	rows := Rows(seen(), found())
	const want = `HOST a
    BMC        https://bmc-a
    POWER      Off
    BOOT PATH  PXE, UEFI
    ROOT DISK  Bay 2 800.0 GiB serial S2
    RUNNER-UP  -
    READY      yes
HOST b
    BMC        https://bmc-b
    POWER      -
    BOOT PATH  PXE, UEFI
    ROOT DISK  -
    RUNNER-UP  -
    READY      no: bmc-reach
HOST c
    BMC        https://bmc-c
    POWER      Off
    BOOT PATH  virtual media, UEFI
    ROOT DISK  Bay 1 400.0 GiB serial S1
    RUNNER-UP  Bay 2 800.0 GiB serial S2
    READY      yes, but: root-disk
`
	if got := Table(layout.Of(60), rows); got != want {
		t.Errorf("printed\n%s", got)
	}
	wide := Table(layout.Of(160), rows)
	if !strings.HasPrefix(wide, "HOST  BMC            POWER  BOOT PATH            ROOT DISK") {
		t.Errorf("printed\n%s", wide)
	}
	facts := seen()
	facts[2].Redfish.System.Disks[1].Bytes = facts[2].Redfish.System.Disks[0].Bytes
	unseen := []preflight.Finding{
		{Host: "c", Check: preflight.CheckMemory, Severity: preflight.Unseen},
		{Host: "c", Check: preflight.CheckPower, Severity: preflight.Warning}}
	row := Rows(facts, unseen)[2]
	if !strings.HasSuffix(row.RootDisk, " (undecided)") || row.Ready != "unseen: memory" {
		t.Errorf("the row is %+v", row)
	}
}

func TestReport(t *testing.T) {
	r := Report{Hosts: Rows(seen(), found()), Findings: found(), seen: seen()}
	const want = "error: hosts[1]: bmc-reach b: nothing answers: fix the address (from this host)\n"
	if text := r.Text(layout.Of(200)); !strings.Contains(text, "\n\n"+want) {
		t.Errorf("printed\n%s", text)
	}
	if !r.Faulty(false) {
		t.Error("a report with an error has no fault")
	}
	r.Findings = r.Findings[1:]
	if r.Faulty(false) {
		t.Error("a warning is a fault")
	}
	if !r.Faulty(true) {
		t.Error("a warning is none with strict")
	}
	r.Findings = []preflight.Finding{{Severity: preflight.Unseen}}
	if r.Faulty(true) {
		t.Error("what could not be seen is a fault with strict")
	}
}

func TestDisks(t *testing.T) {
	r := Report{seen: seen()}
	var got []string
	for _, d := range r.Disks() {
		got = append(got, d.Host+"; "+d.Hints+"; "+d.Disk+"; "+d.Verdict)
	}
	want := []string{
		"a; serialNumber: S2; Bay 2 800.0 GiB serial S2; chosen",
		"a; serialNumber: S2; Bay 1 400.0 GiB serial S1; refused: ",
		"b; -; -; unseen: the BMC reports no disks from this host",
		"c; -; Bay 1 400.0 GiB serial S1; chosen, as the smallest: there are no hints",
		"c; -; Bay 2 800.0 GiB serial S2; next",
	}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.HasPrefix(got[i], want[i]) {
			t.Errorf("row %d is %q, want %q", i, got[i], want[i])
		}
	}
	r.seen[2].Target.Want.Ours = true
	for _, row := range r.Disks()[3:] {
		if !strings.HasPrefix(row.Verdict, "refused: the bootstrap machine takes none") {
			t.Errorf("%+v", row)
		}
	}
	if row := Rows(r.seen, nil)[2]; !strings.HasSuffix(row.RootDisk, " (undecided)") {
		t.Errorf("%+v", row)
	}
	r.seen[2].Target.Want.Disk = rootdisk.Hints{DeviceName: "/dev/sda"}
	if row := r.Disks()[3]; !strings.HasPrefix(row.Verdict, "chosen") || !strings.Contains(row.Verdict, "not seen") {
		t.Errorf("what the BMC does not report is refused: %+v", row)
	}
	r.seen[2].Target.Want = preflight.Want{Ours: true, Running: true}
	if row := r.Disks()[3]; !strings.HasPrefix(row.Verdict, "chosen") {
		t.Errorf("the disk of a host that runs is refused: %+v", row)
	}
	if text := DiskTable(layout.Of(120), r.Disks()); !strings.HasPrefix(text, "HOST  HINTS             DISK") {
		t.Errorf("printed\n%s", text)
	}
}
