package doctor

import (
	"net/netip"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/bgp/message"
	"github.com/onprem-infra/onprem-infra/shared/operator/announcing"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

var (
	announcedVIP = ip("203.0.113.5")
	at           = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
)

// announcer has the host of healthy announce a VIP to two routers, as all hosts of its cluster do.
// The speaker's files are changed before they are reported, and the facts after that.
func announcer(files func(*announcing.Seen), change func(*facts.Facts)) func(*facts.Facts) {
	return func(f *facts.Facts) {
		p, err := plan.Compile(spec.Cluster{Name: "ostest", BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3,
			MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, APIVIPs: []netip.Addr{announcedVIP}, IngressVIPs: ips("203.0.113.6"),
			Routing: spec.Routing{Management: routing.BGP, BGP: routing.BGPSettings{ASN: 64512, Racks: []routing.Rack{{Network: netip.MustParsePrefix("192.0.2.0/24"),
				Peers: []routing.Peer{{Address: ip("192.0.2.1"), ASN: 65101}, {Address: ip("192.0.2.2"), ASN: 65101}}}}}}})
		if err != nil {
			panic(err)
		}
		session := func(peer string) spoken.Session {
			return spoken.Session{Peer: peer, State: "Established", Since: at.Add(-time.Hour), BFD: "Up", Advertised: []netip.Addr{announcedVIP}}
		}
		s := announcing.Seen{Now: at, Plan: *p.BGP, Rack: "192.0.2.0/24", VIPs: []announcing.Address{{VIP: announcedVIP, For: vrrp.API}},
			Config: &spoken.Config{Timing: bgp.Profiles()[0], Peers: []spoken.Peer{{Address: ip("192.0.2.1"), ASN: 65101}, {Address: ip("192.0.2.2"), ASN: 65101}}},
			Wish:   &spoken.Wish{Beat: at, Routes: []spoken.Route{{VIP: announcedVIP}}},
			Status: &spoken.Status{At: at, Daemons: []spoken.Daemon{{Name: "bgpd", Running: true}}, Sessions: []spoken.Session{session("192.0.2.1"), session("192.0.2.2")},
				VIPs: []spoken.VIP{{VIP: announcedVIP, Phase: speak.Announced, Others: []spoken.Other{{Session: "192.0.2.1", Announcer: ip("192.0.2.11"), Length: 2}}}}}}
		if files != nil {
			files(&s)
		}
		f.Plan, f.Network.VIPs, f.Daemons.Keepalived, f.Daemons.Running = p, nil, nil, nil
		f.Names, f.Daemons.Checks = facts.Names{}, nil
		f.Host.Links.Links[0].Addresses = f.Host.Links.Links[0].Addresses[:1]
		f.Routed = &facts.Routed{Report: new(announcing.Of(s)), Uplinks: []facts.Uplink{{Link: "ens3", Filter: 2}, {Link: "ens4", Filter: 0}},
			Paths: []facts.Path{{Router: "192.0.2.1", Link: "ens3", Full: 1500, Whole: true}}, Passwords: &facts.Passwords{Path: "/etc/onprem-infra-speaker/passwords", Mode: 0o600},
			Others: []facts.Socket{{Network: "tcp", Port: 179, Owners: []string{"bird (process 12)"}}}}
		if change != nil {
			change(f)
		}
	}
}

// planned is a plain host of that cluster, whose first router has answered so.
func planned(a message.Answer) func(*facts.Facts) {
	return func(f *facts.Facts) {
		plain(f)
		announcer(nil, nil)(f)
		f.Names, f.Network.VIPs, f.Network.Members = facts.Names{}, nil, nil
		f.Routed.Report, f.Routed.Others, f.Routed.Asked = nil, nil, []facts.Asked{{Router: "192.0.2.1", Answer: a}}
	}
}

// down ends the session with the first router.
func down(why, code string) func(*announcing.Seen) {
	return func(s *announcing.Seen) {
		s.Status.Sessions[0] = spoken.Session{Peer: "192.0.2.1", State: "Active", Why: why, Code: code}
	}
}

// taken is a router that has a session with another program.
func taken(router string) func(*facts.Facts) {
	return func(f *facts.Facts) {
		f.Routed.Others = []facts.Socket{{Network: "tcp", Port: 179, Owners: []string{"cilium-agent (process 7)"}, Router: ip(router), From: ip("192.0.2.11")}}
	}
}

func alone(s *announcing.Seen) { s.Status.VIPs[0].Others = nil }

func asked(o message.Outcome, why string) func(*facts.Facts) {
	return func(f *facts.Facts) {
		f.Routed.Asked = []facts.Asked{{Router: "192.0.2.1", Answer: message.Answer{Outcome: o, Why: why}}}
	}
}

func init() { cases = slices.Concat(cases, routedCases) }

var routedCases = []testCase{
	{CheckSpeaker, "all is well", announcer(nil, nil), ""},
	{CheckSpeaker, "it has never started", announcer(func(s *announcing.Seen) { s.Status = nil }, nil), "it has never started"},
	{CheckSpeaker, "it is silent", announcer(func(s *announcing.Seen) { s.Status.At = at.Add(-time.Minute) }, nil), "it has reported nothing since 2026-11-26 11:59:00Z"},
	{CheckSpeaker, "it stands still", announcer(nil, func(f *facts.Facts) { f.Routed.Fault = "timeout" }), "it stands still: timeout"},
	{CheckSpeaker, "a trouble", announcer(func(s *announcing.Seen) { s.Status.Troubles = []string{"no zebra"} }, nil), "no zebra"},
	{CheckRack, "in none", announcer(nil, func(f *facts.Facts) { f.Routed.NoRack = "no rack has a network of it" }), "no rack has a network of it"},
	{CheckRack, "in one", announcer(nil, nil), ""},
	{CheckPasswords, "others read it", announcer(nil, func(f *facts.Facts) { f.Routed.Passwords.Mode = 0o644 }), "its mode is 0644"},
	{CheckPasswords, "a router of none", announcer(nil, func(f *facts.Facts) { f.Routed.Passwords.Unknown = []string{"192.0.2.9"} }), `a password for "192.0.2.9"`},
	{CheckPasswords, "it is wrong", announcer(nil, func(f *facts.Facts) { f.Routed.Passwords.Fault = "line 1: write" }), "line 1: write"},
	{CheckPasswords, "root alone reads it", announcer(nil, func(f *facts.Facts) { f.Routed.Passwords.Mode = 0o400 }), ""},
	{CheckBGPPorts, "BFD's, by Cilium", announcer(nil, func(f *facts.Facts) {
		f.Routed.Others = []facts.Socket{{Network: "udp", Port: 3784, Owners: []string{"cilium-agent (process 7)"}}}
	}), "another program has it: cilium-agent (process 7), Cilium"},
	{CheckBGPPorts, "BFD's, by a program that cannot be seen", announcer(nil, func(f *facts.Facts) {
		f.Routed.Others = []facts.Socket{{Network: "udp", Port: 4784}}
	}), "which one cannot be seen"},
	{CheckBGPPorts, "BGP's, and a session is down", announcer(down("", ""), nil), "another program has it: bird (process 12), BIRD, as Calico has it"},
	{CheckBGPPorts, "a session with the router whose own is down", announcer(down("", ""), taken("192.0.2.1")),
		"another program has a session with it from 192.0.2.11: cilium-agent (process 7), Cilium"},
	{CheckBGPPorts, "a session with another router", announcer(down("", ""), taken("192.0.2.2")), ""},
	{CheckBGPPorts, "BFD's, without BFD", announcer(nil, func(f *facts.Facts) {
		f.Routed.NoBFD, f.Routed.Others = true, []facts.Socket{{Network: "udp", Port: 3784}}
	}), ""},
	{CheckBGPPorts, "BFD's, by the speaker's report", announcer(func(s *announcing.Seen) {
		s.Status.BFDTaken, s.Status.Sessions[0].BFD, s.Status.Sessions[1].BFD = "UDP port 3784 by bfdd (process 12)", "", ""
	}, func(f *facts.Facts) {
		f.Routed.Others = append(f.Routed.Others, facts.Socket{Network: "udp", Port: 3784})
	}), "another program receives the packets of this host's sessions: UDP port 3784 by bfdd (process 12)"},
	{CheckBGPSilent, "a plain host", planned(message.Answer{Outcome: message.Silent, Why: "dial tcp: i/o timeout"}), "nothing comes back from its port 179 (TCP)"},
	{CheckBGPSilent, "no way", planned(message.Answer{Outcome: message.Unreachable, Why: "no route to host"}), "there is no way to it: no route to host"},
	{CheckBGPSilent, "no answer to an OPEN", planned(message.Answer{Outcome: message.Silent, Why: "it took the connection, and"}), "it took the connection, and"},
	{CheckBGPSilent, "a live host", announcer(nil, asked(message.Silent, "")), "nothing comes back"},
	{CheckBGPSilent, "it takes connections", announcer(nil, asked(message.Connected, "")), ""},
	{CheckBGPRefused, "a plain host", planned(message.Answer{Outcome: message.Refused}), "it refuses connections"},
	{CheckBGPRefused, "it does not know the host", planned(message.Answer{Outcome: message.Closed}), "it does not know this host"},
	{CheckBGPRefused, "no BGP", planned(message.Answer{Outcome: message.NoBGP, Why: "the marker is missing"}), "is no BGP: the marker is missing"},
	{CheckBGPRefused, "it would have a session", planned(message.Answer{Outcome: message.Accepted}), ""},
	{CheckTTL, "packets are dropped", announcer(nil, func(f *facts.Facts) { f.Routed.Drops.TTL = 3 }), "3 in two seconds (TCPMinTTLDrop)"},
	{CheckTTL, "none", announcer(nil, nil), ""},
	{CheckMD5, "unsigned", announcer(nil, func(f *facts.Facts) { f.Routed.Drops.Unsigned = 2 }), "a router does not sign its packets"},
	{CheckMD5, "signed", announcer(nil, func(f *facts.Facts) { f.Routed.Drops.Signed = 2 }), "a router signs its packets"},
	{CheckMD5, "another password", announcer(nil, func(f *facts.Facts) { f.Routed.Drops.Differing = 2 }), "a router has another password"},
	{CheckMD5, "none", announcer(nil, nil), ""},
	{CheckNotification, "2/2 to a plain host", planned(message.Answer{Outcome: message.Notified, Notification: &message.Notification{Code: 2, Subcode: 2}}), "it refuses the session by notification 2/2: the number"},
	{CheckNotification, "the router's own number", planned(message.Answer{Outcome: message.Unlike, Open: &message.Open{ASN: 65999}}), "is AS 65999, which the description does not have"},
	{CheckNotification, "6/7", announcer(down("x", "0607"), func(f *facts.Facts) { f.Routed.Others = nil }), "ended by notification 6/7: there is another session"},
	{CheckNotification, "4/0", announcer(down("x", "0400"), func(f *facts.Facts) { f.Routed.Others = nil }), "ended by notification 4/0: no message was received"},
	{CheckNotification, "one that passes", announcer(down("x", "0604"), func(f *facts.Facts) { f.Routed.Others = nil }), "ended by notification 6/4: the session was reset"},
	{CheckNotification, "a former one, and the session is up", announcer(func(s *announcing.Seen) { s.Status.Sessions[0].Code = "060A" }, nil), ""},
	{CheckBFD, "down", announcer(func(s *announcing.Seen) { s.Status.Sessions[0].BFD = "Down" }, nil), "the session is up, and BFD is Down"},
	{CheckBFD, "off", announcer(func(s *announcing.Seen) { s.Status.Sessions[0].BFD = "" }, nil), "the session is up, and BFD is off"},
	{CheckBFD, "the session is new", announcer(func(s *announcing.Seen) {
		s.Status.Sessions[0].BFD, s.Status.Sessions[0].Since = "Down", at.Add(-time.Second)
	}, nil), ""},
	{CheckBFD, "it is not asked for", announcer(func(s *announcing.Seen) {
		s.Config.Timing, s.Status.Sessions[0].BFD, s.Status.Sessions[1].BFD = bgp.Profiles()[2], "", ""
	}, nil), ""},
	{CheckBGPMTU, "full packets are lost", announcer(nil, func(f *facts.Facts) { f.Routed.Paths[0].Whole = false }), "packets of 1500 bytes, which ens3 sends, are not answered"},
	{CheckBGPMTU, "all arrive", announcer(nil, nil), ""},
	{CheckVIPInSubnet, "of another link", announcer(nil, func(f *facts.Facts) { f.Plan.VIPs.API = ips("198.51.100.5") }), "it is in the network 198.51.100.0/24 of ens4"},
	{CheckVIPInSubnet, "where VRRP answers there", announcer(nil, func(f *facts.Facts) {
		f.Plan.VIPs.API, f.Plan.Management = ips("198.51.100.5"), routing.Both
	}), ""},
	{CheckVIPSource, "of a route", announcer(nil, func(f *facts.Facts) {
		f.Routed.Sources = []facts.Source{{VIP: announcedVIP, Route: "default"}}
	}), "it is the source of the route default"},
	{CheckVIPSource, "of the node", announcer(nil, func(f *facts.Facts) { f.Host.Agreed = []netip.Addr{announcedVIP} }), "the node is known by it"},
	{CheckVIPSource, "of none", announcer(nil, nil), ""},
	{CheckReversePath, "strict on one of two", announcer(nil, func(f *facts.Facts) { f.Routed.Uplinks[1].Filter = 1 }), "it is strict (rp_filter=1)"},
	{CheckReversePath, "strict on the only one", announcer(nil, func(f *facts.Facts) { f.Routed.Uplinks = []facts.Uplink{{Link: "ens3", Filter: 1}} }), ""},
	{CheckLinkDown, "one of two", announcer(nil, func(f *facts.Facts) { f.Routed.Uplinks[1].UsedDown = true }), "they are used also while the link is down"},
	{CheckLinkDown, "the only one", announcer(nil, func(f *facts.Facts) { f.Routed.Uplinks = []facts.Uplink{{Link: "ens3", UsedDown: true}} }), ""},
	{CheckBGPForeign, "one", announcer(func(s *announcing.Seen) {
		s.Status.VIPs[0].Others = append(s.Status.VIPs[0].Others, spoken.Other{Session: "192.0.2.2", Length: 3})
	}, nil), "a host that is not of this cluster announces it"},
	{CheckBGPForeign, "none", announcer(nil, nil), ""},
	{CheckNotAnnounced, "no router has it", announcer(func(s *announcing.Seen) {
		s.Status.Sessions[0].Advertised, s.Status.Sessions[1].Advertised, s.Status.VIPs[0].Phase = nil, nil, speak.Waiting
	}, nil), "no router has it: it is waiting"},
	{CheckNotAnnounced, "the host does not serve it", announcer(func(s *announcing.Seen) {
		s.Status.Sessions[0].Advertised, s.Status.Sessions[1].Advertised, s.Wish.Routes = nil, nil, nil
	}, nil), ""},
	{CheckNotAnnounced, "the host leaves", announcer(func(s *announcing.Seen) {
		s.Status.Sessions[0].Advertised, s.Status.Sessions[1].Advertised, s.Leaving = nil, nil, true
	}, nil), ""},
	{CheckNotReported, "no router reports another host, and this one is behind it", announcer(func(s *announcing.Seen) {
		alone(s)
		s.Status.VIPs[0].Grade = 5
	}, nil), "no router reports one, and the control plane has m1, m3 besides"},
	{CheckNotReported, "it is the only one", announcer(func(s *announcing.Seen) {
		alone(s)
		s.Status.VIPs[0].Grade = 5
	}, func(f *facts.Facts) { f.Network.Members = f.Network.Members[1:2] }), ""},
	{CheckNotReported, "routers may prefer this host to others that are alike", announcer(func(s *announcing.Seen) {
		alone(s)
		s.Status.VIPs[0].Grade = 4
	}, nil), ""},
	{CheckNotReported, "a router reports this host's own path", announcer(func(s *announcing.Seen) {
		alone(s)
		s.Status.VIPs[0].Grade, s.Status.VIPs[0].Own = 5, []string{"192.0.2.1"}
	}, nil), ""},
	{CheckNotReported, "a worker reaches others, and no router reports them", worker(0, []int{1}, []int{3}, func(f *facts.Facts) { f.Routed.Report.VIPs[0].Others = nil }, "m1", "m2", "m3"),
		"no router reports one, and the control plane has m1, m2, m3 besides"},
	{CheckNotReported, "a worker reaches none", worker(0, []int{1}, []int{3}, func(f *facts.Facts) { f.Routed.Report.VIPs[0].Others = nil }), ""},
}
