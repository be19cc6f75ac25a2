package clash

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/advert"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func ip(text string) netip.Addr { return netip.MustParseAddr(text) }

var begin = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// node is an instance of a cluster's three nodes 192.0.2.11 to 13 on the first of them.
func node(change func(*Instance)) Instance {
	i := Instance{
		Name:     "one_API_0",
		Link:     "ens3",
		ID:       30,
		Version:  vrrp.V3,
		Interval: 100 * time.Millisecond,
		VIP:      ip("192.0.2.5"),
		Own:      ip("192.0.2.11"),
		Unicast:  true,
		Members:  []netip.Addr{ip("192.0.2.11"), ip("192.0.2.12"), ip("192.0.2.13")},
	}
	if change != nil {
		change(&i)
	}
	return i
}

// line is the adverts of a host, from one time to another in its interval.
type line struct {
	from, to time.Duration
	address  string
	change   func(*Received)
}

func (l line) adverts() (out []Received) {
	h := Received{
		Link: "ens3",
		MAC:  "mac of " + l.address,
		Advert: advert.Advert{
			From:     ip(l.address),
			To:       ip("192.0.2.11"),
			Hops:     255,
			Version:  vrrp.V3,
			ID:       30,
			Priority: 150,
			Interval: 100 * time.Millisecond,
			VIPs:     []netip.Addr{ip("192.0.2.5")},
			Sound:    true,
		},
	}
	if l.change != nil {
		l.change(&h)
	}
	for at := l.from; at <= l.to; at += max(h.Advert.Interval, 10*time.Millisecond) {
		h.At = begin.Add(at)
		out = append(out, h)
	}
	return out
}

func foreign(h *Received) { h.Advert.VIPs = []netip.Addr{ip("192.0.2.77")} }

// receive passes the adverts of lines to an observer in the order of time.
func receive(e *Observer, lines ...line) {
	var all []Received
	for _, l := range lines {
		all = append(all, l.adverts()...)
	}
	slices.SortStableFunc(all, func(a, b Received) int { return a.At.Compare(b.At) })
	for _, h := range all {
		e.Receive(h)
	}
}

func brief(all []Finding) (out []string) {
	for _, f := range all {
		text := fmt.Sprintf("%s %s", f.Kind, f.Sender.Address)
		if f.Better.Address.IsValid() {
			text += " beside " + f.Better.Address.String()
		}
		out = append(out, text)
	}
	return out
}

func TestFindings(t *testing.T) {
	second := time.Second
	for _, tt := range []struct {
		name  string
		i     Instance
		self  *[2]time.Duration // holds from, to; with priority 170
		lines []line
		at    time.Duration
		want  []string
	}{
		{"no advert arrives", node(nil), nil, nil, second, nil},
		{"a healthy holder", node(nil), nil, []line{{0, second, "192.0.2.12", nil}}, second, nil},
		{"this host holds it", node(nil), &[2]time.Duration{0, 10 * second}, nil, second, nil},
		{"a foreign router by its first advert", node(nil), nil, []line{{0, 0, "192.0.2.99", foreign}}, 0, []string{"foreign-router 192.0.2.99"}},
		{"a foreign router of version 2", node(nil), nil, []line{{0, 0, "192.0.2.99", func(h *Received) { foreign(h); h.Advert.Version = vrrp.V2 }}}, 0, []string{"foreign-router 192.0.2.99"}},
		{"a foreign router that releases its VIP", node(nil), nil, []line{{0, 0, "192.0.2.99", func(h *Received) { foreign(h); h.Advert.Priority = 0 }}}, 0, []string{"foreign-router 192.0.2.99"}},
		{"a foreign router is remembered", node(nil), nil, []line{{0, 0, "192.0.2.99", foreign}}, time.Minute, []string{"foreign-router 192.0.2.99"}},
		{"and forgotten", node(nil), nil, []line{{0, 0, "192.0.2.99", foreign}}, time.Minute + 1, nil},
		{"but a slow one is slow", node(nil), nil, []line{{0, 0, "192.0.2.99", func(h *Received) { foreign(h); h.Advert.Interval = 40 * second }}}, 2 * time.Minute, []string{"foreign-router 192.0.2.99"}},
		{"another ID", node(nil), nil, []line{{0, second, "192.0.2.99", func(h *Received) { foreign(h); h.Advert.ID = 31 }}}, second, nil},
		{"another link", node(nil), nil, []line{{0, second, "192.0.2.99", func(h *Received) { foreign(h); h.Link = "ens4" }}}, second, nil},
		{"the other family", node(nil), nil, []line{{0, second, "fe80::9", func(h *Received) { h.Advert.VIPs = []netip.Addr{ip("2001:db8::5")} }}}, second, nil},
		{"a damaged one", node(nil), nil, []line{{0, second, "192.0.2.99", func(h *Received) { foreign(h); h.Advert.Sound = false }}}, second, nil},
		{"one from beyond a router", node(nil), nil, []line{{0, second, "192.0.2.99", func(h *Received) { foreign(h); h.Advert.Hops = 254 }}}, second, nil},
		{"an unknown router at our VIP", node(nil), nil, []line{{0, second, "192.0.2.99", nil}}, second, []string{"stranger 192.0.2.99"}},
		{"twice is chance", node(nil), nil, []line{{0, 100 * time.Millisecond, "192.0.2.99", nil}}, 100 * time.Millisecond, nil},
		{"the members are not known", node(func(i *Instance) { i.Members = nil }), nil, []line{{0, second, "192.0.2.99", nil}}, second, nil},
		{"a member of another version", node(nil), nil, []line{{0, 2 * second, "192.0.2.12", func(h *Received) { h.Advert.Version = vrrp.V2; h.Advert.Interval = second }}}, 2 * second, []string{"version 192.0.2.12"}},
		{"a member of another interval", node(nil), nil, []line{{0, 2 * second, "192.0.2.12", func(h *Received) { h.Advert.Interval = second }}}, 2 * second, []string{"interval 192.0.2.12"}},
		{"a handover", node(nil), nil, []line{{0, second, "192.0.2.12", nil}, {second - 50*time.Millisecond, 2 * second, "192.0.2.13", nil}}, 1100 * time.Millisecond, nil},
		{"a handover from this host", node(nil), &[2]time.Duration{0, second}, []line{{second - 50*time.Millisecond, 2 * second, "192.0.2.13", nil}}, 2 * second, nil},
		{"a handover to this host", node(nil), &[2]time.Duration{second, 5 * second}, []line{{0, second, "192.0.2.13", nil}}, 1200 * time.Millisecond, nil},
		{"one does not receive this host's adverts", node(nil), &[2]time.Duration{0, 5 * second}, []line{{second, 2 * second, "192.0.2.13", nil}}, 2 * second, []string{"one-way 192.0.2.13 beside 192.0.2.11"}},
		{"this host is not the better one", node(nil), &[2]time.Duration{0, 5 * second}, []line{{second, 2 * second, "192.0.2.13", func(h *Received) { h.Advert.Priority = 180 }}}, 2 * second, []string{"one-way 192.0.2.11 beside 192.0.2.13"}},
		{"equals go by the address", node(nil), &[2]time.Duration{0, 5 * second}, []line{{second, 2 * second, "192.0.2.13", func(h *Received) { h.Advert.Priority = 170 }}}, 2 * second, []string{"one-way 192.0.2.11 beside 192.0.2.13"}},
		{"two others", node(nil), nil, []line{{0, 2 * second, "192.0.2.12", nil}, {second, 2 * second, "192.0.2.13", nil}}, 2 * second, []string{"one-way 192.0.2.12 beside 192.0.2.13"}},
		{"two others in multicast", node(func(i *Instance) { i.Unicast = false }), nil, []line{{0, 2 * second, "192.0.2.12", nil}, {second, 2 * second, "192.0.2.13", nil}}, 2 * second, []string{"two-holders 192.0.2.12 beside 192.0.2.13"}},
		{"two of two versions", node(nil), &[2]time.Duration{0, 5 * second}, []line{{0, 4 * second, "192.0.2.13", func(h *Received) { h.Advert.Version = vrrp.V2; h.Advert.Interval = second }}}, 4 * second,
			[]string{"version 192.0.2.13", "two-holders 192.0.2.13 beside 192.0.2.11"}},
		{"two, and one goes", node(nil), nil, []line{{0, 2 * second, "192.0.2.12", nil}, {second, 3 * second, "192.0.2.13", nil}}, 3 * second, nil},
		{"two, and one releases the VIP", node(nil), nil, []line{{0, 2 * second, "192.0.2.12", nil}, {second, 2 * second, "192.0.2.13", nil},
			{2*second + 1, 2*second + 1, "192.0.2.12", func(h *Received) { h.Advert.Priority = 0 }}}, 2*second + 2, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := NewObserver()
			e.Expect([]Instance{tt.i})
			if tt.self != nil {
				e.Self(tt.i.Name, true, 170, begin.Add(tt.self[0]))
				e.Self(tt.i.Name, tt.at < tt.self[1], 170, begin.Add(min(tt.at, tt.self[1])))
			}
			receive(e, tt.lines...)
			if got := brief(e.Findings(begin.Add(tt.at))); !slices.Equal(got, tt.want) {
				t.Errorf("found %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFinding_String holds that a foreign router is named by all that its owner can find it by, and
// that the text has what to do.
func TestFinding_String(t *testing.T) {
	e := NewObserver()
	e.Expect([]Instance{node(nil)})
	receive(e, line{0, 0, "192.0.2.99", func(h *Received) {
		foreign(h)
		h.Advert.Version, h.Advert.Interval, h.MAC = vrrp.V2, time.Second, "52:54:00:00:00:63"
	}})
	want := Finding{
		Kind:       Foreign,
		Instance:   "one_API_0",
		Link:       "ens3",
		ID:         30,
		VIP:        ip("192.0.2.5"),
		Sender:     Host{ip("192.0.2.99"), "52:54:00:00:00:63"},
		Version:    vrrp.V2,
		IntervalMs: 1000,
		Priority:   150,
		VIPs:       []netip.Addr{ip("192.0.2.77")},
		Last:       begin,
	}
	got := e.Findings(begin)
	if len(got) != 1 || !reflect.DeepEqual(got[0], want) {
		t.Fatalf("found %+v\nwant %+v", got, want)
	}
	text := "192.0.2.99 (52:54:00:00:00:63) on ens3 has the virtual router ID 30 of 192.0.2.5 (one_API_0) for 192.0.2.77 (VRRPv2, priority 150, every 1s): give one of the two another ID"
	if got[0].String() != text {
		t.Errorf("text %q", got[0])
	}
	for _, k := range []Kind{UnknownRouter, Version, Interval, OneWay, Holders, Duplicate} {
		f := want
		if f.Kind = k; k == Duplicate {
			f.Sender.Address = netip.Addr{}
		}
		if s := f.String(); !strings.Contains(s, "52:54:00:00:00:63") ||
			!strings.Contains(s, "192.0.2.5 (one_API_0)") ||
			strings.Contains(s, "invalid") {
			t.Errorf("%s text %q", k, s)
		}
	}
}

// TestDuplicate holds that only a VIP's holder may answer for it, once the holder is known, for
// longer than a handover.
func TestDuplicate(t *testing.T) {
	holder := line{0, 5 * time.Second, "192.0.2.12", nil}
	for _, tt := range []struct {
		name  string
		self  bool
		lines []line
		macs  []string // that answer, one a second
		late  time.Duration
		want  bool
	}{
		{"no host answers", false, []line{holder}, nil, 0, false},
		{"the holder", false, []line{holder}, []string{"mac of 192.0.2.12", "mac of 192.0.2.12", "mac of 192.0.2.12"}, 0, false},
		{"another", false, []line{holder}, []string{"other", "other", "other"}, 0, true},
		{"another, of two that alternate", false, []line{holder}, []string{"other", "mac of 192.0.2.12", "other"}, 0, false},
		{"this host holds it, and its kernel still knows the former holder", true, nil, []string{"other", "other", "other"}, 0, false},
		{"the former holder, before the VIP moved", false, []line{{0, 2100 * time.Millisecond, "192.0.2.13", func(h *Received) { h.MAC = "other" }}, {2200 * time.Millisecond, 5 * time.Second, "192.0.2.12", nil}},
			[]string{"other", "other", "other"}, 0, false},
		{"the former holder still", false, []line{{0, 100 * time.Millisecond, "192.0.2.13", func(h *Received) { h.MAC = "other" }}, {200 * time.Millisecond, 5 * time.Second, "192.0.2.12", nil}},
			[]string{"other", "other", "other", "other"}, 0, true},
		{"no holder is known", false, nil, []string{"other", "other", "other"}, 0, false},
		{"long ago", false, []line{{0, time.Hour + 5*time.Second, "192.0.2.12", nil}}, []string{"other", "other", "other"}, time.Hour, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := NewObserver()
			e.Expect([]Instance{node(nil)})
			e.Self("one_API_0", tt.self, 100, begin)
			receive(e, tt.lines...)
			for i, mac := range tt.macs {
				e.Answer("ens3", ip("192.0.2.5"), mac, begin.Add(time.Duration(i)*time.Second))
			}
			e.Answer("ens4", ip("192.0.2.5"), "of another link", begin)
			got := e.Findings(begin.Add(5*time.Second + tt.late))
			if found := len(got) == 1 && got[0].Kind == Duplicate && got[0].Sender.MAC == "other"; found != tt.want ||
				!found && len(got) > 0 {
				t.Errorf("found %+v", got)
			}
		})
	}
}

// TestMay holds that by the policy refuse a clash keeps an instance from starting for the first
// time, and never a later time.
func TestMay(t *testing.T) {
	clash := []line{{0, 0, "192.0.2.99", foreign}}
	for _, tt := range []struct {
		name    string
		policy  Policy
		started bool
		lines   []line
		at      time.Duration
		want    bool
		why     string
	}{
		{"report does not wait", Report, false, nil, 0, true, ""},
		{"report starts beside a clash", Report, false, clash, 0, true, ""},
		{"refuse listens first", Refuse, false, nil, ListenTime - 1, false, "listens on ens3 first for other routers with the ID 30"},
		{"refuse starts when it has listened", Refuse, false, nil, ListenTime, true, ""},
		{"refuse keeps out", Refuse, false, clash, 2 * ListenTime, false, "192.0.2.99 (mac of 192.0.2.99) on ens3 has the virtual router ID 30"},
		{"until the other one has gone", Refuse, false, clash, time.Minute + 1, true, ""},
		{"what has started starts again", Refuse, true, clash, 0, true, ""},
		{"our own cluster is no clash", Refuse, false, []line{{0, 4 * time.Second, "192.0.2.12", nil}}, 4 * time.Second, true, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := NewObserver()
			receive(e, tt.lines...)
			got, why := e.Snapshot(map[string]time.Time{"ens3": begin}, begin.Add(tt.at)).May(tt.policy,
				node(nil), tt.started)
			if got != tt.want || !strings.Contains(why, tt.why) || got != (why == "") {
				t.Errorf("%t, %q", got, why)
			}
		})
	}
}

// TestMay_NotListening holds that a host which does not listen on a link starts nothing there that
// must not be beside another.
func TestMay_NotListening(t *testing.T) {
	snapshot := NewObserver().Snapshot(map[string]time.Time{"ens4": begin}, begin.Add(time.Hour))
	if ok, why := snapshot.May(Refuse, node(nil), false); ok ||
		!strings.Contains(why, "does not listen on ens3 yet") {
		t.Errorf("%t, %q", ok, why)
	}
}

// TestSnapshot_Stays holds that later adverts and changes of since do not change a snapshot.
func TestSnapshot_Stays(t *testing.T) {
	e, since := NewObserver(), map[string]time.Time{"ens3": begin}
	snapshot := e.Snapshot(since, begin.Add(ListenTime))
	receive(e, line{0, 0, "192.0.2.99", foreign})
	delete(since, "ens3")
	if ok, why := snapshot.May(Refuse, node(nil), false); !ok {
		t.Error(why)
	}
}

// TestManyVIPs holds that a router which announces whatever it likes makes no long line.
func TestManyVIPs(t *testing.T) {
	f := Finding{Kind: Foreign, VIPs: make([]netip.Addr, maxVIPs)}
	if text := f.String(); !strings.Contains(
		text, "for invalid IP, invalid IP, invalid IP, invalid IP and 28 more (") {
		t.Error(text)
	}
}

// TestFree holds that a foreign router is named with an ID that no router of the link has.
func TestFree(t *testing.T) {
	e := NewObserver()
	ours := node(func(i *Instance) { i.Kind = vrrp.API })
	e.Expect([]Instance{ours})
	e.Have(map[vrrp.Kind]vrrp.ID{vrrp.API: 30, vrrp.Ingress: 31}) // of another election
	receive(e, line{0, 0, "192.0.2.99", foreign},
		line{0, 0, "192.0.2.99", func(h *Received) { h.Advert.ID = 32 }})
	got := e.Findings(begin)
	if len(got) != 1 || got[0].Free != 33 ||
		!strings.Contains(
			got[0].String(), "give one of the two another ID, such as 33, by vrids: {api: 33}") {
		t.Errorf("%+v", got)
	}
}

// TestExpectAnew holds that members which change their version and interval at the same moment as
// this host are not reported for their earlier adverts.
func TestExpectAnew(t *testing.T) {
	e := NewObserver()
	slow := func(i *Instance) { i.Version, i.Interval = vrrp.V2, time.Second }
	e.Expect([]Instance{node(slow)})
	former := func(h *Received) { h.Advert.Version, h.Advert.Interval = vrrp.V2, time.Second }
	receive(e, line{0, 5 * time.Second, "192.0.2.12", former})
	e.Expect([]Instance{node(nil)})
	if got := e.Findings(begin.Add(5*time.Second + 10*time.Millisecond)); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	receive(e, line{6 * time.Second, 9 * time.Second, "192.0.2.12", former})
	if got := brief(e.Findings(begin.Add(9 * time.Second))); !slices.Equal(
		got, []string{"version 192.0.2.12"}) {
		t.Errorf("found %v of one that goes on as before", got)
	}
}

// TestExpectLeft holds that a former member, such as the bootstrap machine, is not an unknown router
// by its earlier adverts, and is one if it continues.
func TestExpectLeft(t *testing.T) {
	// the members were not known yet, or it was one of them
	for _, before := range [][]netip.Addr{nil, append(node(nil).Members, ip("192.0.2.10"))} {
		left(t, before)
	}
}

func left(t *testing.T, members []netip.Addr) {
	e := NewObserver()
	e.Expect([]Instance{node(func(i *Instance) { i.Members = members })})
	receive(e, line{0, 5 * time.Second, "192.0.2.10", nil})
	e.Expect([]Instance{node(nil)})
	if got := e.Findings(begin.Add(5*time.Second + 10*time.Millisecond)); len(got) > 0 {
		t.Errorf("found %v", got)
	}
	receive(e, line{5100 * time.Millisecond, 9 * time.Second, "192.0.2.10", nil})
	if got := brief(e.Findings(begin.Add(9 * time.Second))); !slices.Contains(
		got, "stranger 192.0.2.10") {
		t.Errorf("found %v of one that goes on", got)
	}
}

// TestState holds that other programs read the state that a host writes.
func TestState(t *testing.T) {
	e := NewObserver()
	e.Expect([]Instance{node(nil)})
	late := func(h *Received) { h.Advert.Interval = 90 * time.Millisecond }
	for n := range 200 { // each 10 ms later than its interval
		at := time.Duration(n) * 100 * time.Millisecond
		receive(e, line{at, at, "192.0.2.12", late})
	}
	receive(e, line{0, 0, "192.0.2.99", foreign})
	now := begin.Add(20 * time.Second)
	want := State{
		At: now, Since: map[string]time.Time{"ens3": begin},
		Failed: map[string]string{"ens4": "it is down"}, Findings: e.Findings(now),
		Routers: []Router{
			{
				Instance:   "one_API_0",
				Host:       Host{ip("192.0.2.12"), "mac of 192.0.2.12"},
				Priority:   150,
				Version:    vrrp.V3,
				IntervalMs: 90,
				Last:       begin.Add(19900 * time.Millisecond),
				Holds:      true,
			},
		},
		Elections: []Election{
			{
				Instance: "one_API_0",
				Unicast:  true,
				Own:      ip("192.0.2.11"),
				Members:  node(nil).Members,
			},
		},
	}
	got, err := DecodeState(EncodeState(e.State(want.Since, want.Failed, now)))
	if err != nil || len(got.Routers) != 1 || got.Routers[0].JitterMs < 9.9 ||
		got.Routers[0].JitterMs > 10 {
		t.Fatalf("%+v, %v", got, err)
	}
	got.Routers[0].JitterMs = 0
	if len(got.Findings) != 2 || !reflect.DeepEqual(got, want) {
		t.Errorf("read\n%+v\nwant\n%+v", got, want)
	}
	if empty := string(EncodeState(NewObserver().State(nil, nil, now))); empty != `{"at":"2026-01-02T03:04:25Z","since":{},"findings":[],"speakers":[],"elections":[]}`+"\n" {
		t.Error(empty)
	}
}

// TestOthers holds that of a virtual router which is none of ours little is remembered.
func TestOthers(t *testing.T) {
	e := NewObserver()
	e.Expect([]Instance{node(nil)})
	for n := range 100 {
		receive(e, line{0, 0, fmt.Sprintf("198.51.100.%d", n+1), func(h *Received) { h.Advert.ID = 40 }})
	}
	if kept := e.routers[group{"ens3", true, 40}]; len(kept) != maxOthers {
		t.Errorf("%d are remembered", len(kept))
	}
}

// TestListenTime holds that three adverts of a router with an interval of a second arrive before an
// instance starts.
func TestListenTime(t *testing.T) {
	if ListenTime < 3*time.Second || ListenTime > 3732*time.Millisecond {
		t.Errorf("%v: three adverts take 3 s, and keepalived itself listens for 3.73 s", ListenTime)
	}
}

func TestPropose(t *testing.T) {
	e := NewObserver()
	for id := range 4 {
		receive(e, line{0, 0, "192.0.2.99", func(h *Received) { h.Advert.ID = vrrp.ID(30 + id) }})
	}
	receive(e, line{0, 0, "fe80::9", func(h *Received) { h.Advert.ID, h.Advert.Hops = 35, 64 }},
		line{0, 0, "192.0.2.99", func(h *Received) { h.Advert.ID, h.Link = 36, "ens4" }})
	taken := e.Taken("ens3", begin)
	if want := []vrrp.ID{30, 31, 32, 33, 35}; !slices.Equal(taken, want) {
		t.Fatalf("taken %v, want %v", taken, want)
	}
	if late := e.Taken("ens3", begin.Add(time.Hour)); len(late) > 0 {
		t.Errorf("taken an hour later: %v", late)
	}
	var most []vrrp.ID
	for id := 1; id < 256; id++ {
		most = append(most, vrrp.ID(id))
	}
	type ids = map[vrrp.Kind]vrrp.ID
	for _, tt := range []struct {
		name            string
		have            ids
		clashing, taken []vrrp.ID
		want            ids
	}{
		{"no clash", ids{"api": 9, "ingress": 10}, nil, taken, ids{}},
		{"one", ids{"api": 30, "ingress": 10}, []vrrp.ID{30}, taken, ids{"api": 34}},
		{"not the cluster's other one", ids{"api": 30, "ingress": 34}, []vrrp.ID{30}, taken, ids{"api": 36}},
		{"both", ids{"api": 30, "ingress": 31}, []vrrp.ID{30, 31}, taken, ids{"api": 34, "ingress": 36}},
		{"after 255 comes 1", ids{"api": 255, "ingress": 1}, []vrrp.ID{255}, []vrrp.ID{255}, ids{"api": 2}},
		{"none is left", ids{"api": 30}, []vrrp.ID{30}, most, ids{}},
	} {
		if got := Propose(tt.have, tt.clashing, tt.taken); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestBounded holds that memory is bounded whatever is sent, and that a router which continues is
// not forgotten.
func TestBounded(t *testing.T) {
	e := NewObserver()
	e.Expect([]Instance{node(nil)})
	for n := range 10_000 {
		at := time.Duration(n) * time.Millisecond
		from := fmt.Sprintf("198.51.%d.%d", n/250%250, n%250+1)
		many := func(h *Received) { h.Advert.VIPs = make([]netip.Addr, 255) }
		receive(e, line{at, at, from, many})
		if n%5 == 0 {
			receive(e, line{at, at, "192.0.2.99", foreign})
		}
	}
	kept := e.routers[node(nil).group()]
	if len(kept) != maxRouters || kept[ip("192.0.2.99")] == nil ||
		kept[ip("192.0.2.99")].count != 2000 {
		t.Errorf("%d are remembered: %+v", len(kept), kept[ip("192.0.2.99")])
	}
	for from, s := range kept {
		if cap(s.advert.VIPs) > 2*maxVIPs {
			t.Errorf("room for %d addresses of %s", cap(s.advert.VIPs), from)
		}
	}
}

// TestMembersAreKept holds that adverts of ever new hosts do not displace the cluster's members.
func TestMembersAreKept(t *testing.T) {
	e := NewObserver()
	e.Expect([]Instance{node(nil)})
	lines := []line{
		{0, 2 * time.Second, "192.0.2.12", nil},
		{0, 2 * time.Second, "192.0.2.13", nil},
	}
	for n := range 2000 {
		at := time.Duration(n) * time.Millisecond
		lines = append(lines, line{at, at, fmt.Sprintf("198.51.%d.%d", n/250, n%250+1), foreign})
	}
	receive(e, lines...)
	for _, member := range []string{"192.0.2.12", "192.0.2.13"} {
		if s := e.routers[node(nil).group()][ip(member)]; s == nil || s.count != 21 {
			t.Errorf("of %s is known %+v", member, s)
		}
	}
}

// TestHeldBefore holds that an earlier holding does not count if this host left the group meanwhile.
func TestHeldBefore(t *testing.T) {
	e := NewObserver()
	e.Expect([]Instance{node(nil)})
	e.Self("one_API_0", true, 170, begin)
	e.Expect(nil) // its link has gone
	e.Expect([]Instance{node(nil)})
	receive(e, line{time.Minute, time.Minute + time.Second, "192.0.2.12", nil})
	now := begin.Add(time.Minute + 1050*time.Millisecond)
	e.Self("one_API_0", true, 170, now)
	if got := e.Findings(now); len(got) > 0 {
		t.Errorf("found %v of a holder that has just followed upon another", got)
	}
}

// TestState_Routers holds that only routers that announce the VIP are listed.
func TestState_Routers(t *testing.T) {
	e := NewObserver()
	e.Expect([]Instance{node(nil)})
	receive(e, line{0, time.Second, "192.0.2.12", nil}, line{0, 0, "192.0.2.99", foreign})
	got := e.State(nil, nil, begin.Add(time.Second)).Routers
	if len(got) != 1 || got[0].Host != (Host{ip("192.0.2.12"), "mac of 192.0.2.12"}) ||
		!got[0].Last.Equal(begin.Add(time.Second)) {
		t.Errorf("%+v", got)
	}
}

func TestReach(t *testing.T) {
	if a, b := Reach(true), Reach(false); a == b ||
		!strings.Contains(a, "do not disturb this cluster") ||
		!strings.Contains(b, "receive this cluster's adverts") {
		t.Errorf("%q\n%q", a, b)
	}
}
