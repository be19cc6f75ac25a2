//go:build remote

package main

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

var statusBegin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// statusPlan is of a cluster whose VIPs are 192.0.2.5 and 192.0.2.6.
func statusPlan(t *testing.T, timing string) plan.Plan {
	t.Helper()
	p, err := plan.Compile(spec.Cluster{Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: timing,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// holderOf is a node's disk on which the API's VIP is held, all checks pass but mcs, and the
// ingress VIP is not.
func holderOf(t *testing.T, p plan.Plan) map[string]string {
	t.Helper()
	ladder := p.VRRP.ControlPlane.Candidates()
	priority := int(ladder.Base) + ladder.Rank(1) + ladder.Holder
	files := map[string]string{vip.MemoryPath: `{"open":true,"rank":"1"}`, vip.AgreedDir + "/ipv4": "192.0.2.11"}
	for _, w := range p.VRRP.ControlPlane.Checks {
		files[election.TrackFile(w.Check, w.Fault)] = passing
		if w.Check == vrrp.CheckMCS {
			files[election.TrackFile(w.Check, w.Fault)] = failing
			continue
		}
		priority += w.Adds
	}
	files[election.RunDir+"/"+supervised.HolderTrack("ostest_API_0")] = "1\n"
	files[election.RunDir+"/"+supervised.StatusFile] = string(supervised.Encode(supervised.Status{PID: 9, Restarts: 2, Instances: map[string]supervised.Instance{
		"ostest_API_0": {State: supervised.Master, Priority: priority}, "ostest_INGRESS_0": {State: supervised.Backup, Priority: 77}}}))
	var j journal.Journal
	j.Note(journal.Look{At: statusBegin, Status: supervised.Status{Instances: map[string]supervised.Instance{
		"ostest_API_0": {State: supervised.Backup}, "ostest_INGRESS_0": {State: supervised.Master}}}})
	j.Note(journal.Look{At: statusBegin.Add(time.Minute), Status: supervised.Status{Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Master}}}})
	files[journal.Path] = string(j.Encode())
	return files
}

// statusOf is a look at a FAKE network: 192.0.2.12 announces the ingress VIP and answers for it.
func statusOf(t *testing.T, p plan.Plan, files map[string]string) *statusLook {
	t.Helper()
	mac := net.HardwareAddr{0x52, 0x54, 0, 0, 0, 12}
	own := []addr.Address{{Prefix: netip.MustParsePrefix("192.0.2.11/24")}, {Prefix: netip.MustParsePrefix("192.0.2.5/32")}}
	return &statusLook{
		plan: p, host: onDisk(t, files), now: func() time.Time { return statusBegin.Add(time.Hour) },
		links: func() (addr.Snapshot, error) {
			return addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: own}}}, nil
		},
		ask: func(_ context.Context, link string, vip netip.Addr) (addr.Neighbour, error) {
			if link != "ens3" || vip.String() != "192.0.2.6" {
				t.Errorf("asked for %s on %s", vip, link)
			}
			return addr.Neighbour{MAC: mac.String()}, nil
		},
		hear: func(_ context.Context, link string, hear func(overhear.Heard)) error {
			hear(overhear.Heard{At: statusBegin.Add(time.Hour - 70*time.Millisecond), MAC: mac, Advert: advert.Advert{From: netip.MustParseAddr("192.0.2.12"), Hops: advert.Near, Version: vrrp.V3,
				ID: p.VRRP.Ingress.ID, Priority: 120, Interval: 100 * time.Millisecond, VIPs: p.VIPs.Ingress, Sound: true}})
			return nil
		},
		stats: func(context.Context) ([]haproxy.Stat, error) {
			return []haproxy.Stat{{Backend: haproxy.Masters, Server: "m0", Status: "UP", Check: "L7OK", Sessions: 12, Address: netip.MustParseAddrPort("192.0.2.11:6443")},
				{Backend: haproxy.Masters, Server: "free", Status: "MAINT"}, {Backend: "other", Server: "x", Status: "UP"}}, nil
		},
		name: func(_ context.Context, name string) ([]netip.Addr, error) {
			if strings.HasSuffix(name, "apps.ostest.example.com") {
				return []netip.Addr{netip.MustParseAddr("198.51.100.1")}, nil
			}
			return []netip.Addr{netip.MustParseAddr("192.0.2.5")}, nil
		},
	}
}

// TestStatus holds that a person who asks a holder reads there who holds what, and why, and that
// the parts of a priority sum up to it.
func TestStatus(t *testing.T) {
	for _, timing := range []string{vrrp.ProfileLan, vrrp.ProfileCompat} {
		t.Run(timing, func(t *testing.T) {
			p := statusPlan(t, timing)
			r := statusOf(t, p, holderOf(t, p)).report(t.Context())
			if len(r.VIPs) != 2 || len(r.Unseen) > 0 {
				t.Fatalf("%+v", r)
			}
			api, ingress := r.VIPs[0], r.VIPs[1]
			if !api.Here || !api.Holder.Self || api.State != supervised.Master || api.Why != "no router of higher priority was observed" || !api.Since.Equal(statusBegin.Add(time.Minute)) || api.Link != "ens3" {
				t.Errorf("api: %+v", api)
			}
			if ingress.Here || ingress.Holder.Self || ingress.Holder.Address.String() != "192.0.2.12" || ingress.State != supervised.Backup || ingress.Why != "" || len(ingress.Adverts) != 1 || ingress.Adverts[0].AgeMs != 70 {
				t.Errorf("ingress: %+v", ingress)
			}
			for _, v := range r.VIPs {
				sum := 0
				for _, part := range v.Parts {
					if part.Counts {
						sum += part.Adds
					}
					if v.For == vrrp.API && part.Name == "unexplained" || part.Name == string(vrrp.CheckMCS) && (part.Counts || part.Since.IsZero()) {
						t.Errorf("%s: %+v", v.VIP, part)
					}
				}
				if sum != v.Priority || sum == 0 {
					t.Errorf("%s: the parts sum up to %d, and the priority is %d: %+v", v.VIP, sum, v.Priority, v.Parts)
				}
			}
			if len(r.Balancer) != 1 || r.Balancer[0].Sessions != 12 || r.Gate != "open" || r.Daemon == nil || r.Daemon.Restarts != 2 {
				t.Errorf("%+v, gate %q, keepalived %+v", r.Balancer, r.Gate, r.Daemon)
			}
			if len(r.Names) != 3 || !r.Names[0].Right || r.Names[2].Right {
				t.Errorf("%+v", r.Names)
			}
		})
	}
}

// TestStatusDNS holds that the DNS VIP is told of like the others, on a node and on the bootstrap
// machine.
func TestStatusDNS(t *testing.T) {
	c := spec.Cluster{Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileLan, DNSVIP: netip.MustParseAddr("192.0.2.7"),
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, APIVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.5")}, IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")}}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	ladder := p.VRRP.DNSNodes.Candidates()
	for _, tt := range []struct {
		name     string
		memory   string
		priority int
		want     []string
	}{
		{"a node", `{"open":true,"rank":"1"}`, int(ladder.Base) + ladder.Rank(1) + ladder.Holder + 120, []string{"base", "rank", "holder", "dns"}},
		{"the bootstrap machine", "", int(p.VRRP.DNSBootstrapPriority), []string{"bootstrap"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{vip.AgreedDir + "/ipv4": "192.0.2.11", election.TrackFile(vrrp.CheckDNS, false): passing,
				election.RunDir + "/" + supervised.HolderTrack("ostest_DNS_0"): "1\n",
				election.RunDir + "/" + supervised.StatusFile: string(supervised.Encode(supervised.Status{PID: 9, Instances: map[string]supervised.Instance{
					"ostest_DNS_0": {State: supervised.Master, Priority: tt.priority}}}))}
			if tt.memory != "" {
				files[vip.MemoryPath] = tt.memory
			}
			look := statusOf(t, p, files)
			look.ask = func(context.Context, string, netip.Addr) (addr.Neighbour, error) {
				return addr.Neighbour{Absent: true}, nil
			}
			r := look.report(t.Context())
			if len(r.VIPs) != 3 || r.VIPs[2].For != vrrp.DNS || r.VIPs[2].ID != p.VRRP.DNS.ID || r.VIPs[2].State != supervised.Master {
				t.Fatalf("%+v", r.VIPs)
			}
			var parts []string
			for _, part := range r.VIPs[2].Parts {
				parts = append(parts, part.Name)
			}
			if !slices.Equal(parts, tt.want) {
				t.Errorf("%v make up %d, want %v", r.VIPs[2].Parts, tt.priority, tt.want)
			}
			if text := statusText(r); !strings.Contains(text, "192.0.2.7  dns") {
				t.Errorf("a person reads\n%s", text)
			}
		})
	}
}

// monitored adds what a node's monitor has written down: that 192.0.2.12 holds the ingress VIP,
// that 192.0.2.13 gave it up, and that a router has the API's ID.
func monitored(t *testing.T, p plan.Plan, files map[string]string) map[string]string {
	t.Helper()
	now := statusBegin.Add(time.Hour - 2*time.Second)
	ear := clash.NewEar()
	members := addresses4("192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14")
	ear.Expect([]clash.Instance{
		{Name: "ostest_API_0", Kind: vrrp.API, Link: "ens3", ID: p.VRRP.API.ID, Version: vrrp.V3, Interval: 100 * time.Millisecond, VIP: p.VIPs.API[0], Own: members[0], Members: members},
		{Name: "ostest_INGRESS_0", Kind: vrrp.Ingress, Link: "ens3", ID: p.VRRP.Ingress.ID, Version: vrrp.V3, Interval: 100 * time.Millisecond, VIP: p.VIPs.Ingress[0], Own: members[0], Members: members},
	})
	say := func(from int, id vrrp.ID, vips []netip.Addr, priority uint8, ago time.Duration) {
		ear.Hear(clash.Heard{Link: "ens3", MAC: net.HardwareAddr{0x52, 0x54, 0, 0, 0, byte(from)}.String(), At: now.Add(-ago), Advert: advert.Advert{From: netip.AddrFrom4([4]byte{192, 0, 2, byte(from)}),
			Hops: advert.Near, Version: vrrp.V3, ID: id, Priority: priority, Interval: 100 * time.Millisecond, VIPs: vips, Sound: true}})
	}
	say(13, p.VRRP.Ingress.ID, p.VIPs.Ingress, 0, 5*time.Second)
	say(12, p.VRRP.Ingress.ID, p.VIPs.Ingress, 120, 70*time.Millisecond)
	say(99, p.VRRP.API.ID, addresses4("192.0.2.77"), 100, time.Second)
	files[election.RunDir+"/"+clash.StateFile] = string(clash.EncodeState(ear.State(nil, nil, now)))
	files[vip.MemoryPath] = `{"open":true,"rank":"1","nodes":[{"Name":"m1","InternalIPs":["192.0.2.12"],"controlPlane":true}]}`
	files[election.RunDir+"/"+vip.SaidFile] = `[{"check":"` + string(vrrp.CheckMCS) + `","passes":false,"why":"no answer in time"}]`
	return files
}

// TestStatusMonitored holds what status takes from the host's monitor, for which it needs no
// privilege: who is in the elections, who disturbs them, and why a check fails.
func TestStatusMonitored(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	look := statusOf(t, p, monitored(t, p, holderOf(t, p)))
	look.hear = func(context.Context, string, func(overhear.Heard)) error {
		t.Error("it listens itself")
		return nil
	}
	r := look.report(t.Context())
	if len(r.Unseen) > 0 || len(r.Clashes) != 1 || r.Clashes[0].Kind != clash.Foreign {
		t.Errorf("clashes %+v, unseen %q", r.Clashes, r.Unseen)
	}
	text := statusText(r)
	for _, want := range []string{
		"CLASH: 192.0.2.99 (52:54:00:00:00:63) on ens3 has the virtual router ID", "this host is known by 192.0.2.11: ", "ingress 192.0.2.12 BACKUP",
		"192.0.2.5: may move to m1 192.0.2.12 (stands by), 192.0.2.13 (stands by), 192.0.2.14 (stands by)",
		"192.0.2.6: may move to m1 192.0.2.12 (holds it), 192.0.2.13 (last heard 5.0 s ago), 192.0.2.14 (stands by)",
		": no answer in time", "gate open: ", "routers: this host hears routers that speak to VRRP's groups", "VRRPv3, priority 120, every 100 ms, 70 ms ago",
	} {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), want) { // whatever the width
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if utf8.RuneCountInString(line) > 101 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
}

// TestStatusOldState holds that what a monitor wrote down that runs no more is not taken for what
// is, and that status then listens itself.
func TestStatusOldState(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	look := statusOf(t, p, monitored(t, p, holderOf(t, p)))
	look.now = func() time.Time { return statusBegin.Add(time.Hour + time.Minute) }
	r := look.report(t.Context())
	if len(r.Clashes) > 0 || !slices.ContainsFunc(r.Unseen, func(u string) bool { return strings.Contains(u, "it was written down 1m2s ago: no monitor runs here") }) {
		t.Errorf("clashes %+v, unseen %q", r.Clashes, r.Unseen)
	}
}

// TestStatusText holds what a person reads, in lines of at most 100 columns.
func TestStatusText(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	r := statusOf(t, p, holderOf(t, p)).report(t.Context())
	r.unseen("everything", errors.New(strings.Repeat("a reason ", 30)+"and\nits end"))
	text := statusText(r)
	for _, want := range []string{"cluster ostest, on this host 192.0.2.11, at 2026-01-02 04:04:05Z", "192.0.2.5  api      this host   MASTER", "192.0.2.6  ingress  192.0.2.12  BACKUP  77",
		"192.0.2.5: MASTER here since 2026-01-02 03:05:05Z (59 min 0 s ago): no router of higher priority was observed", "192.0.2.5: does not pass: " + string(vrrp.CheckMCS),
		"192.0.2.6: 192.0.2.12 announces it by VRRPv3, priority 120, every 100 ms, 70 ms ago", "balancer: m0 192.0.2.11:6443 UP, 12 sessions",
		"name: api.ostest.example.com is 192.0.2.5\n", "is 198.51.100.1, and should be 192.0.2.6"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	for line := range strings.Lines(text) {
		if len(line) > 101 {
			t.Errorf("%d columns: %s", len(line)-1, line)
		}
	}
	if !strings.Contains(text, "and its end\n") {
		t.Errorf("%s", text)
	}
	for line := range strings.Lines(statusCommand(streams{}).Long) {
		if len(line) > 101 {
			t.Errorf("the help has %d columns: %s", len(line)-1, line)
		}
	}
}

// TestStatusUnseen holds that status says what it could not see, and all else, whatever fails and
// whoever asks.
func TestStatusUnseen(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	no := errors.New("operation not permitted")
	blind := func(l *statusLook) {
		l.ask = func(context.Context, string, netip.Addr) (addr.Neighbour, error) { return addr.Neighbour{}, no }
		l.hear = func(context.Context, string, func(overhear.Heard)) error { return no }
		l.stats = func(context.Context) ([]haproxy.Stat, error) { return nil, no }
		l.name = func(context.Context, string) ([]netip.Addr, error) { return nil, no }
	}
	for _, tt := range []struct {
		name   string
		files  map[string]string
		change func(*statusLook)
		want   []string // what each line begins with
		vips   string   // what each of them is
	}{
		{"no privilege", holderOf(t, p), blind, []string{"adverts of other hosts: ", "who answers for 192.0.2.6: ", "the balancer (control plane nodes alone have one): ", "names that"}, "MASTER this host, BACKUP not seen"},
		{"nothing of ours has run", nil, nil, []string{"keepalived: there is no /run/onprem-infra/keepalived/status.json"}, " this host,  192.0.2.12"},
		{"files that are damaged", map[string]string{vip.MemoryPath: "{", election.RunDir + "/" + supervised.StatusFile: "{", journal.Path: "{\n"}, nil,
			[]string{"keepalived: ", "part of the journal: ", "whether this node stands for the API's VIP: "}, " this host,  192.0.2.12"},
		{"no links", holderOf(t, p), func(l *statusLook) { l.links = func() (addr.Snapshot, error) { return addr.Snapshot{}, no } },
			[]string{"links and addresses: ", "who answers for 192.0.2.5: it is in no network of this host", "who answers for 192.0.2.6: it is in no network"}, "MASTER not seen, BACKUP not seen"},
		{"a network behind a router", holderOf(t, p), func(l *statusLook) {
			l.links = func() (addr.Snapshot, error) {
				return addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("198.51.100.9/24")}}}},
					Routes: []addr.Route{{LinkIndex: 2, Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("198.51.100.1")}}}, nil
			}
			l.ask = func(_ context.Context, link string, vip netip.Addr) (addr.Neighbour, error) {
				t.Errorf("asked for %s on %s", vip, link)
				return addr.Neighbour{}, nil
			}
		}, []string{"who answers for 192.0.2.5: it is in no network of this host", "who answers for 192.0.2.6: it is in no network"}, "MASTER not seen, BACKUP not seen"},
		{"nobody answers", holderOf(t, p), func(l *statusLook) {
			l.ask = func(context.Context, string, netip.Addr) (addr.Neighbour, error) {
				return addr.Neighbour{Absent: true}, nil
			}
		}, nil, "MASTER this host, BACKUP nobody answers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			look := statusOf(t, p, tt.files)
			if tt.change != nil {
				tt.change(look)
			}
			r := look.report(t.Context())
			var vips []string
			for _, v := range r.VIPs {
				vips = append(vips, string(v.State)+" "+holderText(v))
			}
			if got := strings.Join(vips, ", "); got != tt.vips {
				t.Errorf("VIPs: %q", got)
			}
			if !slices.EqualFunc(r.Unseen, tt.want, strings.HasPrefix) {
				t.Errorf("unseen %q, want %q", r.Unseen, tt.want)
			}
			if text := statusText(r); strings.Count(text, "not seen: ") != len(tt.want) {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestStatusGate holds that a node is said not to stand for the API VIP where it waits for the API,
// and a worker is not, which never stands.
func TestStatusGate(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	node := func(address, controlPlane string) string {
		return `"nodes":[{"Name":"n","InternalIPs":["` + address + `"],"controlPlane":` + controlPlane + `}]`
	}
	for _, tt := range []struct{ name, memory, want string }{
		{"it has seen the API", `{"open":true,` + node("192.0.2.11", "true") + `}`, "open"},
		{"it waits", `{` + node("192.0.2.11", "true") + `}`, "closed"},
		{"a worker", `{` + node("192.0.2.11", "false") + `}`, ""},
		{"a worker that knows the control plane alone", `{` + node("192.0.2.12", "true") + `}`, ""},
	} {
		r := statusOf(t, p, map[string]string{vip.MemoryPath: tt.memory}).report(t.Context())
		if says := strings.Contains(statusText(r), "has not seen the API work yet"); r.Gate != tt.want || says != (tt.want == "closed") {
			t.Errorf("%s: gate %q", tt.name, r.Gate)
		}
	}
}

// TestStatusJSON holds the fields that scripts go by, and that the help names each.
func TestStatusJSON(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	var out strings.Builder
	if err := printStatus(streams{out: &out}, statusOf(t, p, monitored(t, p, holderOf(t, p))).report(t.Context()), "json", false); err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := json.Unmarshal([]byte(out.String()), &top); err != nil {
		t.Fatal(err)
	}
	help := statusCommand(streams{}).Long
	holds := func(what string, object any, want ...string) {
		t.Helper()
		fields, _ := object.(map[string]any)
		got := slices.Sorted(maps.Keys(fields))
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s has no %s: %v", what, name, got)
			}
		}
		for _, name := range got {
			if !strings.Contains(help, name) {
				t.Errorf("the help does not name %s of %s", name, what)
			}
		}
	}
	first := func(list any) any {
		if all, _ := list.([]any); len(all) > 0 {
			return all[0]
		}
		return nil
	}
	holds("status", top, "verdict", "at", "cluster", "timing", "mode", "nodeIPs", "remoteWorker", "gate", "vips", "keepalived", "balancer", "names", "clashes", "hears", "nodeIPWhy", "unseen")
	holds("a verdict", top["verdict"], "level", "why")
	vips, _ := top["vips"].([]any)
	api, _ := vips[0].(map[string]any)
	ingress, _ := vips[1].(map[string]any)
	holds("a VIP", api, "vip", "for", "id", "instance", "link", "here", "state", "since", "why", "holder", "priority", "parts", "peers")
	holds("a holder", ingress["holder"], "self", "mac", "address")
	holds("an advert", first(ingress["adverts"]), "from", "mac", "priority", "version", "intervalMs", "ageMs")
	holds("a peer", first(ingress["peers"]), "address", "node", "ageMs", "holds")
	holds("a clash", first(top["clashes"]), "kind", "instance", "for", "link", "id", "vip", "who", "version", "intervalMs", "priority", "vips", "last")
	holds("why an address", first(top["nodeIPWhy"]), "address", "link", "why")
	holds("a part", first(api["parts"]), "name", "adds", "counts")
	holds("keepalived", top["keepalived"], "running", "restarts", "monitorSilent")
	holds("a server", first(top["balancer"]), "name", "address", "status", "up", "check", "sessions")
	holds("a name", first(top["names"]), "name", "want", "answers", "right")
}

// TestStatusWatch holds that --watch goes on until it is stopped, a line each time for programs,
// and says nothing half seen.
func TestStatusWatch(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	files := holderOf(t, p)
	synctest.Test(t, func(t *testing.T) { watched(t, p, files) })
}

func watched(t *testing.T, p plan.Plan, files map[string]string) {
	begin := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	look, turns := statusOf(t, p, files), 0
	look.stats = func(context.Context) ([]haproxy.Stat, error) {
		if turns++; turns == 3 {
			cancel()
		}
		return nil, nil
	}
	var out strings.Builder
	if err := watchStatus(ctx, streams{out: &out}, look, "json"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took != 2*everyStatus {
		t.Errorf("took %v", took)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// TestStatusUsage holds the exit codes: wrong usage is 2, and a host without the cluster's file is
// 2 or 3.
func TestStatusUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(file, plan.Encode(statusPlan(t, vrrp.ProfileLan)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status", "-c", file, "-o", "yaml"}, {"status", "-c", file, "now"}, {"status", "-c", file + ".gone"}, {"status", "--root"}} {
		if o := invoke(t, "", args...); o.code != 2 || o.out != "" {
			t.Errorf("%v: exit %d\n%s%s", args, o.code, o.out, o.err)
		}
	}
}
