package routed_test

import (
	"context"
	"errors"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/host/bgpprobe"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/routed"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// questions are those that routers were asked.
type questions struct {
	mu             sync.Mutex
	asked, reached []bgpprobe.Question
}

func (q *questions) add(to *[]bgpprobe.Question, one bgpprobe.Question) {
	q.mu.Lock()
	defer q.mu.Unlock()
	*to = append(*to, one)
}

// rival is another program's session with a router.
func rival(router netip.Addr, from string) facts.Socket {
	return facts.Socket{Network: "tcp", Port: 179, Router: router, From: netip.MustParseAddr(from)}
}

// node is 192.0.2.11, which announces VIPs, or will.
func node(t *testing.T, live bool, change func(*spoken.Config, *spoken.Wish, *spoken.Status)) (routed.Inspector, *questions) {
	t.Helper()
	p := fakehost.RoutedPlan(t)
	files := map[string]string{}
	if live {
		files = fakehost.Announcer(p, change)
	}
	host, q := fakehost.New(t, p, files), &questions{}
	i := routed.Inspector{Host: host, Scope: inspect.Scope{Plan: p, Files: host.Files, Live: live, Rooms: host.Files.Rooms(p), Unseen: &inspect.Unseen{}}}
	i.Scope.Host.Links = fakehost.Links("192.0.2.11/24")
	i.Scope.Host.Links.Routes = []addr.Route{{Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.0.2.254")}}
	reads := 0
	i.Probes = routed.Probes{
		Alive: func(context.Context, uint16, string) error { return nil },
		Ask: func(_ context.Context, one bgpprobe.Question) message.Answer {
			q.add(&q.asked, one)
			return message.Answer{Outcome: message.Accepted}
		},
		Connect: func(_ context.Context, one bgpprobe.Question) message.Answer {
			q.add(&q.reached, one)
			return message.Answer{Outcome: message.Silent}
		},
		Echo:    func(_, _ netip.Addr, bytes int) (bool, error) { return bytes < 1500, nil },
		MTU:     func(string) int { return 1500 },
		Sockets: func() ([]facts.Socket, error) { return []facts.Socket{{Network: "udp", Port: 3784}}, nil },
		Sessions: func(router netip.Addr) ([]facts.Socket, error) {
			return []facts.Socket{rival(router, "192.0.2.11")}, nil
		},
		Drops: func() (facts.Drops, error) {
			reads++
			return facts.Drops{TTL: uint64(10 * reads), Unsigned: 7}, nil
		},
		Filter:   func(string) (int, error) { return 1, nil },
		UsedDown: func(link string) (bool, error) { return link == "ens3", nil },
		Sources: func() ([]facts.Source, error) {
			return []facts.Source{{VIP: p.VIPs.API[0], Route: "default"}, {VIP: netip.MustParseAddr("192.0.2.11"), Route: "192.0.2.0/24"}}, nil
		},
	}
	return i, q
}

// TestRouted_Plain holds that the routers of the host's rack are asked for a session with what they
// would be asked for by a speaker.
func TestRouted_Plain(t *testing.T) {
	i, q := node(t, false, nil)
	i.Passwords = map[string]secret.Text{"192.0.2.2": secret.New("s3cret")}
	i.Plan.BGP.Racks[0].Peers[1].TTLSecurity = true
	i.Plan.BGP.Racks[0].Peers[1].Source.Prefix = netip.MustParsePrefix("192.0.2.12/32") // beside the other program's session
	f := i.Routed(t.Context())
	slices.SortFunc(q.asked, func(a, b bgpprobe.Question) int { return a.Router.Compare(b.Router) })
	own := message.Open{ASN: 64512, Hold: 9, Router: netip.MustParseAddr("192.0.2.11")}
	if len(q.asked) != 2 || len(q.reached) != 0 || q.asked[0].Own != own || q.asked[0].ASN != 65101 || !q.asked[0].Password.Empty() ||
		q.asked[1].Password.Reveal() != "s3cret" || !q.asked[1].TTLSecurity || len(i.Unseen.List()) > 0 {
		t.Errorf("%+v, unseen %q", q, i.Unseen.List())
	}
	want := &facts.Routed{
		Rack:  "192.0.2.0/24",
		Asked: []facts.Asked{{Router: "192.0.2.1", Answer: message.Answer{Outcome: message.Accepted}}, {Router: "192.0.2.2", Answer: message.Answer{Outcome: message.Accepted}}},
		Paths: []facts.Path{{Router: "192.0.2.1", Link: "ens3", Full: 1500}, {Router: "192.0.2.2", Link: "ens3", Full: 1500}}, Others: []facts.Socket{{Network: "udp", Port: 3784}, rival(netip.MustParseAddr("192.0.2.1"), "192.0.2.11")},
		Uplinks: []facts.Uplink{{Link: "ens3", Filter: 1, UsedDown: true}}, Sources: []facts.Source{{VIP: i.Plan.VIPs.API[0], Route: "default"}},
	}
	if !reflect.DeepEqual(f, want) {
		t.Errorf("%+v\nwant %+v", f, want)
	}
	i, q = node(t, false, nil)
	i.Plan.BGP.Racks[0].Peers = nil
	i.Scope.Host.Links.Routes = append(i.Scope.Host.Links.Routes,
		addr.Route{Destination: netip.MustParsePrefix("0.0.0.0/0"), Gateway: netip.MustParseAddr("192.0.2.253"), Metric: 100},
		addr.Route{Destination: netip.MustParsePrefix("::/0"), Gateway: netip.MustParseAddr("2001:db8::1")})
	if i.Routed(t.Context()); len(q.asked) != 1 || q.asked[0].Router != netip.MustParseAddr("192.0.2.254") {
		t.Errorf("the gateways that the speaker has sessions with: %+v", q.asked)
	}
	i, q = node(t, false, nil)
	other := i.Plan.BGP.Racks[0]
	other.Name, other.Network, other.Timing.BFDIntervalMs = "b", netip.Prefix{}, 0
	other.Timing.HoldS = 90
	i.Plan.BGP.Racks, i.Plan.BGP.Timing = append(i.Plan.BGP.Racks, other), other.Timing
	if f := i.Routed(t.Context()); f.NoBFD {
		t.Error("another rack has sessions without BFD, and this host's has not")
	}
	if hold := q.asked[0].Own.Hold; hold != 9 {
		t.Errorf("asked with another rack's hold time, %d s", hold)
	}
	i.Plan.BGP.Racks[0].Timing.BFDIntervalMs = 0
	if f := i.Routed(t.Context()); !f.NoBFD {
		t.Error("the host's rack has sessions without BFD")
	}
	i, q = node(t, false, nil)
	i.Scope.Host.Links = fakehost.Links("192.0.2.11/24", "10.9.0.11/24")
	i.Plan.BGP.Racks[0].Peers[0].Source.Prefix, i.Plan.BGP.Racks[0].Peers[1].Source.Prefix = netip.MustParsePrefix("10.9.0.0/24"), netip.MustParsePrefix("10.8.0.0/24")
	if i.Routed(t.Context()); len(q.asked) != 1 || q.asked[0].Source != netip.MustParseAddr("10.9.0.11") || len(i.Unseen.List()) != 1 {
		t.Errorf("its own ends in networks: %+v, unseen %q", q.asked, i.Unseen.List())
	}
	i, q = node(t, false, nil)
	i.Plan.BGP.Racks[0].Peers[0].Interface = "ens3"
	if i.Routed(t.Context()); len(q.asked) != 1 || len(i.Unseen.List()) != 1 {
		t.Errorf("without a number: %+v, unseen %q", q.asked, i.Unseen.List())
	}
	i, q = node(t, false, nil)
	i.Scope.Host.Links = fakehost.Links("203.0.113.1/24")
	if f := i.Routed(t.Context()); len(q.asked) != 0 || !strings.Contains(f.NoRack, "203.0.113.1") {
		t.Errorf("in no rack: %+v, %+v", q.asked, f)
	}
	i, _ = node(t, false, nil)
	if i.Plan.BGP = nil; i.Routed(t.Context()) != nil {
		t.Error("by VRRP alone")
	}
}

// TestRouted_Live holds that of a host with a speaker only routers without a session are asked, for no
// more than a connection, and that the kernel's counters are compared then.
func TestRouted_Live(t *testing.T) {
	i, q := node(t, true, nil)
	i.Scope.Host.Remote = true // no VIP is in a network of the host, which does not count to routers
	f := i.Routed(t.Context())
	if len(q.asked)+len(q.reached) > 0 || f.Report == nil || len(f.Report.Routers) != 2 || f.Drops != (facts.Drops{}) || f.Fault != "" || f.Passwords != nil {
		t.Errorf("%+v, %+v", q, f)
	}
	i, q = node(t, true, func(_ *spoken.Config, _ *spoken.Wish, s *spoken.Status) {
		s.Sessions[1] = spoken.Session{Peer: "192.0.2.2", State: "Active"}
	})
	fakehost.Write(t, i.Files, map[string]string{spoken.PasswordsFile: "192.0.2.2 s3cret\n192.0.2.9 s3cret\n198.51.100.9 s3cret\n"})
	i.Alive = func(context.Context, uint16, string) error { return errors.New("refused") }
	f = i.Routed(t.Context())
	if len(q.asked) > 0 || len(q.reached) != 1 || q.reached[0].Router != netip.MustParseAddr("192.0.2.2") || q.reached[0].Password.Reveal() != "s3cret" ||
		f.Drops != (facts.Drops{TTL: 10}) || f.Fault != "refused" {
		t.Errorf("%+v, %+v", q, f)
	}
	if p := f.Passwords; p == nil || p.Mode.Perm() != 0o644 || !slices.Equal(p.Unknown, []string{"192.0.2.9", "198.51.100.9"}) || p.Fault != "" {
		t.Errorf("%+v", p)
	}
	i.Plan.BGP.Racks[0].Peers = nil // its gateways are in its network
	if p := i.Routed(t.Context()).Passwords; p == nil || !slices.Equal(p.Unknown, []string{"198.51.100.9"}) {
		t.Errorf("of gateways: %+v", p)
	}
	fakehost.Write(t, i.Files, map[string]string{spoken.PasswordsFile: "s3cret\n"})
	if p := i.Routed(t.Context()).Passwords; p == nil || !strings.Contains(p.Fault, "line 1") || strings.Contains(p.Fault, "s3cret") {
		t.Errorf("%+v", p)
	}
}
