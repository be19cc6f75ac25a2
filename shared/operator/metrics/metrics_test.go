package metrics

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/golden"
)

var (
	vip  = netip.MustParseAddr("192.0.2.5")
	a, b = netip.MustParseAddr("192.0.2.11"), netip.MustParseAddr("192.0.2.12")
	at   = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
)

func after(d time.Duration) time.Time { return at.Add(d) }

// full is a page with a sample of every family.
func full() *Page {
	var received Adverts
	received.Receive(a, 100*time.Millisecond, false, at)
	received.Receive(a, 100*time.Millisecond, false, after(130*time.Millisecond))
	received.Receive(b, 100*time.Millisecond, false, after(430*time.Millisecond))
	p := &Page{}
	Program{
		Room: "cluster/vip", Version: "v1.2.3", Go: "go1.26.0", Cluster: "one", Timing: "lan", Mode: "unicast", Rounds: 7, Age: 1500 * time.Millisecond,
		Faults: map[string]uint64{StepApply: 2}, Watches: []Watch{{"nodes", true, 3 * time.Second}, {"bootstrap", false, -1}},
		Process: Process{CPU: 1250 * time.Millisecond, Resident: 25 << 20, Started: at}, Goroutines: 42,
	}.Onto(p)
	Elections{
		At: after(time.Second), Gate: "open", Proof: &Proof{Late: true, FellBack: true}, Named: true, Controls: 3, Others: 2, Received: true,
		VIPs: []VIP{{
			Address: vip, Kind: vrrp.API, State: supervised.Backup, Priority: 120, Parts: []Part{{"base", 100}, {"lb", 20}},
			Transitions: map[supervised.State]uint64{supervised.Backup: 1}, Adverts: received, Clashes: map[clash.Kind]int{clash.Foreign: 1},
		}, {Address: netip.MustParseAddr("2001:db8::5"), Kind: vrrp.Ingress, Present: true}},
		Checks: []CheckState{{Name: vrrp.CheckLB, Passes: true, Changes: 3}},
		Daemon: &Daemon{Running: true, Restarts: 1, Reloads: 2, Refused: true},
	}.Onto(p)
	Balancer{Running: true, Redirect: true, Lost: 2, Reloads: 1, Servers: []Server{{"m0", "192.0.2.11:6443", true, 12}, {"m1", "192.0.2.12:6443", false, 0}},
		IronicRedirect: new(true), Ironic: []IronicServer{{"ironic", Server{"s0", "192.0.2.11:6388", true, 3}}, {"virtual-media", Server{"s0", "192.0.2.11:6183", false, 0}}}}.Onto(p)
	Names{Running: true, Source: FromMemory, Nodes: 5, Upstreams: 2, Reloads: 4, Stale: 2 * time.Second}.Onto(p)
	Files{Serving: true, Requests: []Requests{{"kernel", 3}, {"image", 0}}, Sent: 62914560, Connections: 2, Items: []Fetched{{"osImage", true, 300_000_000}, {"ironicAgentImage", false, 0}}}.Onto(p)
	Announcement{"established": 1, "lost": 0}.Onto(p)
	BootstrapAddress{Held: true, Taken: 2, Restored: 3}.Onto(p)
	Provisioning{Phase: "deploy", Phases: []string{"deploy", "ended"}, Age: time.Minute, DHCP: true, Steps: []string{"inspecting", "joined"}, Blockers: 1, Foreign: 2,
		Hosts: []InstalledHost{{"master-0", "joined", 1, -1}, {"master-1", "inspecting", 3, 90 * time.Second}}}.Onto(p)
	p.Add(ClientsKnown, 50, vip.String())
	p.Add(ClientsEnded, 7, vip.String())
	p.Add(ProvisionSeconds, 3, "preflight")
	p.Add(ProvisionFailures, 4)
	Speaker{Troubles: []string{"no session"}, BFDTaken: "UDP port 3784 by bfdd (process 12)", Daemons: []spoken.Daemon{{Name: "zebra", Running: true, Starts: 1}, {Name: "bgpd", Running: true, Starts: 3}},
		Sessions: []spoken.Session{{Peer: "192.0.2.1", State: "Established", Since: at, BFD: "Up", Advertised: []netip.Addr{vip}}, {Peer: "enp1s0", State: "Active", BFD: "Down", Flaps: 2}, {Peer: "192.0.2.3", State: "Established", Since: at}},
		VIPs:     []spoken.VIP{{VIP: vip, Grade: 4, Phase: speak.Announced, Others: []spoken.Other{{Session: "192.0.2.1", Announcer: a}, {Session: "192.0.2.3"}}}, {VIP: b}}}.Onto(p)
	p.Add(BGPClients, 7, vip.String())
	p.Flag(IronicRunning, true)
	p.Add(IronicDrivers, 2)
	DHCPServer{Serving: true, Hosts: 3}.Onto(p)
	DHCPSeen{Answers: map[string]uint64{"offer": 4, "nak": 0}, Ignored: 5, Foreign: map[string]uint64{"dhcp": 2, "dhcpv6": 0}}.Onto(p)
	return p
}

func TestText(t *testing.T) {
	golden.Check(t, full().Text())
}

// TestAll holds that every family is in the list, and that programs report each.
func TestAll(t *testing.T) {
	reported := map[string]bool{}
	for line := range strings.Lines(string(full().Text())) {
		if name, ok := strings.CutPrefix(line, "# TYPE "); ok {
			reported[strings.Fields(name)[0]] = true
		}
	}
	listed := map[string]bool{}
	for _, f := range All() {
		if listed[f.Name] {
			t.Errorf("%s is listed twice", f.Name)
		}
		if listed[f.Name] = true; !reported[f.Name] {
			t.Errorf("nothing is reported of %s", f.Name)
		}
	}
	for name := range reported {
		if !listed[name] {
			t.Errorf("%s is not listed", name)
		}
	}
}

// TestConventions holds Prometheus's naming: base units, counters end in _total, and only they.
func TestConventions(t *testing.T) {
	name := regexp.MustCompile(`^(onprem|process|go)(_[a-z]+)+$`)
	for _, f := range All() {
		if !name.MatchString(f.Name) {
			t.Errorf("%s: a name is words in lower case, the program's first", f.Name)
		}
		if strings.HasSuffix(f.Name, "_total") != (f.Type == Counter) {
			t.Errorf("%s is a %s", f.Name, f.Type)
		}
		for _, unit := range []string{"_ms", "_milliseconds", "_minutes", "_percent", "_count", "_kb"} {
			if strings.Contains(f.Name+"_", unit+"_") {
				t.Errorf("%s: units are seconds and bytes", f.Name)
			}
		}
		if !strings.HasSuffix(f.Help, ".") {
			t.Errorf("%s: its help is no sentence", f.Name)
		}
		for _, taken := range []string{"instance", "job", "namespace", "pod", "node", "cluster"} {
			if slices.Contains(f.Labels, taken) && f.Name != Cluster.Name {
				t.Errorf("%s: Prometheus gives label %s to every sample itself", f.Name, taken)
			}
		}
	}
}

// TestBounded holds that no label holds what an unknown router sends.
func TestBounded(t *testing.T) {
	lines := func(hosts int) int {
		var received Adverts
		findings := map[clash.Kind]int{}
		for i := range hosts {
			from := netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)})
			received.Receive(from, time.Second, false, after(time.Duration(i)*time.Second))
			findings[clash.Foreign]++
			findings[clash.Kind(from.String())]++
		}
		p := &Page{}
		Elections{At: after(time.Hour), Received: true, VIPs: []VIP{{Address: vip, Kind: vrrp.API, Adverts: received, Clashes: findings}}}.Onto(p)
		return strings.Count(string(p.Text()), "\n")
	}
	if few, many := lines(2), lines(5000); few != many {
		t.Errorf("%d lines after 2 hosts, %d after 5000", few, many)
	}
}

func TestEscaped(t *testing.T) {
	var p Page
	f := Family{"x", Gauge, "back\\slash\nand line", []string{"l"}}
	p.Add(f, 1, "a\"b\\c\nd\xff")
	want := "# HELP x back\\\\slash\\nand line\n# TYPE x gauge\nx{l=\"a\\\"b\\\\c\\nd\uFFFD\"} 1\n"
	if got := string(p.Text()); got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestAdverts(t *testing.T) {
	const second = time.Second
	receive := func(from netip.Addr, ms int) func(*Adverts) {
		return func(o *Adverts) { o.Receive(from, second, false, after(time.Duration(ms)*time.Millisecond)) }
	}
	bye := func(from netip.Addr, ms int) func(*Adverts) {
		return func(o *Adverts) { o.Receive(from, second, true, after(time.Duration(ms)*time.Millisecond)) }
	}
	self := func(holds bool, ms int) func(*Adverts) {
		return func(o *Adverts) { o.Self(holds, after(time.Duration(ms)*time.Millisecond)) }
	}
	for _, tt := range []struct {
		name  string
		do    []func(*Adverts)
		gaps  uint64
		total time.Duration
		last  time.Duration
		late  time.Duration
	}{
		{"nothing", nil, 0, 0, 0, 0},
		{"one holder in time", []func(*Adverts){receive(a, 0), receive(a, 1000), receive(a, 2000)}, 0, 0, 0, 0},
		{"one holder late", []func(*Adverts){receive(a, 0), receive(a, 1300), receive(a, 2300)}, 0, 0, 0, 300 * time.Millisecond},
		{"it timed out, another took over", []func(*Adverts){receive(a, 0), receive(a, 1000), receive(b, 4600), receive(b, 5600)}, 1, 3600 * time.Millisecond, 3600 * time.Millisecond, 0},
		{"it released the VIP", []func(*Adverts){receive(a, 0), bye(a, 500), receive(b, 550), receive(b, 1550)}, 1, 50 * time.Millisecond, 50 * time.Millisecond, 0},
		{"this host took it", []func(*Adverts){receive(a, 0), self(false, 10), self(true, 3700), self(true, 4700)}, 1, 3700 * time.Millisecond, 3700 * time.Millisecond, 0},
		{"this host lost it", []func(*Adverts){self(true, 0), self(true, 9000), self(false, 9500), receive(a, 9600), receive(a, 10600)}, 1, 100 * time.Millisecond, 100 * time.Millisecond, 0},
		{"this host and back", []func(*Adverts){receive(a, 0), self(true, 3000), self(false, 8000), receive(a, 8100), receive(a, 9100)}, 2, 3100 * time.Millisecond, 100 * time.Millisecond, 0},
		{"it released the VIP and took it again", []func(*Adverts){receive(a, 0), bye(a, 500), receive(a, 4500), receive(a, 5500)}, 1, 4 * second, 4 * second, 0},
		{"this host gave it up and took it again", []func(*Adverts){self(true, 0), self(false, 500), self(true, 4500), self(true, 5500)}, 1, 4 * second, 4 * second, 0},
		{"two others hold it", []func(*Adverts){receive(a, 0), receive(b, 500), receive(a, 1000), receive(b, 1500), receive(a, 2000)}, 0, 0, 0, 0},
		{"a better one took it", []func(*Adverts){receive(a, 0), receive(b, 500), receive(b, 1500)}, 0, 0, 0, 0},
		{"a better one took it from this host", []func(*Adverts){self(true, 0), receive(b, 500), self(false, 510), receive(b, 1500), receive(b, 2700)}, 0, 0, 0, 200 * time.Millisecond},
		{"a better one took it from this host and was lost", []func(*Adverts){self(true, 0), receive(b, 500), self(false, 510), receive(a, 4100)}, 1, 3600 * time.Millisecond, 3600 * time.Millisecond, 0},
		{"this host gave it up long after another one's advert", []func(*Adverts){self(true, 0), receive(b, 500), self(false, 3000), receive(b, 3100)}, 1, 100 * time.Millisecond, 100 * time.Millisecond, 0},
		{"this host gave it up after another one had", []func(*Adverts){self(true, 0), receive(b, 500), bye(b, 600), self(false, 700), receive(b, 900)}, 1, 200 * time.Millisecond, 200 * time.Millisecond, 0},
		{"this host took it and gave it up at once", []func(*Adverts){self(true, 0), receive(b, 100), self(false, 200), self(true, 300), self(false, 400), receive(b, 600)}, 1, 200 * time.Millisecond, 200 * time.Millisecond, 0},
		{"two holders", []func(*Adverts){self(true, 0), receive(a, 500), receive(a, 1500), receive(a, 2500)}, 0, 0, 0, 0},
		{"a release by another host", []func(*Adverts){receive(a, 0), bye(b, 100), receive(a, 1000)}, 0, 0, 0, 0},
		{"it was away and is back", []func(*Adverts){receive(a, 0), receive(a, 9000)}, 0, 0, 0, 8 * second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var o Adverts
			for _, do := range tt.do {
				do(&o)
			}
			if late := max(o.late[0], o.late[1]); o.gaps != tt.gaps || o.all != tt.total || o.gap != tt.last || late != tt.late {
				t.Errorf("%d gaps of %v, the last %v, %v late; want %d of %v, %v, %v late", o.gaps, o.all, o.gap, late, tt.gaps, tt.total, tt.last, tt.late)
			}
		})
	}
}

// TestAdvertsForget holds that a delay of long ago is no longer reported, and one of a moment ago
// still is.
func TestAdvertsForget(t *testing.T) {
	jitter := func(wait time.Duration) string {
		var o Adverts
		o.Receive(a, time.Second, false, at)
		o.Receive(a, time.Second, false, after(3*time.Second))
		var p Page
		o.onto(&p, after(3*time.Second+wait), []string{"v", "k"})
		for line := range strings.Lines(string(p.Text())) {
			if rest, ok := strings.CutPrefix(line, AdvertJitter.Name+`{vip="v",kind="k"} `); ok {
				return strings.TrimSpace(rest)
			}
		}
		return "absent"
	}
	for wait, want := range map[time.Duration]string{0: "2", 59 * time.Second: "2", 2 * time.Minute: "0"} {
		if got := jitter(wait); got != want {
			t.Errorf("%v later: %s, want %s", wait, got, want)
		}
	}
}

// TestHolderReportsNoAdvertAge holds that a holder reports no age of other adverts: it expects none.
func TestHolderReportsNoAdvertAge(t *testing.T) {
	var o Adverts
	o.Receive(a, time.Second, false, at)
	o.Self(true, after(4*time.Second))
	var p Page
	o.onto(&p, after(time.Minute), []string{"v", "k"})
	if text := string(p.Text()); strings.Contains(text, AdvertAge.Name) {
		t.Errorf("a holder reports:\n%s", text)
	}
	o.Self(false, after(2*time.Minute))
	p = Page{}
	if o.onto(&p, after(3*time.Minute), []string{"v", "k"}); !strings.Contains(string(p.Text()), AdvertAge.Name) {
		t.Error("a former holder does not report how long no advert has been received")
	}
}
