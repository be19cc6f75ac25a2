package machine

import (
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/cause"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
)

var (
	now  = time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)
	card = mac.MAC{2, 0, 0, 0, 0, 1}
	disk = node.Pinned{Serial: "S1"}
)

func ago(d time.Duration) time.Time { return now.Add(-d) }

// view is a host in a state, a minute after it was asked for what leads there.
func view(s node.State, change ...func(*View)) View {
	v := View{Now: now, Limits: Limits{BootRetry: 10 * time.Minute, CallBack: 30 * time.Minute, Install: time.Hour, Deadline: now.Add(time.Hour)},
		Host: Host{Plan: provision.Host{Name: "master-0", MAC: card, BMC: "redfish://192.0.2.1/redfish/v1/Systems/1", Driver: "redfish", BootMode: "UEFI", Boot: provision.PXEUEFI},
			Username: secret.New("admin"), Password: secret.New("good"), Ignition: secret.New("{}"), Accounts: "1",
			Image: node.Image{URL: "http://os", SHA256: "ab", Format: "raw"}},
		Node:  &node.Node{UUID: "u", Name: "master-0", MACs: []mac.MAC{card}, State: s, Changed: ago(30 * time.Second), Step: node.Step{Index: -1}, Disk: disk.String(), Power: node.On},
		Known: ledger.Host{Accounts: "1", AskedAt: ago(time.Minute), Disk: disk}, Trace: Trace{Cause: cause.Of(nil, now)}}
	for _, f := range change {
		f(&v)
	}
	return v
}

// fetched is the cause of a host that has fetched files ten minutes ago, and did nothing since.
func fetched(kinds ...string) cause.Cause {
	all := []events.Event{{Time: ago(11 * time.Minute), Source: events.DHCP, Kind: "offer"}}
	for _, k := range kinds {
		all = append(all, events.Event{Time: ago(10 * time.Minute), Source: events.HTTP, Kind: k})
	}
	return cause.Of(all, now)
}

func asked(verb node.Verb) func(*View) { return func(v *View) { v.Known.Asked = verb } }
func wrote(w ledger.Write) func(*View) { return func(v *View) { v.Known.Write = w } }
func failure(text string) func(*View)  { return func(v *View) { v.Node.Error = text } }
func deployed(v *View) {
	v.Known.Asked, v.Known.Write = node.Deploy, ledger.Write{Intent: ago(time.Minute), Begun: ago(50 * time.Second)}
}

// setBack has the clock go on from an hour ago: our server's first event, and the intent, are later.
func setBack(v *View) { v.Trace.Since, v.Node.Changed = ago(2*time.Hour), ago(time.Hour) }

// unnamed has a client that is none of the known hosts fetch the image after the deployment was asked for.
func unnamed(v *View) { v.Trace.Since, v.Trace.Unnamed = ago(time.Hour), ago(20*time.Second) }
func leftOff(v *View) {
	v.Node.Power, v.Known.Adopted, v.Known.Ended, v.Known.Write = node.Off, true, true, ledger.Write{Written: now}
}
func hasJoined(v *View) { v.Known.Joined = ago(time.Second) }

func inDoubt(v *View) { v.Known.Write = ledger.Write{Doubt: ago(time.Minute)} }
func held(v *View) {
	v.Node.Maintenance = node.Maintenance{On: true, Reason: node.HoldReason}
}
func blocked(v *View) { v.Known.Blocker = "late" }
func anew(v *View) {
	v.Known.Disk, v.Known.Anew, v.Known.Allowed = node.Pinned{}, true, ago(time.Second)
}
func allowedAnew(v *View) {
	v.Listed, v.Rewrite = true, orders.Rewrite{Host: "master-0", Barred: ago(time.Minute), At: ago(time.Second), Why: "no boot device"}
}

var steps = []string{"deploy", node.WriteStep, "prepare_instance_boot"}

// waits are how the waits begin that the operator's page explains.
func waits(t *testing.T) (all []string) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| A host waits for |")
	for line := range strings.Lines(table) {
		cells := strings.Split(line, "|")
		if strings.TrimSpace(line) == "" {
			break
		}
		for _, begin := range strings.Split(cells[1], ";") {
			all = append(all, strings.TrimSpace(begin))
		}
	}
	if !found || len(all) < 10 || slices.Contains(all, "") {
		t.Fatalf("the table has %q", all)
	}
	return all
}

// TestDecide_Guard holds which hosts' ramdisks Ironic is to ignore where no journal can be written: those of
// disks that count as written, in a deployment that could write them.
func TestDecide_Guard(t *testing.T) {
	written := wrote(ledger.Write{Written: ago(time.Hour)})
	for name, tt := range map[string]struct {
		view View
		want bool
	}{
		"it has joined":       {view(node.DeployWait, hasJoined), true},
		"it is written":       {view(node.DeployWait, written), true},
		"it is in doubt":      {view(node.DeployWait, inDoubt), true},
		"it is blocked":       {view(node.DeployWait, written, blocked), true},
		"it is to be written": {view(node.DeployWait, deployed), false},
		"it is in doubt now": {view(node.DeployWait, deployed, func(v *View) {
			v.Known.Write.Fetched, v.Node.Step = ago(time.Second), node.Step{Name: steps[0], Names: steps}
		}), true},
		"Ironic is past that":    {view(node.DeployWait, written, func(v *View) { v.Node.Step = node.Step{Index: 2, Name: steps[2], Names: steps} }), false},
		"nothing waits":          {view(node.Active, written), false},
		"it is held":             {view(node.DeployWait, written, held), false},
		"it is locked":           {view(node.DeployWait, written, func(v *View) { v.Node.Locked = true }), false},
		"there is no node":       {view("", written, func(v *View) { v.Node = nil }), false},
		"Ironic does not answer": {view("", written, func(v *View) { v.Node, v.Silent = nil, true }), false},
	} {
		want := node.Request{}
		if tt.want {
			want = node.Request{Verb: node.Hold, UUID: "u"}
		}
		var got node.Request
		if g := Decide(tt.view).Guard; g != nil {
			got = *g
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// TestDecide has one row for each state of a node and what the journal has of it.
func TestDecide(t *testing.T) {
	tests := []struct {
		name string
		view View
		want node.Verb   // asked of Ironic; empty for nothing
		kind ledger.Kind // an entry that is made
		text string      // in the entry's cause or evidence, or in what it waits for
	}{
		{name: "Ironic has no node", view: view("", func(v *View) { v.Node = nil }), want: node.Create},
		{name: "lost while it was deployed", view: view("", deployed, func(v *View) { v.Node = nil }), want: node.Create, kind: ledger.Doubt, text: "Ironic has no node of it"},
		{name: "its port is missing", view: view(node.Enroll, func(v *View) { v.Node.MACs = nil }), want: node.Port},
		{name: "other accounts", view: view(node.Enroll, func(v *View) { v.Known.Accounts = "0" }), want: node.Update},
		{name: "other accounts, in motion", view: view(node.Verifying, func(v *View) { v.Known.Accounts = "0" })},
		{name: "locked", view: view(node.Enroll, func(v *View) { v.Node.Locked = true }), text: "Ironic to finish"},
		{name: "maintenance by a person", view: view(node.Enroll, func(v *View) { v.Node.Maintenance = node.Maintenance{On: true, Reason: "new fan"} }), text: "new fan"},
		{name: "maintenance by Ironic", view: view(node.CleanFailed, func(v *View) { v.Node.Maintenance = node.Maintenance{On: true, Fault: node.FaultClean} }), want: node.Clear},
		{name: "maintenance by Ironic, just ended", view: view(node.CleanFailed, asked(node.Clear), func(v *View) {
			v.Node.Maintenance, v.Known.AskedAt = node.Maintenance{On: true, Fault: node.FaultClean}, ago(relapse-time.Second)
		}), want: node.Clear},
		{name: "maintenance by Ironic, ended and there again", view: view(node.CleanFailed, asked(node.Clear), func(v *View) {
			v.Node.Maintenance = node.Maintenance{On: true, Fault: node.FaultClean}
		}), kind: ledger.Failed, text: node.FaultClean},
		{name: "enrolled", view: view(node.Enroll), want: node.Manage},
		{name: "its BMC refused", view: view(node.Enroll, asked(node.Manage), failure("401")), kind: ledger.Failed, text: "401"},
		{name: "refused before, and not asked yet", view: view(node.Enroll, asked(node.Manage), failure("401"), func(v *View) { v.Node.Changed = ago(2 * time.Minute) }), want: node.Manage},
		{name: "verifying", view: view(node.Verifying, asked(node.Manage)), text: "its BMC to answer"},
		{name: "not inspected", view: view(node.Manageable, func(v *View) { v.Known.Disk = node.Pinned{} }), want: node.Inspect},
		{name: "inspected before its disk was allowed to be written anew", view: view(node.Manageable, anew, func(v *View) { v.Node.Inspected = ago(time.Minute) }), want: node.Inspect},
		{name: "inspected before other hints", view: view(node.Manageable, func(v *View) {
			v.Known.Disk, v.Known.Renewed, v.Node.Inspected = node.Pinned{}, ago(time.Second), ago(time.Minute)
		}), want: node.Inspect},
		{name: "inspected after other hints", view: view(node.Manageable, func(v *View) {
			v.Known.Disk, v.Known.Renewed, v.Node.Inspected = node.Pinned{}, ago(time.Minute), ago(time.Second)
		}), text: "Ironic to report"},
		{name: "its disk is another", view: view(node.Manageable, func(v *View) { v.Node.Disk = "" }), want: node.Pin},
		{name: "its disk is chosen", view: view(node.Manageable), want: node.Provide},
		{name: "written, to be adopted", view: view(node.Manageable, wrote(ledger.Write{Written: now})), want: node.Adopt},
		{name: "in doubt, to be adopted", view: view(node.Manageable, wrote(ledger.Write{Doubt: now})), want: node.Adopt},
		{name: "inspection failed", view: view(node.InspectFailed, asked(node.Inspect), failure("timeout")), kind: ledger.Failed, text: "timeout"},
		{name: "inspection failed of a written host", view: view(node.InspectFailed, wrote(ledger.Write{Written: now})), want: node.Manage},
		{name: "cleaning failed", view: view(node.CleanFailed), want: node.Manage},
		{name: "available, its ramdisk not known yet", view: view(node.Available), text: "its ramdisk to report"},
		{name: "available, its ramdisk known", view: view(node.Available, func(v *View) { v.Node.Called = ago(time.Second) }), want: node.Deploy},
		{name: "available, off", view: view(node.Available, func(v *View) { v.Node.Power = node.Off }), want: node.Deploy},
		{name: "available, on without a ramdisk", view: view(node.Available, func(v *View) { v.Node.Changed = ago(3 * time.Minute) }), want: node.Deploy},
		{name: "available without a disk", view: view(node.Available, func(v *View) { v.Node.Disk = "" }), want: node.Manage},
		{name: "available, asked, not begun", view: view(node.Available, asked(node.Deploy), wrote(ledger.Write{Intent: ago(time.Minute)}), func(v *View) { v.Node.Changed = ago(2 * time.Minute) }), want: node.Deploy},
		{name: "available, without an Ignition document", view: view(node.Available, func(v *View) { v.Node.Power, v.Host.Ignition = node.Off, secret.Text{} }), kind: ledger.Blocked, text: "no Ignition document"},
		{name: "available although it was deployed", view: view(node.Available, deployed), want: node.Manage, kind: ledger.Doubt, text: "forgotten"},
		{name: "deploying", view: view(node.Deploying, asked(node.Deploy), wrote(ledger.Write{Intent: ago(time.Minute)})), kind: ledger.Begun},
		{name: "deploying, past the write", view: view(node.Deploying, deployed, func(v *View) { v.Node.Step = node.Step{Index: 2, Name: steps[2], Names: steps} }), kind: ledger.Written},
		{name: "fetched whole", view: view(node.DeployWait, deployed, func(v *View) { v.Trace.Fetched = now }), kind: ledger.Fetched},
		{name: "failed, Ironic is before the write", view: view(node.DeployFailed, deployed, func(v *View) { v.Node.Step = node.Step{Index: 0, Names: steps} }), kind: ledger.Failed, text: "before write_image"},
		{name: "failed, Ironic is past the write", view: view(node.DeployFailed, deployed, func(v *View) { v.Node.Step = node.Step{Index: 2, Names: steps} }), want: node.Undeploy, kind: ledger.Written},
		{name: "failed, watched", view: view(node.DeployFailed, deployed, func(v *View) { v.Watched.Deploys = true }), kind: ledger.Failed, text: "watched"},
		{name: "failed, watched, and fetched whole", view: view(node.DeployFailed, deployed, func(v *View) { v.Watched.Deploys, v.Known.Write.Fetched = true, ago(40*time.Second) }), want: node.Undeploy, kind: ledger.Doubt},
		{name: "failed, and an unknown client fetched all", view: view(node.DeployFailed, deployed, unnamed), want: node.Undeploy, kind: ledger.Doubt, text: "how far the ramdisk wrote"},
		{name: "failed, watched, and an unknown client fetched all", view: view(node.DeployFailed, deployed, unnamed, func(v *View) { v.Watched.Deploys = true }), want: node.Undeploy, kind: ledger.Doubt},
		{name: "failed, and an unknown client fetched all before it was asked for", view: view(node.DeployFailed, deployed, unnamed, func(v *View) { v.Trace.Unnamed = ago(70 * time.Second) }), kind: ledger.Failed, text: "has not sent the whole image"},
		{name: "failed, and an unknown client fetched all before it was to write", view: view(node.DeployFailed, deployed, unnamed, func(v *View) { v.Watched.Before = ago(19 * time.Second) }), kind: ledger.Failed, text: "has not sent the whole image"},
		{name: "failed before the write, and an unknown client fetched all", view: view(node.DeployFailed, deployed, unnamed, func(v *View) { v.Node.Step = node.Step{Index: 0, Name: steps[0], Names: steps} }), kind: ledger.Failed, text: "in a step before"},
		{name: "writes, and an unknown client fetched all", view: view(node.DeployWait, deployed, unnamed, func(v *View) { v.Node.Step = node.Step{Index: 1, Name: steps[1], Names: steps} }), kind: ledger.Fetched, text: "may be this host"},
		{name: "waits before the write, and an unknown client fetched all", view: view(node.DeployWait, deployed, unnamed, func(v *View) { v.Node.Step = node.Step{Index: 0, Name: steps[0], Names: steps} }), text: "ramdisk to call back"},
		{name: "failed, not fetched whole", view: view(node.DeployFailed, deployed, func(v *View) { v.Trace.Since = ago(time.Hour) }), kind: ledger.Failed, text: "has not sent the whole image"},
		{name: "failed after a power cut", view: view(node.DeployFailed, deployed, func(v *View) { v.Trace.Since = ago(20 * time.Second) }), want: node.Undeploy, kind: ledger.Doubt},
		{name: "failed before, and not asked yet", view: view(node.DeployFailed, asked(node.Deploy), wrote(ledger.Write{Intent: ago(20 * time.Second)})), want: node.Deploy},
		{name: "failed, and the clock was set back", view: view(node.DeployFailed, deployed, setBack), want: node.Undeploy, kind: ledger.Doubt, text: "how far the ramdisk wrote"},
		{name: "failed, fetched whole, and the clock was set back", view: view(node.DeployFailed, asked(node.Deploy), wrote(ledger.Write{Intent: ago(time.Minute), Fetched: ago(40 * time.Second)}), setBack), want: node.Undeploy, kind: ledger.Doubt},
		{name: "failed past the write, and the clock was set back", view: view(node.DeployFailed, asked(node.Deploy), wrote(ledger.Write{Intent: ago(time.Minute)}), setBack, func(v *View) { v.Node.Step = node.Step{Index: 2, Names: steps} }), want: node.Undeploy, kind: ledger.Written},
		{name: "deploying, and the clock was set back", view: view(node.Deploying, asked(node.Deploy), wrote(ledger.Write{Intent: ago(time.Minute)}), setBack), kind: ledger.Begun},
		{name: "failed, and other hints", view: view(node.DeployFailed, func(v *View) { v.Known.Disk = node.Pinned{} }), want: node.Undeploy},
		{name: "failed, and another disk is chosen", view: view(node.DeployFailed, func(v *View) { v.Known.Disk = node.Pinned{Serial: "S2"} }), want: node.Undeploy},
		{name: "failed, and joined", view: view(node.DeployFailed, hasJoined)},
		{name: "undeployment failed", view: view(node.Error, wrote(ledger.Write{Doubt: now})), want: node.Undeploy},
		{name: "undeployment failed, and joined", view: view(node.Error, hasJoined)},
		{name: "adoption failed", view: view(node.AdoptFailed, asked(node.Adopt), wrote(ledger.Write{Doubt: now})), kind: ledger.Failed},
		{name: "active", view: view(node.Active, deployed), kind: ledger.Written, text: "active"},
		{name: "active, its power is off", view: view(node.Active, wrote(ledger.Write{Written: now}), func(v *View) { v.Node.Power = node.Off }), want: node.BootDisk},
		{name: "joined as its deployment ended, and adopted", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff), want: node.BootDisk, text: "it joined while Ironic ended its deployment"},
		{name: "the same, and it was asked for a moment ago", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) { v.Known.DiskBoot = ago(relapse) }), text: "it to boot from its disk"},
		{name: "the same, and that had no effect", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) { v.Known.AskedAt, v.Known.DiskBoot = ago(3*time.Minute), ago(relapse+time.Second) }), want: node.BootDisk},
		{name: "the same, and its power is not known", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) { v.Node.Power = "" }), text: "it to boot from its disk"},
		{name: "the same, and its power was just switched on", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) { v.Node.Power = node.On }), text: "it to boot from its disk"},
		{name: "the same, and it runs", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) {
			v.Node.Power, v.Known.AskedAt, v.Known.DiskBoot = node.On, ago(3*time.Minute), ago(2*time.Minute)
		}), kind: ledger.Done, text: "Ironic: power on"},
		{name: "the same, and the account of its BMC is another", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) { v.Known.Accounts = "0" }), want: node.Update},
		{name: "the same, for an hour", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) { v.Known.AskedAt = ago(time.Hour) })},
		{name: "the same, for an hour without power", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) {
			v.Known.AskedAt, v.Limits.Started = ago(time.Hour), ago(time.Second)
		}), want: node.BootDisk},
		{name: "the same, and its power is not known for an hour", view: view(node.Active, hasJoined, asked(node.Adopt), leftOff, func(v *View) {
			v.Node.Maintenance = node.Maintenance{On: true, Fault: node.FaultPower}
			v.Known.AskedAt, v.Limits.Started, v.Node.Power = ago(time.Hour), ago(time.Second), ""
		})},
		{name: "joined as its deployment ended, before it is adopted", view: view(node.Available, hasJoined, asked(node.Undeploy), leftOff), want: node.BootDisk},
		{name: "joined as its deployment ended, and was just asked to start", view: view(node.Available, hasJoined, asked(node.Undeploy), leftOff, func(v *View) { v.Known.DiskBoot = now }), want: node.Manage},
		{name: "joined as its deployment ended, which failed", view: view(node.Error, hasJoined, asked(node.Undeploy), leftOff), want: node.BootDisk},
		{name: "joined as its deployment ended, by an old database", view: view(node.DeployWait, hasJoined, asked(node.Undeploy), leftOff), want: node.Hold},
		{name: "joined as its deployment ended, by an old database, and is held", view: view(node.DeployWait, hasJoined, asked(node.Hold), leftOff, held), want: node.BootDisk},
		{name: "joined as its deployment ends", view: view(node.Deleting, hasJoined, asked(node.Undeploy), leftOff)},
		{name: "joined, its deployment was never ended, and it is off", view: view(node.Active, hasJoined, asked(node.Undeploy), leftOff, func(v *View) { v.Known.Adopted = false })},
		{name: "joined before its deployment was ended", view: view(node.Active, hasJoined, asked(node.Undeploy), wrote(ledger.Write{Written: now}), func(v *View) { v.Known.Ended = true })},
		{name: "joined, and adopted after a lost database", view: view(node.Active, hasJoined, asked(node.Adopt), wrote(ledger.Write{Written: now}), func(v *View) { v.Known.Adopted = true })},
		{name: "adopted a while ago, and its maintenance ended since", view: view(node.Active, asked(node.Clear), wrote(ledger.Write{Written: now}), func(v *View) { v.Known.Adopted, v.Known.AskedAt = true, ago(11*time.Minute) }), want: node.BootDisk},
		{name: "deployed a while ago, and its maintenance ended since", view: view(node.Active, asked(node.Clear), wrote(ledger.Write{Written: now}), func(v *View) { v.Known.AskedAt = ago(11 * time.Minute) }), text: "it to boot from its disk"},
		{name: "adopted a while ago", view: view(node.Active, asked(node.Adopt), wrote(ledger.Write{Doubt: now}), func(v *View) { v.Known.AskedAt = ago(11 * time.Minute) }), want: node.BootDisk},
		{name: "deployed a while ago", view: view(node.Active, asked(node.Deploy), wrote(ledger.Write{Written: now}), func(v *View) { v.Known.AskedAt = ago(11 * time.Minute) }), text: "join the cluster"},
		{name: "joined", view: view(node.Active, deployed, func(v *View) { v.Joined = true }), kind: ledger.Joined},
		{name: "joined, unknown to Ironic", view: view("", hasJoined, func(v *View) { v.Node = nil }), want: node.Create},
		{name: "joined, enrolled anew", view: view(node.Manageable, hasJoined), want: node.Adopt},
		{name: "joined, available", view: view(node.Available, hasJoined), want: node.Manage},
		{name: "rescued by a person", view: view(node.Rescue), kind: ledger.Blocked, text: `"rescue"`},
		{name: "held by a person", view: view(node.DeployHold), kind: ledger.Blocked, text: `"deploy hold"`},
		{name: "a state of another release", view: view("levitating"), kind: ledger.Blocked, text: `"levitating"`},
		{name: "allowed anew", view: view(node.Active, inDoubt, allowedAnew), kind: ledger.Allowed, text: "no boot device"},
		{name: "allowed anew, the API has listed nothing", view: view(node.Active, inDoubt, allowedAnew, func(v *View) { v.Listed = false }), text: "join the cluster"},
		{name: "allowed anew, another write", view: view(node.Active, inDoubt, allowedAnew, func(v *View) { v.Rewrite.Barred = ago(2 * time.Minute) }), text: "join the cluster"},
		{name: "allowed anew, long ago", view: view(node.Active, inDoubt, allowedAnew, func(v *View) { v.Rewrite.At = ago(time.Hour) }), text: "join the cluster"},
		{name: "allowed anew, complete, in time", view: view(node.Active, inDoubt, allowedAnew, func(v *View) { v.Known.Write = ledger.Write{Written: ago(time.Minute)} }), text: "join the cluster"},
		{name: "allowed anew, complete, and late", view: view(node.Active, inDoubt, allowedAnew, func(v *View) {
			v.Known.Write, v.Known.Blocker = ledger.Write{Written: ago(time.Minute)}, "late"
		}), kind: ledger.Allowed},
		{name: "allowed anew, and joined", view: view(node.Active, inDoubt, allowedAnew, func(v *View) { v.Joined = true }), kind: ledger.Joined},
		{name: "allowed anew, Ironic does not answer", view: view("", inDoubt, allowedAnew, func(v *View) { v.Node, v.Silent = nil, true }), kind: ledger.Allowed},
		{name: "waits although it is written, by an old database", view: view(node.DeployWait, deployed, func(v *View) { v.Known.Write.Written = ago(40 * time.Second) }), want: node.Undeploy},
		{name: "waits although it is written, and its deployment could not be ended", view: view(node.DeployWait, deployed, func(v *View) {
			v.Known.Write.Written, v.Known.Failures, v.Known.FailedAt = ago(40*time.Second), map[node.Verb]int{node.Undeploy: 4}, ago(time.Second)
		}), want: node.Hold},
		{name: "the same, and its ramdisk is ignored", view: view(node.DeployWait, deployed, held, func(v *View) {
			v.Known.Write.Written, v.Known.Failures, v.Known.FailedAt = ago(40*time.Second), map[node.Verb]int{node.Undeploy: 4}, ago(5*time.Minute)
		}), want: node.Undeploy},
		{name: "waits before the write, and fetched whole, by an old database", view: view(node.DeployWait, deployed, func(v *View) {
			v.Known.Write.Fetched, v.Node.Step = ago(40*time.Second), node.Step{Index: 0, Name: steps[0], Names: steps}
		}), want: node.Undeploy, kind: ledger.Doubt, text: "database is older"},
		{name: "failed before the write, and fetched whole, by an old database", view: view(node.DeployFailed, deployed, func(v *View) {
			v.Known.Write.Fetched, v.Node.Step = ago(40*time.Second), node.Step{Index: 0, Name: steps[0], Names: steps}
		}), want: node.Undeploy, kind: ledger.Doubt, text: "database is older"},
		{name: "waits behind the write", view: view(node.DeployWait, deployed, func(v *View) {
			v.Known.Write.Written, v.Node.Step = ago(40*time.Second), node.Step{Index: 2, Name: steps[2], Names: steps}
		}), text: "ramdisk to call back"},
		{name: "waits, and has joined", view: view(node.DeployWait, deployed, hasJoined), want: node.Hold, text: "Ironic to ignore its ramdisk"},
		{name: "waits, and has joined, and is locked", view: view(node.DeployWait, deployed, hasJoined, func(v *View) { v.Node.Locked = true })},
		{name: "waits, has joined, and is held", view: view(node.DeployWait, deployed, hasJoined, held)},
		{name: "waits, and is blocked", view: view(node.DeployWait, inDoubt, blocked), want: node.Hold},
		{name: "waits, is blocked, and is held", view: view(node.DeployWait, inDoubt, blocked, held)},
		{name: "waits, is blocked, and cannot be held", view: view(node.DeployWait, inDoubt, blocked, func(v *View) { v.Known.Failures = map[node.Verb]int{node.Hold: tries} })},
		{name: "waits, and is blocked, not written", view: view(node.DeployWait, deployed, blocked)},
		{name: "waits, and its blocker is corrected", view: view(node.DeployWait, inDoubt, held), want: node.Undeploy},
		{name: "held, and allowed anew", view: view(node.DeployWait, anew, held), want: node.Undeploy},
		{name: "held, and undeployed", view: view(node.Available, anew, held), want: node.Clear},
		{name: "held, undeployed, in doubt", view: view(node.Available, inDoubt, held), want: node.Clear},
		{name: "held, and is undeployed", view: view(node.Deleting, anew, held), text: "Ironic to end"},
		{name: "anew, active", view: view(node.Active, anew), want: node.Undeploy},
		{name: "anew, active, and joined", view: view(node.Active, anew, hasJoined)},
		{name: "anew, waits for a ramdisk", view: view(node.DeployWait, anew), want: node.Undeploy},
		{name: "anew, failed behind the write", view: view(node.DeployFailed, anew, func(v *View) { v.Node.Step = node.Step{Index: 2, Names: steps} }), want: node.Undeploy},
		{name: "anew, adoption failed", view: view(node.AdoptFailed, anew), want: node.Manage},
		{name: "anew, lost", view: view("", anew, func(v *View) { v.Node = nil }), want: node.Create},
		{name: "anew, undeployed", view: view(node.Available, anew), want: node.Manage},
		{name: "blocked", view: view(node.Enroll, func(v *View) { v.Known.Blocker = "no disk" })},
		{name: "blocked, and joined", view: view(node.Enroll, func(v *View) { v.Known.Blocker, v.Joined = "no disk", true }), want: node.Manage, kind: ledger.Joined},
		{name: "late", view: view(node.Enroll, func(v *View) { v.Limits.Deadline = now }), kind: ledger.Blocked, text: `still "enroll"`},
		{name: "late, no call-back", view: view(node.InspectWait, func(v *View) { v.Limits.Deadline, v.Node.Error = now, "an old error" }), kind: ledger.Blocked, text: "nothing of it has arrived"},
		{name: "late, its disk is written", view: view(node.Active, wrote(ledger.Write{Written: now}), func(v *View) { v.Limits.Deadline = now }), kind: ledger.Blocked, text: "it has its image"},
		{name: "late, its disk is in doubt", view: view(node.Active, wrote(ledger.Write{Doubt: now}), func(v *View) { v.Limits.Deadline = now }), kind: ledger.Blocked, text: "nothing showed whether its disk was written"},
		{name: "late, its power cannot be switched", view: view(node.Active, func(v *View) {
			v.Limits.Deadline, v.Node.Maintenance = now, node.Maintenance{On: true, Fault: node.FaultPower, Reason: "the BMC does not answer"}
		}), kind: ledger.Blocked, text: "it is in maintenance: the BMC does not answer"},
		{name: "Ironic does not answer", view: view("", func(v *View) { v.Node, v.Silent = nil, true }), text: "Ironic to answer"},
		{name: "Ironic does not answer, late", view: view("", func(v *View) { v.Node, v.Silent, v.Limits.Deadline = nil, true, now }), kind: ledger.Blocked, text: "Ironic does not answer"},
		{name: "blocked, and Ironic does not answer, late", view: view("", blocked, func(v *View) { v.Node, v.Silent, v.Limits.Deadline = nil, true, now })},
		{name: "not taken for long", view: view(node.Enroll, asked(node.Manage), func(v *View) { v.Known.AskedAt = ago(patience + time.Second); v.Node.Changed = ago(time.Hour) }), kind: ledger.Failed, text: "not taken"},
		{name: "not taken for long, but without power", view: view(node.Enroll, asked(node.Manage), func(v *View) {
			v.Known.AskedAt, v.Limits.Started, v.Node.Changed = ago(time.Hour), ago(time.Second), ago(2*time.Hour)
		}), want: node.Manage},
		{name: "to wait after a failure", view: view(node.Enroll, func(v *View) {
			v.Known.Failures, v.Known.FailedAt = map[node.Verb]int{node.Manage: 2}, ago(14*time.Second)
		}), text: "next attempt to reach its BMC"},
		{name: "waited after a failure", view: view(node.Enroll, func(v *View) {
			v.Known.Failures, v.Known.FailedAt = map[node.Verb]int{node.Manage: 2}, ago(15*time.Second)
		}), want: node.Manage},
		{name: "failed too often", view: view(node.Enroll, func(v *View) {
			v.Known.Failures, v.Known.Cause = map[node.Verb]int{node.Manage: tries}, "401"
		}), kind: ledger.Blocked, text: "reach its BMC has failed 5 times: 401"},
		{name: "no call-back", view: view(node.InspectWait, func(v *View) { v.Known.AskedAt = ago(10 * time.Minute) }), want: node.BootNet, kind: ledger.Asked, text: "nothing of it has arrived"},
		{name: "no call-back, the ramdisk was fetched", view: view(node.InspectWait, func(v *View) { v.Known.AskedAt, v.Trace.Cause = ago(10*time.Minute), fetched("kernel", "ramdisk") }), want: node.BootNet, text: "it has the ramdisk, which did not ask for an address"},
		{name: "no call-back, booted again", view: view(node.DeployWait, func(v *View) {
			v.Known.AskedAt, v.Known.Boots, v.Known.BootedAt = ago(11*time.Minute), 1, ago(time.Minute)
		}), text: "ramdisk to call back"},
		{name: "called back", view: view(node.DeployWait, func(v *View) { v.Known.AskedAt, v.Node.Called = ago(15*time.Minute), ago(time.Minute) }), text: "its ramdisk to finish"},
		{name: "no call-back at all", view: view(node.DeployWait, func(v *View) { v.Known.AskedAt, v.Known.Boots = ago(33*time.Minute), 2 }), kind: ledger.Blocked, text: "after 3 boots"},
	}
	documented := waits(t)
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			step := Decide(tt.view)
			if w := step.Show.Waits; w != "" && !slices.ContainsFunc(documented, func(begin string) bool { return strings.HasPrefix(w, begin) }) {
				t.Errorf("bootstrap/README.md does not say what to do if a host waits for %q", w)
			}
			var got []node.Verb
			for _, r := range step.Requests {
				got = append(got, r.Verb)
				known := tt.view.Known.Asked == r.Verb && r.Verb != node.BootNet && r.Verb != node.BootDisk
				if noted := slices.ContainsFunc(step.Entries, func(e ledger.Entry) bool { return e.Kind == ledger.Asked && e.Verb == r.Verb }); noted == known {
					t.Errorf("%s comes into the journal: %t", r.Verb, noted)
				}
				if joined := !tt.view.Known.Joined.IsZero(); r.Gently != (joined && r.Verb == node.BootDisk) {
					t.Errorf("%s gently: %t", r.Verb, r.Gently)
				}
				if h := tt.view.Host; r.Verb == node.Deploy && (r.Image != h.Image || r.Drive != node.Drive{Name: h.Plan.Name, UserData: h.Ignition}) {
					t.Errorf("deployed with %+v and %+v", r.Image, r.Drive)
				}
			}
			var want []node.Verb
			if tt.want != "" {
				want = append(want, tt.want)
			}
			if !slices.Equal(got, want) {
				t.Errorf("requests %q, want %q", got, want)
			}
			i := slices.IndexFunc(step.Entries, func(e ledger.Entry) bool { return e.Kind == tt.kind })
			if tt.kind != "" && i < 0 {
				t.Fatalf("no entry %q: %+v", tt.kind, step.Entries)
			}
			text := step.Show.Waits
			for _, e := range step.Entries {
				text += e.Cause + e.Evidence
			}
			if !strings.Contains(text, tt.text) {
				t.Errorf("%q, want %q", text, tt.text)
			}
			for _, e := range step.Entries {
				if e.Host != "master-0" || !e.Time.Equal(now) {
					t.Errorf("%+v", e)
				}
				if was := tt.view.Known.Blocker; e.Kind == ledger.Blocked && was != "" {
					t.Errorf("%q is noted over %q", e.Cause, was)
				}
			}
			if step.Show.Name != "master-0" || step.Show.Step == "" {
				t.Errorf("shown %+v", step.Show)
			}
		})
	}
}

// Whatever Ironic and the journal have: a disk that may have been written is never written again,
// and the power of a host that has joined is never switched, but for one that is off as Ironic was to
// end its deployment.
func TestDecide_Never(t *testing.T) {
	var writes []ledger.Write
	for i := range 32 {
		at := func(bit int) time.Time {
			if i>>bit&1 == 0 {
				return time.Time{}
			}
			return ago(40 * time.Second)
		}
		writes = append(writes, ledger.Write{Intent: at(0), Begun: at(1), Fetched: at(2), Written: at(3), Doubt: at(4)})
	}
	for _, s := range append(node.States(), "", "levitating") {
		for _, w := range writes {
			for i := range 2 * 2 * 3 {
				joined, ended, power := i%2 > 0, i/2%2 > 0, []node.Power{node.Off, node.On, ""}[i/4]
				for _, verb := range []node.Verb{"", node.Deploy, node.Adopt, node.Manage, node.Clear} {
					v := view(s, wrote(w), asked(verb), func(v *View) { v.Joined, v.Node.Power, v.Known.Ended, v.Known.Adopted = joined, power, ended, ended })
					for _, r := range Decide(v).Requests {
						never := !w.Written.IsZero() || !w.Doubt.IsZero() || joined
						if never && r.Verb == node.Deploy {
							t.Errorf("%q, %+v, joined %t: it is deployed", s, w, joined)
						}
						if joined && slices.Contains([]node.Verb{node.Undeploy, node.BootNet, node.Inspect, node.Provide}, r.Verb) {
							t.Errorf("%q: a host that has joined gets %q", s, r.Verb)
						}
						if joined && r.Verb == node.BootDisk && (!ended || power != node.Off) {
							t.Errorf("%q, %q, its deployment to end %t: a host that has joined is switched", s, power, ended)
						}
					}
				}
			}
		}
	}
}

// TestBoots holds that a host whose ramdisk never calls back boots as often as plan states for the time to
// its call, by the times of plan, and that each boot has the time of the others.
func TestBoots(t *testing.T) {
	p, err := provision.Compile(provision.Input{Settings: provisioning.Settings{Network: provisioning.Managed}})
	if err != nil {
		t.Fatal(err)
	}
	limit := map[string]time.Duration{}
	for _, d := range p.Deadlines {
		limit[d.Step] = time.Duration(d.Seconds) * time.Second
		if d.Step == "call-back" && d.Why != fmt.Sprintf("%d boots fit into it", provision.Boots) {
			t.Errorf("plan has %q", d.Why)
		}
	}
	known := ledger.Host{Accounts: "1", Asked: node.Deploy, AskedAt: now, Disk: disk, Write: ledger.Write{Intent: now, Begun: now}}
	began := []time.Time{now}
	for at := now; known.Blocker == ""; at = at.Add(time.Second) {
		if at.Sub(now) > time.Hour {
			t.Fatal("it is never blocked")
		}
		step := Decide(view(node.DeployWait, func(v *View) {
			v.Now, v.Known, v.Node.Changed = at, known, now
			v.Limits = Limits{BootRetry: limit["boot-retry"], CallBack: limit["call-back"], Install: limit["install"], Deadline: now.Add(limit["install"])}
		}))
		for _, e := range step.Entries {
			if known = known.With(e); e.Kind == ledger.Asked && e.Verb == node.BootNet {
				began = append(began, at)
			}
		}
	}
	if len(began) != provision.Boots {
		t.Errorf("it boots at %v, want %d times", began, provision.Boots)
	}
	for i, end := range append(began[1:], now.Add(limit["call-back"])) { // then Ironic gives up
		if took := end.Sub(began[i]); took < limit["boot-retry"] {
			t.Errorf("boot %d has %s, want %s", i+1, took, limit["boot-retry"])
		}
	}
}

func TestChoose(t *testing.T) {
	big := rootdisk.Disk{Device: "/dev/sda", Serial: "S1", WWN: "w1", Bytes: 100 << 30}
	other := rootdisk.Disk{Device: "/dev/sdb", Serial: "S2", WWN: "w2", Bytes: 200 << 30}
	bare := rootdisk.Disk{Device: "/dev/vda", ByPath: "/dev/disk/by-path/p0", Bytes: 100 << 30}
	tests := []struct {
		name  string
		hints rootdisk.Hints
		disks node.Disks
		want  node.Pinned
		block string
	}{
		{name: "a hint", hints: rootdisk.Hints{SerialNumber: "s2"}, disks: node.Disks{big, other}, want: node.Pinned{Serial: "S2", WWN: "w2"}},
		{name: "the only disk", disks: node.Disks{big}, want: node.Pinned{Serial: "S1", WWN: "w1"}},
		{name: "its path", disks: node.Disks{bare}, want: node.Pinned{ByPath: "/dev/disk/by-path/p0"}},
		{name: "no hints, two disks", disks: node.Disks{big, other}, block: "serial S1; /dev/sdb"},
		{name: "two meet the hint", hints: rootdisk.Hints{MinSizeGigabytes: 50}, disks: node.Disks{big, other}, block: "more than one"},
		{name: "none meets the hint", hints: rootdisk.Hints{SerialNumber: "x"}, disks: node.Disks{big}, block: "serialNumber: x: set others for one of /dev/sda"},
		{name: "no disks", disks: node.Disks{}, block: "found none"},
		{name: "nothing stays", disks: node.Disks{{Device: "/dev/vda", Bytes: 100 << 30}}, block: "neither a serial number"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			step := Decide(view(node.Manageable, func(v *View) {
				v.Known.Disk, v.Node.Inspected, v.Disks, v.Host.Hints = node.Pinned{}, ago(time.Second), tt.disks, tt.hints
			}))
			if tt.block != "" {
				if len(step.Requests) > 0 || !strings.Contains(step.Show.Blocker, tt.block) {
					t.Errorf("blocker %q, want %q", step.Show.Blocker, tt.block)
				}
				return
			}
			if len(step.Requests) != 1 || step.Requests[0].Verb != node.Pin || step.Requests[0].Disk != tt.want {
				t.Errorf("requests %+v, want %+v", step.Requests, tt.want)
			}
			if step.Entries[0].Kind != ledger.Disk || *step.Entries[0].Disk != tt.want {
				t.Errorf("entries %+v", step.Entries)
			}
		})
	}
}

func TestSpec(t *testing.T) {
	tests := []struct {
		name          string
		bmc, mode     string
		boot          provision.Boot
		verify        string
		driver, iface string
		capabilities  string
		info          map[string]any
	}{
		{name: "Redfish by PXE", bmc: "redfish://192.0.2.1/redfish/v1/Systems/1", mode: "UEFI", boot: provision.PXEUEFI, verify: "ca", driver: "redfish", iface: "ipxe", capabilities: "boot_mode:uefi",
			info: map[string]any{"redfish_address": "https://192.0.2.1:443", "redfish_system_id": "/redfish/v1/Systems/1", "redfish_verify_ca": "/ca.pem", "deploy_kernel": "http://k"}},
		{name: "Redfish without TLS, BIOS", bmc: "redfish+http://[2001:db8::1]:8000/redfish/v1/Systems/1", mode: "legacy", boot: provision.PXEBIOS, verify: "off", driver: "redfish", iface: "ipxe", capabilities: "boot_mode:bios",
			info: map[string]any{"redfish_address": "http://[2001:db8::1]:8000", "redfish_verify_ca": false}},
		{name: "virtual media, secure boot", bmc: "redfish-virtualmedia://bmc/redfish/v1/Systems/1", mode: "UEFISecureBoot", boot: provision.VirtualMedia, verify: "ca", driver: "redfish", iface: "redfish-virtual-media", capabilities: "boot_mode:uefi,secure_boot:true"},
		{name: "Dell", bmc: "idrac-virtualmedia://bmc/redfish/v1/Systems/System.Embedded.1", mode: "UEFI", boot: provision.VirtualMedia, verify: "ca", driver: "idrac", iface: "idrac-redfish-virtual-media", capabilities: "boot_mode:uefi"},
		{name: "UEFI HTTP", bmc: "redfish-uefihttp://bmc/redfish/v1/Systems/1", mode: "UEFI", boot: provision.UEFIHTTP, verify: "ca", driver: "redfish", iface: "http-ipxe", capabilities: "boot_mode:uefi"},
		{name: "IPMI", bmc: "ipmi://192.0.2.1:6230?privilegelevel=OPERATOR", mode: "UEFI", boot: provision.PXEUEFI, verify: "ca", driver: "ipmi", iface: "ipxe", capabilities: "boot_mode:uefi",
			info: map[string]any{"ipmi_address": "192.0.2.1", "ipmi_port": "6230", "ipmi_priv_level": "OPERATOR"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			scheme, _, _ := strings.Cut(tt.bmc, ":")
			driver, _, _ := strings.Cut(scheme, "+")
			h := Host{Plan: provision.Host{Name: "m", BMC: tt.bmc, Driver: driver, BootMode: tt.mode, Boot: tt.boot, Verify: tt.verify, Kernel: "ip=dhcp"},
				Username: secret.New("u"), Password: secret.New("p"), CA: "/ca.pem", Kernel: "http://k", Ramdisk: "http://r"}
			s := h.spec()
			if s.Driver != tt.driver || Driver(h.Plan) != tt.driver || s.Interfaces["boot_interface"] != tt.iface || s.Properties["capabilities"] != tt.capabilities {
				t.Errorf("%+v", s)
			}
			for key, want := range tt.info {
				if s.Info[key] != want {
					t.Errorf("%s is %v, want %v", key, s.Info[key], want)
				}
			}
			if _, media := s.Info["external_http_url"]; media {
				t.Error("a medium, and the plan has no address for it")
			}
			h.Plan.Media = "https://192.0.2.5:6183"
			if info := h.spec().Info; s.Driver != "ipmi" && info["external_http_url"] != h.Plan.Media {
				t.Errorf("the medium is at %v", info["external_http_url"])
			}
			if s.Info["kernel_append_params"] != "%default% ip=dhcp" {
				t.Error("the ramdisk has no arguments for its network")
			}
		})
	}
}

// The limits of the whole run end every wait that has none of its own.
func TestDecide_Shows(t *testing.T) {
	s := Decide(view(node.InspectWait, func(v *View) {
		v.Trace.Cause = cause.Cause{Point: cause.Point{Seen: "kernel fetched", At: ago(10 * time.Second)}}
	}))
	if s.Show.Waits != "the ramdisk to call back" || !s.Show.Deadline.Equal(ago(time.Minute).Add(30*time.Minute)) || s.Show.LastSeen.What != "kernel fetched" ||
		!s.Show.Next.At.Equal(now.Add(9*time.Minute)) || s.Show.State != "inspect wait" || s.Show.Attempts != 1 {
		t.Errorf("%+v", s.Show)
	}
	s = Decide(view(node.InspectWait, asked(node.Inspect), func(v *View) { v.Known.Failures = map[node.Verb]int{node.Inspect: 2, node.Manage: 4} }))
	if s.Show.Attempts != 3 || s.Show.Tries != tries {
		t.Errorf("attempt %d of %d, want 3", s.Show.Attempts, s.Show.Tries)
	}
}

// TestWatched holds what a program knows of a deployment that it has watched: when the step that writes
// was last still to come. Ironic names no step while it prepares the host, nor after an end.
func TestWatched(t *testing.T) {
	step := func(i int) node.Step {
		return node.Step{Index: i, Names: []string{"deploy", node.WriteStep, "boot_instance"}}
	}
	type round struct {
		n      *node.Node // nil while Ironic does not answer
		before int        // the round after which Before is
	}
	of := func(s node.State, i int) *node.Node { return &node.Node{State: s, Step: step(i)} }
	for name, rounds := range map[string][]round{
		"it fails while it is prepared": {{of(node.Available, -1), 0}, {of(node.Deploying, -1), 2}, {of(node.Deploying, -1), 3}, {of(node.DeployFailed, -1), 3}},
		"it comes to the writing":       {{of(node.Available, -1), 0}, {of(node.Deploying, -1), 2}, {of(node.DeployWait, 0), 3}, {of(node.DeployWait, 1), 3}, {of(node.DeployWait, 1), 3}},
		"the program starts during it":  {{of(node.Deploying, -1), 0}, {of(node.Deploying, -1), 0}, {of(node.DeployWait, 0), 3}},
		"Ironic was away":               {{of(node.Available, -1), 0}, {of(node.Deploying, -1), 2}, {nil, 2}, {of(node.Deploying, -1), 2}},
		"steps were seen before":        {{of(node.Available, -1), 0}, {of(node.DeployWait, 1), 0}, {of(node.Deploying, -1), 0}},
	} {
		var w Watched
		begin := time.Unix(0, 0)
		for i, r := range rounds {
			w = w.Next(r.n, true, begin.Add(time.Duration(i+1)*time.Second))
			want := time.Time{}
			if r.before > 0 {
				want = begin.Add(time.Duration(r.before) * time.Second)
			}
			if !w.Before.Equal(want) {
				t.Errorf("%s, round %d: before %v, want %v", name, i+1, w.Before, want)
			}
		}
	}
}
