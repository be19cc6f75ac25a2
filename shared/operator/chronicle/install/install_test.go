package install

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/operator/timeline"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

var begin = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// after is so many seconds after the begin.
func after(seconds int) time.Time { return begin.Add(time.Duration(seconds) * time.Second) }

func card(n byte) mac.MAC { return mac.MAC{0x52, 0x54, 0, 0, 0, n} }

func event(at int, host byte, source events.Source, kind, detail string) events.Event {
	return events.Event{Time: after(at), Host: fmt.Sprintf("master-%d", host), MAC: card(host), Source: source, Kind: kind, Detail: detail}
}

// example is an installation of three hosts, of which one joins after a boot that led nowhere, one
// does not call back, and one is blocked; a fourth card asks that is none of a host.
func example() Record {
	entry := func(at int, kind ledger.Kind, change ledger.Entry) ledger.Entry {
		change.Time, change.Kind = after(at), kind
		return change
	}
	r := Record{Entries: []ledger.Entry{
		entry(0, ledger.Started, ledger.Entry{Cause: "the program started"}),
		entry(20, ledger.Phase, ledger.Entry{Phase: progress.Services, Cause: `the phase "address" has ended`}),
		entry(60, ledger.Warned, ledger.Entry{Cause: "bmc-tls:master-1: the certificate is not verified"}),
		entry(60, ledger.Phase, ledger.Entry{Phase: progress.Deploy, Evidence: "the check found nothing that blocks, and warns 1 times"}),
		entry(60, ledger.Orders, ledger.Entry{Orders: &orders.Orders{Generation: 3, On: orders.Parts()}}),
		entry(65, ledger.Asked, ledger.Entry{Host: "master-0", Verb: node.Inspect, Cause: "manageable"}),
		entry(66, ledger.Failed, ledger.Entry{Host: "master-2", Verb: node.Manage, Cause: "401 \x1b[2J from its BMC"}),
		entry(300, ledger.Started, ledger.Entry{}),
		entry(665, ledger.Asked, ledger.Entry{Host: "master-0", Verb: node.BootNet, Cause: "its ramdisk has not called back"}),
		entry(760, ledger.Disk, ledger.Entry{Host: "master-0", Disk: &node.Pinned{Serial: "S1"}, Cause: "hints none", Evidence: "sda"}),
		entry(900, ledger.Written, ledger.Entry{Host: "master-0", Evidence: "Ironic: active"}),
		entry(950, ledger.Blocked, ledger.Entry{Host: "master-2", Cause: "reach its BMC has failed 5 times: 401"}),
		entry(990, ledger.Joined, ledger.Entry{Host: "master-0", Evidence: "its Node is in the cluster"}),
	}}
	boot := func(at int, host byte) {
		r.Events = append(r.Events, event(at, host, events.DHCP, "discover", "PXEClient:Arch:00007"), event(at+1, host, events.DHCP, "offer", "172.22.0.11"),
			event(at+1, host, events.DHCP, "program", "snponly.efi"), event(at+2, host, events.TFTP, "tftp-sent", "snponly.efi"))
	}
	ramdisk := func(at int, host byte) {
		boot(at, host)
		r.Events = append(r.Events, event(at+8, host, events.HTTP, "script", "boot.ipxe"), event(at+10, host, events.HTTP, "kernel", "images/agent.kernel"),
			event(at+20, host, events.HTTP, "ramdisk", "images/agent.initramfs"), event(at+40, host, events.DHCP, "discover", ""))
	}
	for i := range byte(2) {
		r.Events = append(r.Events, event(65, i, events.Provision, "boot to be inspected", ""), event(64, i, events.Ironic, "manageable", ""), event(66, i, events.Ironic, "inspect wait", ""))
	}
	boot(80, 0)
	ramdisk(85, 1)
	r.Events = append(r.Events, event(665, 0, events.Provision, "boot from the network", ""))
	ramdisk(670, 0)
	r.Events = append(r.Events, event(750, 0, events.Ironic, "call-back", ""), event(750, 0, events.Ironic, "manageable", ""), event(800, 0, events.Ironic, "deploying", ""),
		event(850, 0, events.HTTP, "image", "images/os.raw"), event(900, 0, events.Ironic, "active", ""), event(940, 0, events.DHCP, "request", "172.22.0.11"), event(990, 0, events.Node, "joined", ""),
		events.Event{Time: after(100), MAC: card(9), Source: events.DHCP, Kind: "discover", Detail: "PXEClient:Arch:00007 ignored"})
	return r
}

// textOf is a page for a terminal.
func textOf(p timeline.Page) string { return Text(p, layout.Of(0)) }

// lanes are a picture's, a line a row.
func lanes(t timeline.Timeline) string {
	var out strings.Builder
	for _, m := range t.Marks {
		fmt.Fprintf(&out, "mark %s %s\n", m.At, m.Label)
	}
	for _, l := range t.Lanes {
		fmt.Fprintf(&out, "%s\n", l.Name)
		for _, r := range l.Rows {
			for _, s := range r.Spans {
				fmt.Fprintf(&out, "  %s %s..%s %s: %s\n", r.Name, s.From, s.To, s.Tone, s.Label)
			}
		}
	}
	return out.String()
}

// TestPage holds what an operator reads of an installation: each host's lane, the cause of each boot
// that led nowhere, and where the others stand.
func TestPage(t *testing.T) {
	p := Page(example())
	golden.Check(t, []byte(p.Title+"\n"+textOf(p)+"\n"+lanes(p.Timelines[0])))
	alarms := 0
	for _, r := range p.Rows {
		if r.Alarm {
			alarms++
		}
	}
	if alarms != 5 {
		t.Errorf("%d alarms", alarms)
	}
	var html bytes.Buffer
	if err := p.Write(&html); err != nil {
		t.Fatal(err)
	}
	picture := html.String()[strings.Index(html.String(), "<svg"):]
	decoder := xml.NewDecoder(strings.NewReader(picture[:strings.Index(picture, "</svg>")+6]))
	for {
		if _, err := decoder.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}

// TestPage_AfterBoot holds what is left of the picture if the machine has lost the events.
func TestPage_AfterBoot(t *testing.T) {
	r := example()
	r.Events = nil
	p := Page(r)
	golden.Check(t, []byte(textOf(p)+"\n"+lanes(p.Timelines[0])))
}

// TestPage_Accepted holds that hosts were installed in spite of what a check found, and why.
func TestPage_Accepted(t *testing.T) {
	r := example()
	r.Entries = append(r.Entries, ledger.Entry{Time: after(50), Kind: ledger.Accepted, Cause: "the site's router", Evidence: "ra-foreign: router advertisements: fe80::1: stop them"})
	p := Page(r)
	if text := textOf(p); !strings.Contains(text, "a person accepts ra-foreign: the site's router; ra-foreign: router") || !strings.Contains(lanes(p.Timelines[0]), "mark 50s ra-foreign accepted\n") {
		t.Errorf("%s\n%s", text, lanes(p.Timelines[0]))
	}
}

// TestPage_Foreign holds that another server shows in the picture from when it was seen first.
func TestPage_Foreign(t *testing.T) {
	r := example()
	r.Entries = append(r.Entries, ledger.Entry{Time: after(150), Kind: ledger.Foreign, Cause: "172.22.0.200 (52:54:00:00:00:99) by dhcp"})
	p := Page(r)
	if text := textOf(p); !strings.Contains(text, "10:02:30Z journal: another server configures hosts of this network: 172.22.0.200") || !strings.Contains(lanes(p.Timelines[0]), "mark 2m30s foreign server\n") {
		t.Errorf("%s\n%s", text, lanes(p.Timelines[0]))
	}
}

// TestPage_Allowed holds that a disk that is written anew was allowed to be, and when.
func TestPage_Allowed(t *testing.T) {
	r := example()
	r.Entries = append(r.Entries, ledger.Entry{Time: after(970), Kind: ledger.Allowed, Host: "master-2", Cause: "no boot device", Evidence: "a person"})
	p := Page(r)
	i := slices.IndexFunc(p.Rows, func(r timeline.TableRow) bool { return r.Cells[3] == "a person allows its disk to be written anew" })
	if i < 0 || !p.Rows[i].Alarm || p.Rows[i].Cells[1] != "master-2" || p.Rows[i].Cells[4] != "no boot device; a person" {
		t.Errorf("row %d in\n%s", i, textOf(p))
	}
	if l := lanes(p.Timelines[0]); !strings.Contains(l, "mark 16m10s master-2 allowed anew\n") {
		t.Error(l)
	}
}

// TestPage_Shortened holds that a host that joined before the journal was shortened has joined.
func TestPage_Shortened(t *testing.T) {
	short := ledger.Shorten(example().Entries)
	p := Page(Record{Entries: short[len(short)-1:]})
	if !strings.HasPrefix(p.Note, "1 of 2 hosts joined the cluster") {
		t.Error(p.Note)
	}
}

// TestPage_Many holds that a network with many other machines does not hide the hosts.
func TestPage_Many(t *testing.T) {
	r := example()
	for i := range byte(50) {
		r.Events = append(r.Events, events.Event{Time: after(100), MAC: card(100 + i), Source: events.DHCP, Kind: "discover", Detail: "ignored"})
	}
	p := Page(r)
	if n := len(p.Timelines[0].Lanes); n != 1+3+mostUnknown || !strings.Contains(p.Note, "none of a host of the plan: 51;") {
		t.Errorf("%d lanes: %s", n, p.Note)
	}
}

// TestTake holds that lines tell what they are, in any order and twice, and that a broken one costs no
// other.
func TestTake(t *testing.T) {
	want := example()
	var file []byte
	for i, e := range want.Events {
		file = append(file, events.Encode(e)...)
		if i < len(want.Entries) {
			file = append(file, ledger.Encode(want.Entries[i])...)
		}
	}
	others := "{\"at\":\"2026-01-02T03:04:00Z\",\"instance\":\"one_API_0\",\"state\":\"BACKUP\",\"kind\":\"x\"}\nno line of ours\n"
	var got Record
	rest, broken := got.Take(append([]byte(others), file...))
	if string(rest) != others || broken != 0 {
		t.Errorf("rest %q, %d broken", rest, broken)
	}
	rest, broken = got.Take([]byte("{\"kind\":\"levitated\"}\n{\"source\":\"telnet\",\"kind\":\"x\"}\n" + string(file) + string(file[:len(file)-9])))
	if broken != 3 || len(rest) != 0 {
		t.Errorf("%d broken, rest %q", broken, rest)
	}
	// What is cut off belongs to what stands before it.
	cut, vip := string(file[:len(file)-9]), others[:strings.Index(others, "\n")+1]
	for text, want := range map[string]struct {
		rest   string
		broken int
	}{
		"": {}, cut + "\n" + string(file): {"", 1}, string(file) + "\n" + cut: {"\n", 1}, vip + vip[:40]: {vip + vip[:40], 0},
		cut + "\n==> m <==\n" + vip[:40]: {"==> m <==\n" + vip[:40], 1}, string(file) + vip + vip[:40]: {vip + vip[:40], 0},
	} {
		rest, broken := (&Record{}).Take([]byte(text))
		if string(rest) != want.rest || broken != want.broken {
			t.Errorf("%q: rest %q, %d broken, want %+v", text[max(0, len(text)-99):], rest, broken, want)
		}
	}
	if a, b := textOf(Page(got)), textOf(Page(want)); a != b {
		t.Errorf("read\n%s\nwant\n%s", a, b)
	}
}

// FuzzPage holds that nothing in the files moves a cursor or breaks the picture.
func FuzzPage(f *testing.F) {
	var file []byte
	for _, e := range example().Events {
		file = append(file, events.Encode(e)...)
	}
	for _, e := range example().Entries {
		file = append(file, ledger.Encode(e)...)
	}
	f.Add(append(file, served...))
	f.Add([]byte(`{"time":"2026-11-20T10:00:00Z","source":"dhcp","kind":"discover","detail":"\u001b[2J","host":"\u001b"}`))
	f.Add([]byte(kubectl))
	f.Fuzz(func(t *testing.T, file []byte) {
		var r Record
		if _, ours := r.TakeObjects(file); !ours {
			r.Take(file)
		}
		if r.Empty() {
			return
		}
		p := Page(r)
		if s := textOf(p); strings.ContainsAny(s, "\x1b\r") {
			t.Errorf("%q", s)
		}
		if err := p.Write(io.Discard); err != nil {
			t.Error(err)
		}
	})
}

// served is a log of OpenShift's machine config server, as 'crictl logs' and kubelet's files have it.
const served = `I1120 09:39:27.135474       1 bootstrap.go:37] Version: v4.14.0-202311021650.p0.g9b1e0d2.assembly.stream-dirty
I1120 09:39:27.135786       1 api.go:72] Launching server on :22624
I1120 10:15:42.536108       1 api.go:117] Pool master requested by address:"192.0.2.20:40148" User-Agent:"Ignition/2.14.0" Accept-Header: "application/vnd.coreos.ignition+json;version=3.3.0, */*;q=0.1"
2026-11-20T10:15:43.000000000+00:00 stderr F I1120 10:15:43.000001       1 api.go:117] Pool master requested by address:"[2001:db8::21]:40148" User-Agent:"Ignition/2.14.0" Accept-Header: ""
I1120 10:15:44.536230       1 api.go:117] Pool master requested by address:"192.0.2.9:1" User-Agent:"curl/7.76.1" Accept-Header: "*/*"
I1120 10:15:45.543396       1 api.go:117] Pool master requested by address:"none" User-Agent:"Ignition/2.14.0"
E1120 10:15:46.543396       1 api.go:183] couldn't convert config
`

// TestFetches holds that a request of Ignition belongs to the host whose Node has its address, and is
// not lost if none has it; and that nothing else of that log is read.
func TestFetches(t *testing.T) {
	r := example()
	for i, e := range r.Entries {
		if e.Kind == ledger.Joined {
			r.Entries[i].Addresses = []netip.Addr{netip.MustParseAddr("192.0.2.20"), netip.MustParseAddr("2001:db8::20")}
		}
	}
	rest, broken := r.Take([]byte(served))
	if len(rest) > 0 || broken != 0 || len(r.Fetches) != 2 {
		t.Fatalf("rest %q, %d broken, %+v", rest, broken, r.Fetches)
	}
	text := textOf(Page(r))
	for _, want := range []string{"\n2026-11-20 10:15:42Z master-0 ignition: its Ignition fetched its document: 192.0.2.20\n",
		"\n2026-11-20 10:15:43Z 2001:db8::21 ignition: its Ignition fetched its document: the pool master\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if l := lanes(Page(r).Timelines[0]); !strings.Contains(l, "starts from its disk: its Ignition fetched its document") {
		t.Error(l)
	}
	// A host that comes a month later changes nothing but the table.
	want := Page(example())
	r = example()
	r.Take([]byte(strings.ReplaceAll(served, "I1120", "I1229")))
	p := Page(r)
	if text := textOf(p); p.Timelines[0].End != want.Timelines[0].End || p.Note != want.Note ||
		!strings.HasSuffix(text, "\n2026-12-29 10:15:43Z 2001:db8::21 ignition: its Ignition fetched its document: the pool master\n") || strings.Contains(text, "936 h") {
		t.Errorf("to %v, want %v:\n%s", p.Timelines[0].End, want.Timelines[0].End, text)
	}
	// One that has joined and asks again after the record's end has no span that ends before it begins.
	r = example()
	for i, e := range r.Entries {
		if e.Kind == ledger.Joined {
			r.Entries[i].Addresses = []netip.Addr{netip.MustParseAddr("192.0.2.20")}
		}
	}
	r.Take([]byte(strings.ReplaceAll(served, "I1120 10", "I1120 11")))
	for _, l := range Page(r).Timelines[0].Lanes {
		for _, row := range l.Rows {
			for _, s := range row.Spans {
				if s.To < s.From {
					t.Errorf("%s: %+v", l.Name, s)
				}
			}
		}
	}
	// Without a bootstrap machine the year is that of the cluster's hosts.
	r = Record{}
	r.TakeObjects([]byte(kubectl))
	r.Take([]byte(served))
	if text := textOf(Page(r)); !strings.Contains(text, "\n2026-11-20 10:15:42Z 192.0.2.20 ignition") || strings.Contains(text, "0 of 0 hosts") {
		t.Error(text)
	}
	// At the end of a year the log counts on in the next one.
	r = Record{Entries: []ledger.Entry{{Time: time.Date(2026, 12, 31, 23, 50, 0, 0, time.UTC), Kind: ledger.Started}}}
	r.Take([]byte(strings.ReplaceAll(served, "I1120", "I0101")))
	if text := textOf(Page(r)); !strings.Contains(text, "2027-01-01 10:15:42Z 192.0.2.20 ignition") {
		t.Error(text)
	}
}

// TestPage_Clock holds that lines of before the clock was set leave the picture readable, and that no
// time, as that of a line whose time could not be written, keeps the page from ending.
func TestPage_Clock(t *testing.T) {
	want := Page(example()).Timelines[0]
	for _, wrong := range []time.Time{{}, time.Unix(60, 0), begin.AddDate(0, -1, 0)} {
		r := example()
		r.Entries = append(r.Entries, ledger.Entry{Time: wrong, Kind: ledger.Started})
		r.Events = append(r.Events, events.Event{Time: wrong, Host: "master-0", Source: events.Ironic, Kind: "enroll"})
		p := Page(r)
		if got := p.Timelines[0]; got.Begin != want.Begin || got.End != want.End || len(p.Rows) < len(Page(example()).Rows)+2 {
			t.Errorf("%v: from %v to %v, want %v to %v; %d rows", wrong, got.Begin, got.End, want.Begin, want.End, len(p.Rows))
		}
		if err := p.Write(io.Discard); err != nil {
			t.Error(err)
		}
	}
}

// kubectl is what kubectl has saved of a cluster after the example: a host that has joined, one that
// goes no further, which the bootstrap machine had seen before, and one that waits.
const kubectl = `{"apiVersion":"v1","items":[
{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"worker-0"},"status":{"lastUpdated":"2026-11-20T10:50:00Z","provisioning":{"state":"provisioned"},"operationHistory":
 {"register":{"start":"2026-11-20T10:20:00Z","end":"2026-11-20T10:20:30Z"},"inspect":{"start":"2026-11-20T10:20:30Z","end":"2026-11-20T10:26:00Z"},"provision":{"start":"2026-11-20T10:27:00Z","end":"2026-11-20T10:39:00Z"}}}},
{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"worker-1"},"status":{"lastUpdated":"2026-11-20T10:50:00Z","errorType":"inspection error","errorMessage":"at https://admin:p4ss@192.0.2.9\u001b[2J","errorCount":1,"provisioning":{"state":"inspecting"},"operationHistory":
 {"register":{"start":"2026-11-20T10:20:02Z","end":"2026-11-20T10:20:30Z"},"inspect":{"start":"2026-11-20T10:20:30Z"}}}},
{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"worker-2","annotations":{"baremetalhost.metal3.io/paused":"until the handover"}}},
{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"master-0"},"spec":{"externallyProvisioned":true},"status":{"provisioning":{"state":"externally provisioned"}}},
{"apiVersion":"v1","kind":"Node","metadata":{"name":"worker-0","creationTimestamp":"2026-11-20T10:44:00Z"},"status":{"conditions":[{"type":"Ready","status":"True","lastTransitionTime":"2026-11-20T10:45:00Z"}]}},
{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"metal3","namespace":"openshift-machine-api"},"status":{"readyReplicas":1,"conditions":[{"type":"Available","status":"True","lastTransitionTime":"2026-11-20T10:19:00Z"}]}},
{"apiVersion":"metal3.io/v1alpha1","kind":"Provisioning","metadata":{"name":"provisioning-configuration","annotations":{"provisioning.metal3.io/paused":""}}},
{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"onprem-infra-provisioning-handover"},"data":{"phase":"release\u001b[2J","machine":"boot","waits":"x","since":"2026-11-20T10:19:30Z","at":"2026-11-20T10:20:30Z"}}
],"kind":"List"}`

// TestPage_Cluster holds that the cluster's hosts are in the same picture and table as those of the
// bootstrap machine, with the time from its end to the cluster's Ironic and its first hosts; that a
// host that both have seen has one lane; and that the objects alone are a page too.
func TestPage_Cluster(t *testing.T) {
	r := example()
	r.Entries = append(r.Entries, ledger.Entry{Time: after(700), Kind: ledger.Phase, Phase: progress.Announce}, ledger.Entry{Time: after(710), Kind: ledger.Phase, Phase: progress.Unpause},
		ledger.Entry{Time: after(760), Kind: ledger.Back, Cause: "no image"}, ledger.Entry{Time: after(770), Kind: ledger.Phase, Phase: progress.Address}, ledger.Entry{Time: after(800), Kind: ledger.Again, Cause: "it has one"},
		ledger.Entry{Time: after(900), Kind: ledger.Phase, Phase: progress.Takeover}, ledger.Entry{Time: after(1150), Kind: ledger.Released, Hosts: []string{"worker-0", "worker-1"}},
		ledger.Entry{Time: after(1200), Kind: ledger.Phase, Phase: progress.Ended})
	r.Events = append(r.Events, events.Event{Time: after(110), Host: "worker-1", MAC: card(7), Source: events.DHCP, Kind: "discover", Detail: "PXEClient:Arch:00007 ignored"})
	if unread, ours := r.TakeObjects([]byte(kubectl)); !ours || len(unread) > 0 {
		t.Fatalf("%v, %q", ours, unread)
	}
	p := Page(r)
	text := p.Title + "\n" + textOf(p) + "\n" + lanes(p.Timelines[0])
	var alone Record
	alone.TakeObjects([]byte(kubectl))
	only := Page(alone)
	golden.Check(t, []byte(text+"--- alone\n"+only.Title+"\n"+textOf(only)+"\n"+lanes(only.Timelines[0])))
	if strings.Count(text, "\nworker-1\n") != 1 || strings.ContainsAny(text, "\x1b") || strings.Contains(text, "p4ss") {
		t.Error(text)
	}
	var waiting Record
	waiting.TakeObjects([]byte(`{"apiVersion":"metal3.io/v1alpha1","kind":"BareMetalHost","metadata":{"name":"w","annotations":{"baremetalhost.metal3.io/paused":"until the handover"}}}`))
	if p := Page(waiting); waiting.Empty() || p.Title != "Installation of hosts" || !strings.HasPrefix(p.Note, "0 of 1 hosts that the cluster provisions joined. Hosts that wait for the handover: 1.") || p.Write(io.Discard) != nil {
		t.Errorf("%+v", p)
	}
	var none Record
	if none.TakeObjects([]byte(`{"apiVersion":"v1","kind":"Node","metadata":{"name":"n"}}`)); !none.Empty() {
		t.Errorf("%+v", none)
	}
}

// TestHosts_Unnamed holds that nothing is claimed of a host which may be a client of an unknown address, for
// its boots that led nowhere and for its last one.
func TestHosts_Unnamed(t *testing.T) {
	at := func(minute int, host string, source events.Source, kind string) events.Event {
		return events.Event{Time: begin.Add(time.Duration(minute) * time.Minute), Host: host, Source: source, Kind: kind}
	}
	boots := []events.Event{at(0, "m0", events.Provision, events.BootInspect), at(10, "m0", events.Provision, events.BootInspect)}
	for minute, want := range map[int][2]string{-1: {"it was switched on", "it was switched on"}, 5: {"it was not seen", "it was switched on"}, 12: {"it was switched on", "it was not seen"}} {
		r := Record{Events: append([]events.Event{}, boots...)}
		if minute >= 0 {
			r.Events = append(r.Events, at(minute, "", events.HTTP, "kernel"))
		}
		hosts, _ := r.hosts(begin.Add(20 * time.Minute))
		if len(hosts) != 1 || len(hosts[0].gaps) != 1 || !strings.HasPrefix(hosts[0].gaps[0].Why, want[0]) || !strings.HasPrefix(hosts[0].last.Why, want[1]) {
			t.Errorf("a kernel in minute %d: %+v", minute, hosts)
		}
	}
}
