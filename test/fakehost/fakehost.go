// Package fakehost makes hosts of a cluster on a FAKE network, for tests of what inspects a host.
package fakehost

import (
	"context"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/checks"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Begin is when a host's journal begins; hosts are inspected an hour later.
var Begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// Addresses parses addresses.
func Addresses(texts ...string) (out []netip.Addr) {
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// Cluster describes a cluster whose VIPs are 192.0.2.5 and 192.0.2.6.
func Cluster(timing string) spec.Cluster {
	return spec.Cluster{
		Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal,
		ControlPlaneReplicas: 3, Timing: timing,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")},
		APIVIPs:         Addresses("192.0.2.5"), IngressVIPs: Addresses("192.0.2.6"),
	}
}

// Plan is the plan of Cluster.
func Plan(t *testing.T, timing string) plan.Plan {
	t.Helper()
	p, err := plan.Compile(Cluster(timing))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Write writes files of a host.
func Write(t *testing.T, files inspect.Files, texts map[string]string) {
	t.Helper()
	for path, text := range texts {
		if err := os.MkdirAll(filepath.Dir(files.Path(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(files.Path(path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// Holder are the files of a node that holds the API's VIP. All its checks pass but mcs, and it does
// not hold the ingress VIP.
func Holder(p plan.Plan) map[string]string {
	scheme := p.VRRP.ControlPlane.Candidates()
	priority := int(scheme.Base) + scheme.Rank(1) + scheme.Holder
	files := map[string]string{
		nodestate.Path:          `{"open":true,"rank":"1"}`,
		vip.AgreedDir + "/ipv4": "192.0.2.11",
	}
	for _, w := range p.VRRP.ControlPlane.Checks {
		files[election.TrackFile(w.Check, w.Fault)] = "1\n"
		if w.Check == vrrp.CheckMCS {
			files[election.TrackFile(w.Check, w.Fault)] = "0\n"
			continue
		}
		priority += w.Adds
	}
	files[supervised.RunDir+"/"+supervised.HolderTrack("ostest_API_0")] = "1\n"
	files[supervised.RunDir+"/"+supervised.StatusFile] = string(supervised.Encode(supervised.Status{
		PID: 9, Restarts: 2, Instances: map[string]supervised.Instance{
			"ostest_API_0":     {State: supervised.Master, Priority: priority},
			"ostest_INGRESS_0": {State: supervised.Backup, Priority: 77},
		},
	}))
	var j journal.Journal
	j.Note(
		journal.Observation{At: Begin, Status: supervised.Status{Instances: map[string]supervised.Instance{
			"ostest_API_0": {
				State: supervised.Backup,
			}, "ostest_INGRESS_0": {State: supervised.Master}}}},
	)
	j.Note(
		journal.Observation{
			At: Begin.Add(time.Minute),
			Status: supervised.Status{Instances: map[string]supervised.Instance{
				"ostest_API_0": {State: supervised.Master}}},
		},
	)
	files[journal.Path] = string(j.Encode())
	return files
}

// Monitored adds what a node's monitor has written: that 192.0.2.12 holds the ingress VIP, that
// 192.0.2.13 released it, and that a router has the API's ID.
func Monitored(p plan.Plan, files map[string]string) map[string]string {
	now := Begin.Add(time.Hour - 2*time.Second)
	observer := clash.NewObserver()
	members := Addresses("192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14")
	observer.Expect([]clash.Instance{
		{
			Name: "ostest_API_0", Kind: vrrp.API, Link: "ens3", ID: p.VRRP.API.ID, Version: vrrp.V3,
			Interval: 100 * time.Millisecond, VIP: p.VIPs.API[0], Own: members[0], Members: members,
		},
		{
			Name: "ostest_INGRESS_0", Kind: vrrp.Ingress, Link: "ens3", ID: p.VRRP.Ingress.ID,
			Version:  vrrp.V3,
			Interval: 100 * time.Millisecond, VIP: p.VIPs.Ingress[0], Own: members[0],
			Members: members,
		},
	})
	announce := func(from int, id vrrp.ID, vips []netip.Addr, priority uint8, ago time.Duration) {
		h := Advert(from, id, priority, vips...)
		observer.Receive(
			clash.Received{Link: "ens3", MAC: h.MAC.String(), At: now.Add(-ago), Advert: h.Advert})
	}
	announce(13, p.VRRP.Ingress.ID, p.VIPs.Ingress, 0, 5*time.Second)
	announce(12, p.VRRP.Ingress.ID, p.VIPs.Ingress, 120, 70*time.Millisecond)
	announce(99, p.VRRP.API.ID, Addresses("192.0.2.77"), 100, time.Second)
	files[supervised.RunDir+"/"+clash.StateFile] = string(
		clash.EncodeState(observer.State(nil, nil, now)))
	files[nodestate.Path] = `{"open":true,"rank":"1",` +
		`"nodes":[{"Name":"m1","InternalIPs":["192.0.2.12"],"controlPlane":true}]}`
	files[supervised.RunDir+"/"+checks.ResultsFile] = `[{"check":"` + string(
		vrrp.CheckMCS) + `","passes":false,"why":"no answer in time"}]`
	return files
}

// Advert is an advert of 192.0.2.FROM, ten of which it sends a second.
func Advert(from int, id vrrp.ID, priority uint8, vips ...netip.Addr) capture.Received {
	return capture.Received{
		MAC: net.HardwareAddr{0x52, 0x54, 0, 0, 0, byte(from)},
		Advert: advert.Advert{
			From: netip.AddrFrom4(
				[4]byte{192, 0, 2, byte(from)}), Hops: advert.Near, Version: vrrp.V3, ID: id,
			Priority: priority, Interval: 100 * time.Millisecond, VIPs: vips, Sound: true,
		},
	}
}

// New is 192.0.2.11, which has the API's VIP, with these files. 192.0.2.12 announces the ingress
// VIP and answers for it.
func New(t *testing.T, p plan.Plan, files map[string]string) *inspect.Inspector {
	t.Helper()
	i := &inspect.Inspector{Plan: p, Files: inspect.Files{Root: t.TempDir()}}
	Write(t, i.Files, files)
	i.Now = func() time.Time { return Begin.Add(time.Hour) }
	i.Hostname = func() (string, error) { return "m0", nil }
	i.Links = func() (addr.Snapshot, error) { return Links("192.0.2.11/24", "192.0.2.5/32"), nil }
	i.Neighbour = func(_ context.Context, link string, vip netip.Addr) (addr.Neighbour, error) {
		if link != "ens3" || vip.String() != "192.0.2.6" {
			t.Errorf("asked for %s on %s", vip, link)
		}
		return addr.Neighbour{MAC: "52:54:00:00:00:0c"}, nil
	}
	i.Cards = func() ([]addr.Ethernet, error) { return nil, nil }
	i.WhoHas = func(link string, address netip.Addr) ([]string, error) {
		t.Errorf("asked for %s on %s", address, link)
		return nil, nil
	}
	i.Adverts = func(_ context.Context, _ string, receive func(capture.Received)) error {
		h := Advert(12, p.VRRP.Ingress.ID, 120, p.VIPs.Ingress...)
		h.At = Begin.Add(time.Hour - 70*time.Millisecond)
		receive(h)
		return nil
	}
	i.Backends = func(context.Context) ([]haproxy.Stat, error) {
		return []haproxy.Stat{
			{Backend: haproxy.Masters, Server: "m0", Status: "UP", Check: "L7OK", Sessions: 12,
				Address: netip.MustParseAddrPort("192.0.2.11:6443")},
			{
				Backend: haproxy.Masters,
				Server:  "free",
				Status:  "MAINT",
			}, {Backend: "other", Server: "x", Status: "UP"},
		}, nil
	}
	i.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
		if strings.HasSuffix(name, "apps.ostest.example.com") {
			return Addresses("198.51.100.1"), nil
		}
		return Addresses("192.0.2.5"), nil
	}
	return i
}

// Links has the link ens3 with these prefixes.
func Links(prefixes ...string) addr.Snapshot {
	l := addr.Link{Index: 2, Name: "ens3", Up: true}
	for _, text := range prefixes {
		l.Addresses = append(l.Addresses, addr.Address{Prefix: netip.MustParsePrefix(text)})
	}
	return addr.Snapshot{Links: []addr.Link{l}}
}
