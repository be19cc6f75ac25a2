package cause

import (
	"cmp"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/events"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

var start = time.Date(2026, 11, 20, 10, 30, 0, 0, time.UTC)

// story are events ten seconds apart, each "SOURCE KIND DETAIL"; a word that begins with + is a
// pause in seconds before the next one.
func story(t testing.TB, lines string) (all []events.Event, end time.Time) {
	t.Helper()
	end = start
	for line := range strings.Lines(lines) {
		line = strings.TrimSpace(line)
		if pause, err := time.ParseDuration(strings.TrimPrefix(line, "+")); err == nil {
			end = end.Add(pause)
			continue
		}
		source, rest, _ := strings.Cut(line, "/")
		kind, detail, _ := strings.Cut(rest, ": ")
		if line == "" {
			continue
		}
		end = end.Add(10 * time.Second)
		all = append(all, events.Event{Time: end, Host: "master-0", Source: events.Source(source), Kind: kind, Detail: detail})
	}
	return all, end
}

// TestCause_String holds that a cause reads well without a remedy, too.
func TestCause_String(t *testing.T) {
	for want, c := range map[string]Cause{"": {Do: "see"}, "lost": {Why: "lost"}, "lost: see": {Why: "lost", Do: "see"}} {
		if got := c.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

const (
	firmware = "dhcp/discover\ndhcp/offer\ndhcp/program: snponly.efi\n"
	program  = firmware + "tftp/tftp-sent: snponly.efi\n"
	scripted = program + "dhcp/discover\ndhcp/program: http://172.22.0.2:6180/boot.ipxe\nhttp/script: boot.ipxe\n"
	kernel   = scripted + "http/kernel: images/agent.kernel\n"
	files    = kernel + "http/ramdisk: images/agent.initramfs\n"
	network  = files + "dhcp/discover\ndhcp/ack\n"
	back     = network + "ironic/call-back\n"
	deployed = back + "http/image: images/os.raw\nironic/active\n"
)

// stories are what may be seen of a host.
var stories = []struct{ name, lines string }{
	{"nothing", ""},
	{"just switched on", "provision/boot to be inspected\n+1m"},
	{"switched on and nothing arrives", "provision/boot to be inspected\n+6m"},
	{"asks and no answer", "dhcp/discover\n+40s"},
	{"asks and is not to boot now", "dhcp/discover: PXEClient:Arch:00007 ignored"},
	{"has an address and no program", "dhcp/discover\ndhcp/offer\ndhcp/ack\n+2m"},
	{"has another architecture", "dhcp/discover\ndhcp/no-program: PXEClient:Arch:00006\ndhcp/offer"},
	{"is offered a program just now", firmware},
	{"is offered a program and fetches none", firmware + "+1m"},
	{"breaks the transfer off", firmware + "tftp/tftp-failed: snponly.efi"},
	{"asks for a file of another server", firmware + "tftp/tftp-missing: grubx64.efi"},
	{"has the program and no script", program + "+2m"},
	{"has its script and no kernel", scripted + "+2m"},
	{"the kernel is missing", scripted + "http/refused: images/agent.kernel 404"},
	{"a transfer by HTTP breaks off", scripted + "http/broken: images/agent.initramfs 200"},
	{"has the kernel and no initramfs", kernel + "+2m"},
	{"has the ramdisk and no network", files + "+6m"},
	{"has the ramdisk, by another DHCP server", "provision/boot to be inspected\nhttp/script: hosts/x.ipxe\nhttp/kernel: images/agent.kernel\nhttp/ramdisk: images/agent.initramfs\n+6m"},
	{"boots again by another DHCP server", network + "+10m\nprovision/boot to be inspected\nhttp/script: hosts/x.ipxe\nhttp/ramdisk: images/agent.initramfs\n+6m"},
	{"its ramdisk does not call back", network + "+6m"},
	{"its ramdisk starts", network + "+1m"},
	{"called back", back + "+9m"},
	{"Ironic gave up", back + "ironic/deploy failed: no disk \"sda\"\x1b[2J"},
	{"no call-back, and Ironic gave up", files + "+29m\nironic/inspect failed: timeout"},
	{"is not switched on", "provision/boot to be inspected\nironic/inspect failed: the BMC does not answer"},
	{"boots anew after Ironic gave up", files + "+29m\nironic/inspect failed: timeout\nprovision/boot to be inspected"},
	{"is deployed anew after Ironic gave up", back + "ironic/deploy failed: no space\nprovision/boot to be deployed"},
	{"deployed", deployed + "+1m"},
	{"deployed and has not joined", deployed + "+16m"},
	{"deployed and boots from the network", deployed + program},
	{"its system runs", deployed + "dhcp/discover: 172.22.0.11 MSFT 5.0\n+1m"},
	{"its system runs and has not joined", deployed + "dhcp/request: 172.22.0.11\n+16m"},
	{"its Ignition got its document", deployed + "ignition/master: 192.0.2.21\n+16m"},
	{"deployed, and its firmware asks", deployed + "dhcp/discover: PXEClient:Arch:00007:UNDI:003016\ndhcp/solicit: 343\ndhcp/discover: 172.22.0.11 PXEClient iPXE\n+1m"},
	{"joined", deployed + "node/joined: master-0"},
	{"boots anew after a ramdisk that did not call back", network + "+10m\n" + program},
	{"inspected, and boots to be deployed", network + "ironic/manageable\nprovision/boot to be inspected\n" + program},
	{"boots virtual media", "provision/boot to be inspected\nhttp/media: redfish/boot-1.iso\n+6m"},
	{"a source without meaning", "http/head: images/os.raw\nhttp/file: images/os.raw.sha256\ntftp/tftp-sent: 172.22.0.11 autoexec.ipxe\nironic/inspect wait\ndhcp/decline\ntelnet/opened\n"},
}

// TestOf holds what an operator reads of each course of events.
func TestOf(t *testing.T) {
	var out strings.Builder
	for _, s := range stories {
		all, end := story(t, s.lines)
		c := Of(all, end)
		fmt.Fprintf(&out, "%s\n  stage: %s, boot %d\n  seen: %s\n  cause: %s\n", s.name, c.Stage, c.Boot, c.Seen, c.String())
		for _, g := range Gaps(all) {
			fmt.Fprintf(&out, "  boot %d until %s: %s: %s\n", g.Boot, g.Until.Format(time.TimeOnly), g.Seen, g.Why)
		}
	}
	golden.Check(t, []byte(out.String()))
}

// TestCause_Among holds that nothing is claimed of a host which may be one of the clients that nobody knows,
// and that they change nothing for a host which was seen, or is in time, or was switched on after them.
func TestCause_Among(t *testing.T) {
	at := func(minute int, source events.Source, kind string) events.Event {
		return events.Event{Time: start.Add(time.Duration(minute) * time.Minute), Source: source, Kind: kind, Detail: "203.0.113.9\x1b"}
	}
	other := at(3, events.HTTP, "kernel")
	other.Host = "master-1"
	card := at(3, events.TFTP, "tftp-sent")
	card.MAC = mac.MAC{2, 0, 0, 0, 0, 1}
	never := at(3, events.DHCP, "discover")
	seen, on := at(2, events.HTTP, "kernel"), at(1, events.Provision, events.BootInspect)
	for name, tt := range map[string]struct {
		of, all []events.Event
		minutes int
		want    string
	}{
		"nothing at all":            {nil, nil, 9, "nothing of it has arrived"},
		"only of others":            {nil, []events.Event{other, card, never}, 9, "nothing of it has arrived"},
		"an unknown client":         {nil, []events.Event{at(3, events.HTTP, "kernel"), at(4, events.HTTP, "image"), at(2, events.HTTP, "script")}, 9, `it was not seen, and may be a client of an unknown address, as it has none of this machine's DHCP (the last of them, at 10:34:00: image "203.0.113.9\x1b"): see its screen`},
		"an unknown client of TFTP": {[]events.Event{on}, []events.Event{at(3, events.TFTP, "tftp-sent")}, 9, "it was not seen"},
		"it was before":             {[]events.Event{on}, []events.Event{at(0, events.HTTP, "kernel")}, 9, "it was switched on and nothing of it has arrived"},
		"it was just switched on":   {[]events.Event{on}, []events.Event{at(3, events.HTTP, "kernel")}, 4, ""},
		"the host itself was seen":  {[]events.Event{on, seen}, []events.Event{at(3, events.HTTP, "kernel")}, 9, "it has the kernel and not the initramfs"},
	} {
		got := Of(tt.of, start.Add(time.Duration(tt.minutes)*time.Minute)).Among(append(tt.all, tt.of...))
		if !strings.HasPrefix(got.String(), tt.want) || tt.want == "" && got.String() != "" {
			t.Errorf("%s: %q, want %q", name, got.String(), tt.want)
		}
	}
}

// TestOf_AnyOrder holds that files of several programs need not be merged before.
func TestOf_AnyOrder(t *testing.T) {
	all, end := story(t, network+"+6m")
	want := Of(all, end)
	for i := range all {
		other := append(append([]events.Event{}, all[i:]...), all[:i]...)
		if got := Of(other, end); got != want {
			t.Errorf("from event %d on: %+v, want %+v", i, got, want)
		}
	}
	if got := Of(all, start.Add(-time.Hour)); got.Why != "" {
		t.Errorf("with a clock that was set back: %+v", got)
	}
}

// TestFaults holds that every stage at which a host can stay has a cause, and that it ends with what
// to do.
func TestFaults(t *testing.T) {
	for _, s := range order {
		f, ok := faults[s]
		switch s {
		case CalledBack, Image, Failed, Joined: // Ironic's timeouts and errors decide
			if ok {
				t.Errorf("%s has two causes", s)
			}
			continue
		}
		if !ok || f.why == "" || f.do == "" {
			t.Errorf("%s has no cause", s)
		}
	}
}

func FuzzOf(f *testing.F) {
	for _, s := range stories {
		f.Add(s.lines)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		all, end := story(t, lines)
		c := Of(all, end)
		if (c.Why == "") != (c.Do == "") {
			t.Fatalf("%+v has half a cause", c)
		}
		if text := c.String() + c.Seen; strings.ContainsAny(text, "\x1b\n\r") {
			t.Fatalf("%q has control characters", text)
		}
		if n := len(Gaps(all)); n > len(all) {
			t.Fatalf("%d boots of %d events", n, len(all))
		}
	})
}

// TestFaults_Documented holds that the operator's page explains each course of events that stands
// still.
func TestFaults_Documented(t *testing.T) {
	text, err := os.ReadFile("../../../bootstrap/README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, found := strings.Cut(string(text), "| Last seen |")
	explained := map[string]bool{}
	for line := range strings.Lines(table) {
		if strings.TrimSpace(line) == "" {
			break
		}
		for _, seen := range strings.Split(strings.Split(line, "|")[1], ";") {
			explained[strings.TrimSpace(seen)] = true
		}
	}
	for _, s := range stories {
		all, end := story(t, s.lines)
		c := Of(all, end)
		if c.Stage == Failed || c.Why == "" {
			continue
		}
		if seen := cmp.Or(c.Seen, "nothing"); !found || !explained[seen] {
			t.Errorf("%s: bootstrap/README.md does not explain %q", s.name, seen)
		}
	}
}
