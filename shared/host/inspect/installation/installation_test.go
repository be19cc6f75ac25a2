package installation

import (
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/offer"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/foreign"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

var (
	start = time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)
	now   = start.Add(10 * time.Minute)
)

func card(n byte) mac.MAC { return mac.MAC{0x52, 0x54, 0, 0, 0, n} }

// example are three hosts: one goes on, one waits for too long, one is blocked.
func example() (progress.Progress, orders.Orders, []orders.Report, Seen) {
	p := progress.Progress{Phase: progress.Deploy, Since: start, At: now.Add(-time.Second), Waits: "2 hosts", DHCP: true,
		Deadline: start.Add(time.Hour), Served: []mac.MAC{card(1), card(2), card(9)},
		Blockers: []string{"the disk is full: make room in /var"}, Warnings: []string{"bmc-tls of master-0: the certificate is not verified"},
		Hosts: []progress.Host{
			{Name: "master-0", MAC: card(1), Step: progress.Joined},
			{Name: "master-1", MAC: card(2), Step: progress.Inspect, Waits: "the ramdisk to call back", Since: start, Deadline: start.Add(20 * time.Minute),
				LastSeen: progress.Event{What: "switched on", At: start}, Next: progress.Event{What: "PXE again", At: start.Add(12 * time.Minute)},
				LastError: "timeout\x1b[2J\nagain"},
			{Name: "master-2", MAC: card(3), Step: progress.Enrolling, Blocker: "its BMC rejects the password: correct it"},
		}}
	o := orders.Orders{Generation: 4, On: orders.Parts()}
	var reports []orders.Report
	for _, part := range orders.Parts() {
		reports = append(reports, orders.Report{Part: part, Generation: 4, On: true, Ready: true, At: now, Why: "as ordered"})
	}
	reports[2].Ready, reports[2].Why = false, "pulls its image"
	reports[3].At = now.Add(-time.Minute)
	return p, o, reports, Seen{
		Events: []events.Event{{Time: start.Add(6*time.Minute + 10*time.Second), Host: "master-1", Source: events.HTTP, Kind: "kernel"}},
		Foreign: []foreign.Server{{Kind: offer.DHCP, MAC: "52:54:00:00:00:99", Address: netip.MustParseAddr("172.22.0.200"), VLAN: 7, Last: now.Add(-time.Minute)},
			{Kind: offer.Router, MAC: "52:54:00:00:00:98", Last: now.Add(-time.Hour)}}}
}

// TestText holds what an operator reads of a run in motion, of one whose phase machine has died, and
// of one that has ended.
func TestText(t *testing.T) {
	p, o, reports, seen := example()
	text := Of(p, o, reports, seen, now).Text(now)
	later := now.Add(2 * time.Minute)
	text += "---\n" + Of(p, o, reports, seen, later).Text(later)
	ended := progress.Progress{Phase: progress.Ended, Since: start, At: start}
	text += "---\n" + Of(ended, orders.Orders{}, reports[:0], Seen{}, later).Text(later)
	golden.Check(t, []byte(text))
	if strings.Contains(text, "\x1b") {
		t.Error("it moves the cursor")
	}
}

// TestText_Remedy holds that what to do about an error of Ironic's stands below it, also of a host
// that is blocked by it.
func TestText_Remedy(t *testing.T) {
	const refused = "Error: HTTP GET https://192.0.2.1/redfish/v1/Systems/7 returned code 401."
	p, o, reports, seen := example()
	p.Hosts[1].LastError, p.Hosts[2].Blocker = refused, "five attempts failed: "+refused
	text := Of(p, o, reports, seen, now).Text(now)
	for _, want := range []string{"master-1: last error: " + refused + "\nmaster-1: to do: correct the account of the BMC\n", "master-2: to do: correct the account of the BMC\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestText_Accept holds that status names the command by which a person accepts what the check of the
// hosts has found, and no command for what is no check's or of another phase.
func TestText_Accept(t *testing.T) {
	p := progress.Progress{Phase: progress.Preflight, At: now, Blockers: []string{"bmc-tls:m0: its certificate has expired: renew it", "read the secrets: no such file"}}
	text := Of(p, orders.Orders{}, nil, Seen{}, now).Text(now)
	if !strings.Contains(text, "renew it; to install in spite of it: onprem-infra hosts accept bmc-tls:m0 --yes\n") || !strings.Contains(text, "no such file\n") {
		t.Error(text)
	}
	p.Phase = progress.Services
	if text := Of(p, orders.Orders{}, nil, Seen{}, now).Text(now); strings.Contains(text, "accept") {
		t.Error(text)
	}
}

// TestOf_Unnamed holds that nothing is claimed of a host that may be a client of an unknown address.
func TestOf_Unnamed(t *testing.T) {
	on := events.Event{Time: now.Add(-10 * time.Minute), Host: "m0", Source: events.Provision, Kind: events.BootInspect}
	kernel := events.Event{Time: now.Add(-5 * time.Minute), Source: events.HTTP, Kind: "kernel"}
	p := progress.Progress{Phase: progress.Deploy, At: now, Hosts: []progress.Host{{Name: "m0", Waits: "the ramdisk to call back"}}}
	for want, all := range map[string][]events.Event{"it was switched on and nothing": {on}, "it was not seen": {on, kernel}} {
		if got := Of(p, orders.Orders{}, nil, Seen{Events: all}, now).Hosts[0].Cause; !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// TestFaults holds what makes a machine not healthy, and that old news do not.
func TestFaults(t *testing.T) {
	p, o, reports, seen := example()
	want := []string{"provisioning is blocked: the disk is full", "host master-2 is not installed: its BMC rejects", "another server answers hosts on the provisioning network: 172.22.0.200", "the part dhcp of provisioning does not report: see 'journalctl -u onprem-dnsmasq'"}
	got := Of(p, o, reports, seen, now).Faults(now)
	for i, f := range got {
		if i >= len(want) || !strings.HasPrefix(f, want[i]) {
			t.Errorf("fault %d is %q", i, f)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d faults, want %d: %q", len(got), len(want), got)
	}
	ended := progress.Progress{Phase: progress.Ended, Since: start, At: start}
	if got := Of(ended, o, reports, Seen{}, now.Add(time.Hour)).Faults(now.Add(time.Hour)); len(got) > 0 {
		t.Errorf("a run that has ended: %q", got)
	}
	p.Blockers, p.Hosts = nil, nil
	late := now.Add(progress.Late)
	if got := Of(p, orders.Orders{}, nil, Seen{}, late).Faults(late); len(got) != 1 || !strings.Contains(got[0], "stands still") {
		t.Errorf("a phase machine that stopped: %q", got)
	}
}

// TestRead holds that files of a machine are joined, that one that is broken costs no other, and that
// a machine without them provisions nothing.
func TestRead(t *testing.T) {
	var unseen inspect.Unseen
	f := inspect.Files{Root: t.TempDir()}
	if r := Read(f, nil, now, &unseen); r != nil || len(unseen.List()) > 0 {
		t.Errorf("without files: %+v, %q", r, unseen.List())
	}
	p, o, reports, seen := example()
	write := func(path string, text []byte) { writeFile(t, f.Path(path), text) }
	write(layout.Progress, progress.Encode(p))
	write(layout.Orders, orders.EncodeOrders(o))
	for _, r := range reports {
		write(layout.Report(string(r.Part)), orders.EncodeReport(r))
	}
	write(foreign.Path, foreign.Encode(foreign.List{Servers: seen.Foreign}))
	write(events.Path(events.HTTP), append(events.Encode(seen.Events[0]), "broken\n"...))
	r := Read(f, nil, now, &unseen)
	if r == nil || r.Text(now) != Of(p, o, reports, seen, now).Text(now) || strings.Join(unseen.List(), "") != "events of http: 1 lines cannot be read" {
		t.Fatalf("%+v, not seen %q", r, unseen.List())
	}
	unseen = inspect.Unseen{}
	write(layout.Orders, []byte("{"))
	write(foreign.Path, []byte("{"))
	if r := Read(f, nil, now, &unseen); r == nil || len(unseen.List()) != 3 {
		t.Errorf("with broken files: %q", unseen.List())
	}
	write(layout.Progress, []byte("{"))
	unseen = inspect.Unseen{}
	if r := Read(f, nil, now, &unseen); r != nil || len(unseen.List()) != 1 {
		t.Errorf("with a broken progress: %+v, %q", r, unseen.List())
	}
}

// TestMetrics holds the numbers that alerts go by.
func TestMetrics(t *testing.T) {
	p, o, reports, seen := example()
	v := Of(p, o, reports, seen, now).Metrics(now)
	if v.Phase != "deploy" || v.Age != 10*time.Minute || !v.DHCP || v.Blockers != 2 || v.Foreign != 1 || len(v.Phases) != 14 || len(v.Steps) != 7 {
		t.Errorf("%+v", v)
	}
	if len(v.Hosts) != 3 || v.Hosts[0].Wait >= 0 || v.Hosts[1].Wait != 10*time.Minute || v.Hosts[2].Step != "enrolling" {
		t.Errorf("%+v", v.Hosts)
	}
}

func writeFile(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestRead_Unreported holds what is shown before the phase machine's first round since a boot: how
// far the journal was, a line for each host of the plan, and that something is wrong until it
// reports, but for a run that has ended.
func TestRead_Unreported(t *testing.T) {
	planned := []provision.Host{{Name: "master-0", MAC: card(1)}, {Name: "master-1", MAC: card(2)}}
	at := start.Add(5 * time.Minute)
	begun := []ledger.Entry{{Time: start, Kind: ledger.Started}, {Time: at, Kind: ledger.Phase, Phase: progress.Deploy}}
	of := func(kind ledger.Kind, host, cause string) ledger.Entry {
		return ledger.Entry{Time: at, Kind: kind, Host: host, Cause: cause}
	}
	var out strings.Builder
	for _, tt := range []struct {
		name    string
		entries []ledger.Entry
		torn    string // instead of a journal
	}{
		{name: "its first boot"},
		{name: "booted in the midst", entries: append(begun, of(ledger.Joined, "master-0", ""), of(ledger.Blocked, "master-1", "no disk meets the hints"))},
		{name: "booted after the end", entries: append(begun, of(ledger.Joined, "master-0", ""), of(ledger.Joined, "master-1", ""), ledger.Entry{Time: at, Kind: ledger.Phase, Phase: progress.Ended})},
		{name: "a journal that cannot be read", torn: "{}\n"},
	} {
		f, unseen := inspect.Files{Root: t.TempDir()}, inspect.Unseen{}
		writeFile(t, f.Path(layout.Hosts), []byte("{}"))
		text := []byte(tt.torn)
		for _, e := range tt.entries {
			text = append(text, ledger.Encode(e)...)
		}
		if len(text) > 0 {
			writeFile(t, f.Path(layout.Journal), text)
		}
		r := Read(f, planned, now, &unseen)
		if r == nil {
			t.Fatalf("%s: nothing is shown", tt.name)
		}
		fmt.Fprintf(&out, "--- %s\n%s", tt.name, r.Text(now))
		for _, fault := range r.Faults(now) {
			fmt.Fprintf(&out, "FAULT %s\n", fault)
		}
		for _, what := range unseen.List() {
			fmt.Fprintf(&out, "not seen: %s\n", strings.ReplaceAll(what, f.Root, ""))
		}
	}
	golden.Check(t, []byte(out.String()))
}
