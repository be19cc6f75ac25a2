//go:build remote

package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
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
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestStatusMonitored holds what status takes from the host's monitor, for which it needs no
// privilege: who is in the elections, who disturbs them, and why a check fails.
func TestStatusMonitored(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	host := fakehost.New(t, p, fakehost.Monitored(p, fakehost.Holder(p)))
	host.Adverts = func(context.Context, string, func(capture.Received)) error {
		t.Error("it listens itself")
		return nil
	}
	r := status.Inspect(t.Context(), host)
	if len(r.Unseen) > 0 || len(r.Clashes) != 1 || r.Clashes[0].Kind != clash.Foreign {
		t.Errorf("clashes %+v, unseen %q", r.Clashes, r.Unseen)
	}
	text := r.Text(width())
	for _, want := range []string{
		"CLASH: 192.0.2.99 (52:54:00:00:00:63) on ens3 has the virtual router ID",
		"this host is known by 192.0.2.11: ", "ingress 192.0.2.12 BACKUP",
		"192.0.2.5: may move to m1 192.0.2.12 (stands by), 192.0.2.13 (stands by), 192.0.2.14 (stands by)",
		"192.0.2.6: may move to m1 192.0.2.12 (holds it), 192.0.2.13 (last advert 5.0 s ago), 192.0.2.14 (stands by)",
		": no answer in time", "gate open: ",
		"routers: this host receives adverts to VRRP's groups",
		"VRRPv3, priority 120, every 100 ms, 70 ms ago",
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

// TestStatusText holds what a person reads, in lines of at most 100 columns.
func TestStatusText(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	r := status.Inspect(t.Context(), fakehost.New(t, p, fakehost.Holder(p)))
	r.Unseen = append(r.Unseen, "everything: "+strings.Repeat("a reason ", 30)+"and\nits end")
	text := r.Text(width())
	for _, want := range []string{"cluster ostest, on this host 192.0.2.11, at 2026-01-02 04:04:05Z", "192.0.2.5  api      this host   MASTER", "192.0.2.6  ingress  192.0.2.12  BACKUP  77",
		"192.0.2.5: MASTER here since 2026-01-02 03:05:05Z (59 min 0 s ago): no better router was observed", "192.0.2.5: does not pass: " + string(vrrp.CheckMCS),
		"192.0.2.6: 192.0.2.12 announces it by VRRPv3, priority 120, every 100 ms, 70 ms ago",
		"balancer: m0 192.0.2.11:6443 UP, 12 sessions",
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
	p := fakehost.Plan(t, vrrp.ProfileLan)
	no := errors.New("operation not permitted")
	blind := func(l *inspect.Inspector) {
		l.Neighbour = func(context.Context, string, netip.Addr) (addr.Neighbour, error) { return addr.Neighbour{}, no }
		l.Adverts = func(context.Context, string, func(capture.Received)) error { return no }
		l.Backends = func(context.Context) ([]haproxy.Stat, error) { return nil, no }
		l.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, no }
	}
	for _, tt := range []struct {
		name   string
		files  map[string]string
		change func(*inspect.Inspector)
		want   []string // what each line begins with
		vips   string   // what each of them is
	}{
		{"no privilege", fakehost.Holder(p), blind, []string{"adverts of other hosts: ", "the answer for 192.0.2.6: ", "the balancer (control plane nodes alone have one): ", "names that"}, "MASTER this host, BACKUP not seen"},
		{"nothing of ours has run", nil, nil, []string{"keepalived: there is no /run/onprem-infra/keepalived/status.json"}, " this host,  192.0.2.12"},
		{"files that are damaged", map[string]string{nodestate.Path: "{", supervised.RunDir + "/" + supervised.StatusFile: "{", journal.Path: "{\n"}, nil,
			[]string{"keepalived: ", "part of the journal: ", "the eligibility gate of this node: "}, " this host,  192.0.2.12"},
		{"no links", fakehost.Holder(p), func(l *inspect.Inspector) { l.Links = func() (addr.Snapshot, error) { return addr.Snapshot{}, no } },
			[]string{"links and addresses: ", "the answer for 192.0.2.5: it is in no network of this host", "the answer for 192.0.2.6: it is in no network"}, "MASTER not seen, BACKUP not seen"},
		{"a network behind a router", fakehost.Holder(p), func(l *inspect.Inspector) {
			l.Links = func() (addr.Snapshot, error) {
				return addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: []addr.Address{{Prefix: netip.MustParsePrefix("198.51.100.9/24")}}}},
					Routes: []addr.Route{{LinkIndex: 2, Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("198.51.100.1")}}}, nil
			}
			l.Neighbour = func(_ context.Context, link string, vip netip.Addr) (addr.Neighbour, error) {
				t.Errorf("asked for %s on %s", vip, link)
				return addr.Neighbour{}, nil
			}
		}, []string{"the answer for 192.0.2.5: it is in no network of this host", "the answer for 192.0.2.6: it is in no network"}, "MASTER not seen, BACKUP not seen"},
		{"nobody answers", fakehost.Holder(p), func(l *inspect.Inspector) {
			l.Neighbour = func(context.Context, string, netip.Addr) (addr.Neighbour, error) {
				return addr.Neighbour{Absent: true}, nil
			}
		}, nil, "MASTER this host, BACKUP no host answers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := fakehost.New(t, p, tt.files)
			if tt.change != nil {
				tt.change(host)
			}
			r := status.Inspect(t.Context(), host)
			var vips []string
			for _, v := range r.VIPs {
				vips = append(vips, string(v.State)+" "+v.Holder.String())
			}
			if got := strings.Join(vips, ", "); got != tt.vips {
				t.Errorf("VIPs: %q", got)
			}
			if !slices.EqualFunc(r.Unseen, tt.want, strings.HasPrefix) {
				t.Errorf("unseen %q, want %q", r.Unseen, tt.want)
			}
			if text := r.Text(width()); strings.Count(text, "not seen: ") != len(tt.want) {
				t.Errorf("%s", text)
			}
		})
	}
}

// TestStatusGate holds that a node is said not to stand for the API VIP where it waits for the API,
// and a worker is not, which never stands.
func TestStatusGate(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	node := func(address, controlPlane string) string {
		return `"nodes":[{"Name":"n","InternalIPs":["` + address + `"],"controlPlane":` + controlPlane + `}]`
	}
	for _, tt := range []struct{ name, memory, want string }{
		{"it has seen the API", `{"open":true,` + node("192.0.2.11", "true") + `}`, "open"},
		{"it waits", `{` + node("192.0.2.11", "true") + `}`, "closed"},
		{"a worker", `{` + node("192.0.2.11", "false") + `}`, ""},
		{"a worker that knows the control plane alone", `{` + node("192.0.2.12", "true") + `}`, ""},
	} {
		r := status.Inspect(
			t.Context(), fakehost.New(t, p, map[string]string{nodestate.Path: tt.memory}))
		if reported := strings.Contains(r.Text(width()), "has not seen the API work yet"); r.Gate != tt.want ||
			reported != (tt.want == "closed") {
			t.Errorf("%s: gate %q", tt.name, r.Gate)
		}
	}
}

// TestStatusJSON holds the fields that scripts go by, and that the help names each.
func TestStatusJSON(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	var out strings.Builder
	if err := printStatus(streams{out: &out}, status.Inspect(t.Context(), fakehost.New(t, p, fakehost.Monitored(p, fakehost.Holder(p)))), "json", false); err != nil {
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
	holds("status", top, "verdict", "at", "cluster", "timing", "mode", "nodeIPs", "remoteWorker",
		"gate", "vips", "keepalived", "balancer", "names", "clashes", "hears", "nodeIPWhy",
		"unseen")
	holds("a verdict", top["verdict"], "level", "why")
	vips, _ := top["vips"].([]any)
	api, _ := vips[0].(map[string]any)
	ingress, _ := vips[1].(map[string]any)
	holds("a VIP", api, "vip", "for", "id", "instance", "link", "here", "state", "since", "why",
		"holder", "priority", "parts", "peers")
	holds("a holder", ingress["holder"], "self", "mac", "address")
	holds(
		"an advert", first(ingress["adverts"]), "from", "mac", "priority", "version", "intervalMs",
		"ageMs")
	holds("a peer", first(ingress["peers"]), "address", "node", "ageMs", "holds")
	holds("a clash", first(top["clashes"]), "kind", "instance", "for", "link", "id", "vip", "who",
		"version", "intervalMs", "priority", "vips", "last")
	holds("why an address", first(top["nodeIPWhy"]), "address", "link", "why")
	holds("a part", first(api["parts"]), "name", "adds", "counts")
	holds("keepalived", top["keepalived"], "running", "restarts", "monitorSilent")
	holds(
		"a server", first(top["balancer"]), "name", "address", "status", "up", "check", "sessions")
	holds("a name", first(top["names"]), "name", "want", "answers", "right")
}

// TestStatusWatch holds that --watch goes on until it is stopped, a line each time for programs,
// and says nothing half seen.
func TestStatusWatch(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	files := fakehost.Holder(p)
	synctest.Test(t, func(t *testing.T) { watched(t, p, files) })
}

func watched(t *testing.T, p plan.Plan, files map[string]string) {
	begin := time.Now()
	ctx, cancel := context.WithCancel(t.Context())
	host, rounds := fakehost.New(t, p, files), 0
	host.Backends = func(context.Context) ([]haproxy.Stat, error) {
		if rounds++; rounds == 3 {
			cancel()
		}
		return nil, nil
	}
	host.Workers = func(context.Context, time.Time) (workers.World, error) {
		waits := scale.Host{Name: "w0", State: "inspecting"}
		return workers.World{Hosts: []workers.Host{{Host: waits}}}, nil
	}
	var out strings.Builder
	unread := errors.New("it is gone")
	each := func() (*inspect.Inspector, error) {
		if rounds == 0 {
			return host, nil
		}
		return host, unread
	}
	if err := watchStatus(ctx, streams{out: &out}, each, "json"); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took != 2*everyStatus {
		t.Errorf("took %v", took)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2 {
		t.Fatalf("%d lines", len(lines))
	}
	for i, line := range lines {
		if strings.Contains(line, "the present cluster description (it is gone): this report is by the one before") != (i > 0) {
			t.Errorf("round %d: %s", i, line)
		}
		if !json.Valid([]byte(line)) || !strings.Contains(line, `"hosts":[{"name":"w0","step":"inspecting",`) {
			t.Errorf("no JSON: %s", line)
		}
	}
}

// TestStatusWatch_Follows holds that each round of --watch is by the cluster description of then,
// and by the last one while there is none that can be read.
func TestStatusWatch_Follows(t *testing.T) {
	described := fakehost.Cluster(vrrp.ProfileLan)
	described.VRRP = spec.Unicast
	described.MigrateFrom = spec.Former{Timing: vrrp.ProfileCompat, VRRP: spec.Multicast}
	migrates, err := plan.Compile(described)
	if err != nil {
		t.Fatal(err)
	}
	m := &monitor{machine: newMachine("status", streams{err: io.Discard})}
	m.cluster = filepath.Join(t.TempDir(), "cluster.json")
	at := statusHost{monitor: m, std: streams{err: io.Discard}}
	for _, tt := range []struct {
		name, text, timing string
		migrates, unread   bool
	}{
		{"the first", string(plan.Encode(fakehost.Plan(t, vrrp.ProfileCompat))), vrrp.ProfileCompat, false, false},
		{"a migration to come", string(plan.Encode(migrates)), vrrp.ProfileCompat, true, false},
		{"a broken one", "{", vrrp.ProfileCompat, true, true},
		{"after the migration", string(plan.Encode(fakehost.Plan(t, vrrp.ProfileLan))), vrrp.ProfileLan, false, false},
	} {
		if err := os.WriteFile(m.cluster, []byte(tt.text), 0o600); err != nil {
			t.Fatal(err)
		}
		host, err := at.follow()
		if host.Plan.Timing.Profile != tt.timing || (host.Migration != nil) != tt.migrates || (err != nil) != tt.unread {
			t.Errorf("%s: timing %s, migration %+v, error %v", tt.name, host.Plan.Timing.Profile, host.Migration, err)
		}
	}
}

// TestStatusUsage holds the exit codes: wrong usage is 2, and a host without the cluster's file is
// 2 or 3.
func TestStatusUsage(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(file, plan.Encode(fakehost.Plan(t, vrrp.ProfileLan)), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"status", "-c", file, "-o", "yaml"}, {"status", "-c", file, "now"}, {"status", "-c", file + ".gone"}, {"status", "--root"}} {
		if o := invoke(t, "", args...); o.code != 2 || o.out != "" {
			t.Errorf("%v: exit %d\n%s%s", args, o.code, o.out, o.err)
		}
	}
}
