package speaker

import (
	"context"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/container"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/release"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/bootvip"
)

var (
	ip   = netip.MustParseAddr
	vip  = ip("203.0.113.5")
	dns  = ip("203.0.113.4")
	noon = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
)

// fakeHost is a FAKE: a machine that is what a test says it is.
type fakeHost struct {
	links   addr.Snapshot
	rack    string
	verdict release.Verdict
	config  spoken.Config
	status  spoken.Status
	kept    []netip.Addr
	wishes  []spoken.Wish
	leaves  bool
	ended   int
	full    bool // it can keep nothing
	mute    bool // the speaker cannot be asked to leave
	now     time.Time

	nodes     []addr.Candidate
	keptNodes [][]addr.Candidate
}

func (h *fakeHost) Links() (addr.Snapshot, error)                    { return h.links, nil }
func (h *fakeHost) Rack() (string, error)                            { return h.rack, nil }
func (h *fakeHost) Verdict(context.Context) (release.Verdict, error) { return h.verdict, nil }
func (h *fakeHost) Config() (spoken.Config, error)                   { return h.config, nil }
func (h *fakeHost) Status() (spoken.Status, error)                   { return h.status, nil }
func (h *fakeHost) Announced() []netip.Addr                          { return h.kept }
func (h *fakeHost) Configure(c spoken.Config) error                  { h.config = c; return nil }
func (h *fakeHost) Wish(w spoken.Wish) error                         { h.wishes = append(h.wishes, w); return nil }

func (h *fakeHost) End() error { h.ended++; return nil }

func (h *fakeHost) Keep(vips []netip.Addr) error {
	if h.full {
		return errors.New("no space left")
	}
	h.kept = vips
	return nil
}

func (h *fakeHost) Leave(now bool) error {
	if h.mute && now {
		return errors.New("no space left")
	}
	h.leaves = now
	return nil
}

func (h *fakeHost) Nodes() []addr.Candidate { return h.nodes }

func (h *fakeHost) KeepNodes(nodes []addr.Candidate) error {
	h.keptNodes = append(h.keptNodes, nodes)
	return nil
}

func (h *fakeHost) wished() []netip.Addr { return vips(h.wishes[len(h.wishes)-1].Routes) }

// fakeDaemon is a FAKE: it counts what a container engine would be asked.
type fakeDaemon struct {
	ensured []container.Spec
	stops   int
}

func (d *fakeDaemon) Ensure(_ context.Context, s container.Spec) error {
	d.ensured = append(d.ensured, s)
	return nil
}

func (d *fakeDaemon) Stop(context.Context, string) error { d.stops++; return nil }

// notified is what a service manager was told.
type notified struct {
	ready  int
	status string
}

func (n *notified) Ready() error             { n.ready++; return nil }
func (n *notified) Status(text string) error { n.status = text; return nil }

// compile is a cluster with a VIP for the API and one for DNS, outside of its network.
func compile(t *testing.T, changes ...func(*spec.Cluster)) plan.Plan {
	return bootvip.Compile(t, func(c *spec.Cluster) {
		c.Timing = ""
		c.APIVIPs, c.IngressVIPs, c.DNSVIP = []netip.Addr{vip}, []netip.Addr{ip("203.0.113.6")}, dns
		c.Images[spec.FRRImage] = "registry.example.com/frr:1"
		c.Routing = spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{
			{Network: netip.MustParsePrefix("192.0.2.0/24"), Peers: []routing.Peer{{Address: ip("192.0.2.1"), ASN: 65101}, {Address: ip("192.0.2.2"), ASN: 65102}}},
		}}}
		for _, change := range changes {
			change(c)
		}
	})
}

type rig struct {
	*Room
	h *fakeHost
	d *fakeDaemon
	n *notified
}

func room(t *testing.T, changes ...func(*spec.Cluster)) rig {
	h, d, n := &fakeHost{links: bootvip.Links("192.0.2.10/24"), verdict: release.Verdict{Hold: true, Why: "it is ready"}, now: noon}, &fakeDaemon{}, &notified{}
	return rig{New(Options{Plan: compile(t, changes...), Host: h, Daemon: d, Notifier: n, Now: func() time.Time { return h.now }}), h, d, n}
}

func (r rig) round(t *testing.T) error {
	t.Helper()
	s, err := r.Observe(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want, _ := r.Decide(s)
	return r.Apply(t.Context(), want)
}

// up is the status of a speaker whose sessions have been up for so long.
func (r rig) up(lasts time.Duration, others ...spoken.Other) {
	r.h.status = spoken.Status{At: r.h.now, Sessions: []spoken.Session{{Peer: "192.0.2.1", State: established, Since: r.h.now.Add(-lasts), BFD: "Up"}, {Peer: "192.0.2.2", State: "Active", Why: "No AFI/SAFI activated"}},
		VIPs: []spoken.VIP{{VIP: dns, Phase: speak.Waiting}, {VIP: vip, Phase: speak.Waiting, Others: others}}}
}

// announced is what up becomes when the first router has the VIPs.
func (r rig) announced() {
	r.up(time.Minute)
	r.h.status.Sessions[0].Advertised = []netip.Addr{dns, vip}
	for i := range r.h.status.VIPs {
		r.h.status.VIPs[i].Phase = speak.Announced
	}
}

// TestAnnounce holds that sessions come first, that nothing is announced before routers could have told of
// another host, and that then both VIPs are, by the shortest path, which leaves from far to near.
func TestAnnounce(t *testing.T) {
	r := room(t)
	for _, tt := range []struct {
		name   string
		status func()
		wished []netip.Addr
		ready  int
		text   string
	}{
		{"no speaker", func() {}, nil, 0, "203.0.113.5 is not announced: FRR does not run yet"},
		{"an old status", func() { r.up(time.Minute); r.h.status.At = noon.Add(-time.Minute) }, nil, 0, "FRR does not run yet"},
		{"a session", func() { r.up(time.Second) }, nil, 0, "203.0.113.5 is not announced: whether another host announces it is learned first"},
		{"no session", func() { r.up(time.Hour); r.h.status.Sessions = r.h.status.Sessions[1:] }, nil, 0, "session with 192.0.2.2: Active, the last one ended: No AFI"},
		{"a session that lasts", func() { r.up(3 * time.Second) }, []netip.Addr{dns, vip}, 0, "203.0.113.5 waiting"},
		{"announced", r.announced, []netip.Addr{dns, vip}, 1, "203.0.113.4 announced to 192.0.2.1; 203.0.113.5 announced to 192.0.2.1; session with 192.0.2.2"},
	} {
		tt.status()
		if err := r.round(t); err != nil || !slices.Equal(r.h.wished(), tt.wished) || r.n.ready != tt.ready || !strings.Contains(r.n.status, tt.text) || r.h.leaves {
			t.Errorf("%s: wished %v, ready %d, %q, %v", tt.name, r.h.wished(), r.n.ready, r.n.status, err)
		}
	}
	last := r.h.wishes[len(r.h.wishes)-1]
	if !last.Beat.Equal(noon) || last.Routes[1].Grade != 0 || !slices.Equal(last.Routes[1].Demotions, r.options.Plan.BGP.Policy.Demotions(0)) {
		t.Errorf("%+v", last)
	}
	if len(r.d.ensured) != 6 || r.h.config.Router != ip("192.0.2.10") || len(r.h.config.Peers) != 2 || !slices.Equal(r.h.kept, []netip.Addr{dns, vip}) {
		t.Errorf("started %d, configured %+v, kept %v", len(r.d.ensured), r.h.config, r.h.kept)
	}
}

// TestForeign holds scar 30: beside another announcer the VIP is not announced for the first time, the other
// one is not affected, and one that was announced is announced again, whichever paths there are.
func TestForeign(t *testing.T) {
	stale := spoken.Other{Session: "192.0.2.1", Length: 4}
	ours := spoken.Other{Session: "192.0.2.2", Announcer: ip("192.0.2.99"), Length: 3}
	r := room(t)
	r.up(time.Minute, stale, ours)
	if err := r.round(t); err != nil || r.round(t) != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"203.0.113.5 is announced by another host: router 192.0.2.1 has a path of 4 systems to a host that is not the cluster's, router 192.0.2.2 has a path of 3 systems to a host of this ASN with the identifier 192.0.2.99", "--assume-free 203.0.113.5 by systemctl edit onprem-speaker", "203.0.113.4 waiting"} {
		if !slices.Equal(r.h.wished(), []netip.Addr{dns}) || r.n.ready > 0 || !strings.Contains(r.n.status, want) {
			t.Errorf("wished %v, ready %d, %q lacks %q", r.h.wished(), r.n.ready, r.n.status, want)
		}
	}
	r.up(time.Minute)
	if err := r.round(t); err != nil || !slices.Equal(r.h.wished(), []netip.Addr{dns, vip}) {
		t.Errorf("it has gone: wished %v, %v", r.h.wished(), err)
	}
	r.up(time.Minute, stale)
	if err := r.round(t); err != nil || !slices.Equal(r.h.wished(), []netip.Addr{dns, vip}) {
		t.Errorf("it is back: wished %v, %v", r.h.wished(), err)
	}
	again := room(t)
	again.h.kept = r.h.kept
	again.up(0, stale)
	if err := again.round(t); err != nil || !slices.Equal(again.h.wished(), []netip.Addr{dns, vip}) {
		t.Errorf("after a restart: wished %v, %v", again.h.wished(), err)
	}
	free := room(t)
	free.options.Free = []netip.Addr{vip}
	free.up(0, stale)
	if err := free.round(t); err != nil || !slices.Equal(free.h.wished(), []netip.Addr{vip}) {
		t.Errorf("that counts as free: wished %v, %v", free.h.wished(), err)
	}
	full := room(t)
	full.h.full = true
	full.up(time.Minute)
	if err := full.round(t); err == nil || !strings.Contains(err.Error(), "no space left") || !slices.Equal(full.h.wished(), []netip.Addr{dns, vip}) {
		t.Errorf("nothing can be kept: wished %v, %v", full.h.wished(), err)
	}
}

// TestHandOver holds that the VIPs stay in the wish while the speaker leaves, that FRR ends after that and not
// before, and that an API that is ready again takes them back.
func TestHandOver(t *testing.T) {
	r := room(t)
	r.announced()
	if err := r.round(t); err != nil {
		t.Fatal(err)
	}
	r.h.verdict = release.Verdict{Yield: true, Why: "a master is ready"}
	for range 2 {
		r.h.now = r.h.now.Add(time.Second)
		if err := r.round(t); err != nil || !r.h.leaves || r.d.stops > 0 || !slices.Equal(r.h.wished(), []netip.Addr{dns, vip}) || !strings.Contains(r.n.status, "hands the API VIP over") {
			t.Fatalf("asked: leaves %v, stopped %d, wished %v, %q, %v", r.h.leaves, r.d.stops, r.h.wished(), r.n.status, err)
		}
		if beat := r.h.wishes[len(r.h.wishes)-1].Beat; !beat.Equal(r.h.now) {
			t.Errorf("the beat is %v, want %v", beat, r.h.now)
		}
	}
	r.h.status.Left = true // of before
	if err := r.round(t); err != nil || r.d.stops > 0 {
		t.Errorf("an old status ends it: %v", err)
	}
	r.h.status.At = r.h.now
	if err := r.round(t); err != nil || r.d.stops != 1 || r.n.status != "the API VIP is not announced here" {
		t.Errorf("it has left: stopped %d, %q, %v", r.d.stops, r.n.status, err)
	}
	r.h.verdict = release.Verdict{Hold: true}
	ensured := len(r.d.ensured)
	if err := r.round(t); err != nil || r.h.leaves || len(r.d.ensured) != ensured+1 || !slices.Equal(r.h.wished(), []netip.Addr{dns, vip}) {
		t.Errorf("the API is back: leaves %v, wished %v, %v", r.h.leaves, r.h.wished(), err)
	}
}

// TestHandOver_Stuck holds that a speaker which does not leave, or cannot be asked to, is stopped.
func TestHandOver_Stuck(t *testing.T) {
	yield := release.Verdict{Yield: true}
	stuck := room(t)
	stuck.h.verdict = yield
	stuck.announced()
	for _, step := range []struct {
		after time.Duration
		stops int
	}{{0, 0}, {leaveBound - time.Second, 0}, {time.Second, 1}} {
		stuck.h.now = stuck.h.now.Add(step.after)
		if err := stuck.round(t); err != nil || stuck.d.stops != step.stops {
			t.Errorf("after %v: stopped %d, %v", step.after, stuck.d.stops, err)
		}
	}
	mute := room(t)
	mute.h.verdict, mute.h.mute = yield, true
	mute.announced()
	if err := mute.round(t); err == nil || mute.d.stops != 1 {
		t.Errorf("it cannot be asked: stopped %d, %v", mute.d.stops, err)
	}
	absent := room(t)
	absent.h.verdict = yield
	if err := absent.round(t); err != nil || absent.d.stops != 1 {
		t.Errorf("there is none: stopped %d, %v", absent.d.stops, err)
	}
}

// TestRelease holds that a dead API withdraws at once, and that sessions last for its return; and that the
// speaker ends with the program.
func TestRelease(t *testing.T) {
	r := room(t)
	r.announced()
	if err := r.round(t); err != nil {
		t.Fatal(err)
	}
	r.h.verdict = release.Verdict{Why: "the local API is gone"}
	if err := r.round(t); err != nil || r.h.leaves || len(r.h.wished()) > 0 || r.d.stops > 0 || len(r.d.ensured) != 2 || !strings.Contains(r.n.status, "not announced here") {
		t.Errorf("leaves %v, wished %v, stopped %d, %q, %v", r.h.leaves, r.h.wished(), r.d.stops, r.n.status, err)
	}
	if err := r.Leave(t.Context()); err != nil || r.d.stops != 1 || r.h.ended != 1 {
		t.Errorf("stopped %d, %v", r.d.stops, err)
	}
}

// TestLacks holds that a machine without a rack says so, and that one which loses its address keeps what it
// has.
func TestLacks(t *testing.T) {
	r := room(t)
	own := r.h.links
	r.h.links = bootvip.Links("198.51.100.7/24")
	if err := r.round(t); err != nil || len(r.d.ensured) > 0 || r.n.ready > 0 || !strings.Contains(r.n.status, "no rack of bgp.racks") {
		t.Errorf("started %d, ready %d, %q, %v", len(r.d.ensured), r.n.ready, r.n.status, err)
	}
	r.h.links = own
	r.announced()
	if err := r.round(t); err != nil {
		t.Fatal(err)
	}
	had := r.h.config
	r.h.links = addr.Snapshot{}
	if err := r.round(t); err != nil || !reflect.DeepEqual(r.h.config, had) || !slices.Equal(r.h.wished(), []netip.Addr{dns, vip}) || !strings.Contains(r.n.status, "no rack of bgp.racks") {
		t.Errorf("configured %+v, wished %v, %q, %v", r.h.config, r.h.wished(), r.n.status, err)
	}
	r.h.rack = "hall"
	if err := r.round(t); err != nil || !strings.Contains(r.n.status, `named "hall"`) {
		t.Errorf("%q, %v", r.n.status, err)
	}
}

// TestContainer holds what FRR's container gets, and that what changes while it runs is bound by its
// directory.
func TestContainer(t *testing.T) {
	c := Container(compile(t))
	command := strings.Join(c.Command, " ")
	if want := "/usr/bin/onprem-speak --run-dir /run/onprem-infra/speak --sockets /run/frr --passwords /etc/onprem-infra-speaker/passwords --real-time --health 127.0.0.1:9466"; command != want {
		t.Errorf("%s, want %s", command, want)
	}
	want := []container.Mount{{Source: "/usr/local/bin/onprem-speak", Target: "/usr/bin/onprem-speak", ReadOnly: true}, {Source: "/etc/onprem-infra-speaker", Target: "/etc/onprem-infra-speaker", ReadOnly: true}, {Source: spoken.RunDir, Target: spoken.RunDir}}
	if !reflect.DeepEqual(c.Mounts, want) || c.Image != "registry.example.com/frr:1" || !slices.Equal(c.Tmpfs, []string{"/run", "/tmp"}) {
		t.Errorf("%+v", c)
	}
	for _, name := range c.Capabilities {
		if !strings.HasPrefix(name, "CAP_") || name == "CAP_DAC_OVERRIDE" {
			t.Errorf("it has %v", c.Capabilities)
		}
	}
	if !slices.Contains(c.Capabilities, "CAP_SYS_NICE") || !slices.Contains(c.Capabilities, "CAP_NET_ADMIN") {
		t.Errorf("it has %v", c.Capabilities)
	}
}

// TestNodes holds that the nodes are kept when they change, and not forgotten by an API that lists none.
func TestNodes(t *testing.T) {
	r := room(t)
	one := []addr.Candidate{{Name: "m0", InternalIPs: []netip.Addr{ip("192.0.2.11")}}}
	for _, nodes := range [][]addr.Candidate{nil, one, one, nil, append(one, addr.Candidate{Name: "m1"})} {
		r.h.nodes = nodes
		if err := r.round(t); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.h.keptNodes) != 2 || len(r.h.keptNodes[1]) != 2 {
		t.Errorf("kept %v", r.h.keptNodes)
	}
}

// TestBoth holds that beside VRRP a VIP is announced from when keepalived holds it, which another host of the
// link may keep it from, and that it is until the handover.
func TestBoth(t *testing.T) {
	api := ip("192.0.2.5")
	r := room(t, func(c *spec.Cluster) {
		c.Routing.Management = routing.Both
		c.APIVIPs, c.IngressVIPs, c.DNSVIP = []netip.Addr{api}, []netip.Addr{ip("192.0.2.6")}, netip.Addr{}
	})
	lo := addr.Link{Index: 1, Name: "lo", Up: true, Addresses: []addr.Address{{Prefix: netip.PrefixFrom(api, 32)}}}
	for _, tt := range []struct {
		name   string
		links  addr.Snapshot
		wished []netip.Addr
	}{
		{"not held", bootvip.Links("192.0.2.10/24"), nil},
		{"on the loopback interface alone", addr.Snapshot{Links: append(bootvip.Links("192.0.2.10/24").Links, lo)}, nil},
		{"held", bootvip.Links("192.0.2.10/24", "192.0.2.5/32"), []netip.Addr{api}},
		{"released before this room knows why", bootvip.Links("192.0.2.10/24"), []netip.Addr{api}},
	} {
		r.up(time.Minute)
		r.h.links = tt.links
		if err := r.round(t); err != nil || !slices.Equal(r.h.wished(), tt.wished) || tt.wished == nil && !strings.Contains(r.n.status, "keepalived of this machine does not hold it") {
			t.Errorf("%s: wished %v, %q, %v", tt.name, r.h.wished(), r.n.status, err)
		}
	}
}
