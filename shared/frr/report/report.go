// Package report reads what FRR reports of its sessions and routes: the questions for it, and the
// answers, which are JSON.
package report

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// AskSessions asks the daemon of BGP for its sessions.
const AskSessions = "show bgp neighbors json"

// AskAdvertised asks which VIPs of a family a router has from this host.
func AskAdvertised(six bool, session string) string {
	return fmt.Sprintf("show bgp %s unicast neighbors %s advertised-routes json", family(six),
		session)
}

// AskPaths asks for all ways to a VIP that the host knows.
func AskPaths(vip netip.Addr) string {
	return fmt.Sprintf("show bgp %s unicast %s/%d json", family(vip.Is6()), vip, vip.BitLen())
}

func family(six bool) string {
	if six {
		return "ipv6"
	}
	return "ipv4"
}

// Session is a session as the daemon reports it.
type Session struct {
	State string        // Idle, Connect, Active, OpenSent, OpenConfirm or Established
	For   time.Duration // how long it is established; 0 if it is not
	BFD   string        // Up, Down, Init or AdminDown; empty without
	// Reset is why the last session ended, and Notification what one of the routers sent the other
	// about it (RFC 4271, 4.5): empty for none.
	Reset, Notification string
	// Code is the notification's code and subcode, in two hexadecimal digits each.
	Code string
}

// Up reports whether routes pass.
func (s Session) Up() bool { return s.State == "Established" }

// Sessions reads the answer to AskSessions, by the names of peers.
func Sessions(answer string) (map[string]Session, error) {
	var raw map[string]json.RawMessage
	if err := json.Unmarshal([]byte(answer), &raw); err != nil {
		return nil, fmt.Errorf("read the sessions of FRR: %w", err)
	}
	all := map[string]Session{}
	for name, text := range raw {
		var one struct {
			State  string `json:"bgpState"`
			UpMs   int64  `json:"bgpTimerUpMsec"`
			Reset  string `json:"lastResetDueTo"`
			Reason string `json:"lastNotificationReason"`
			Code   string `json:"lastErrorCodeSubcode"`
			BFD    struct {
				Status string `json:"status"`
			} `json:"peerBfdInfo"`
		}
		// Some values beside the peers are none: the name of the VRF, and its number.
		if text[0] != '{' {
			continue
		}
		if err := json.Unmarshal(text, &one); err != nil {
			return nil, fmt.Errorf("read the session %s of FRR: %w", name, err)
		}
		s := Session{State: one.State, BFD: one.BFD.Status, Reset: one.Reset,
			Notification: one.Reason, Code: one.Code}
		if s.Up() {
			s.For = time.Duration(one.UpMs) * time.Millisecond
		}
		all[name] = s
	}
	return all, nil
}

// Advertised reads the answer to AskAdvertised: the VIPs with their grades.
func Advertised(answer string) (map[netip.Addr]bgp.Grade, error) {
	var raw struct {
		Routes map[string]struct {
			Path string `json:"path"`
		} `json:"advertisedRoutes"`
	}
	if err := json.Unmarshal([]byte(answer), &raw); err != nil {
		return nil, fmt.Errorf("read what FRR announces: %w", err)
	}
	all := map[netip.Addr]bgp.Grade{}
	for text, route := range raw.Routes {
		p, err := netip.ParsePrefix(text)
		if err != nil {
			return nil, fmt.Errorf("read what FRR announces: %w", err)
		}
		all[p.Addr()] = bgp.Grade(len(strings.Fields(route.Path)))
	}
	return all, nil
}

// Path is a path to a VIP that the host received from a router.
type Path struct {
	Session string
	Path    []bgp.ASN // the router's own number first
	// Announcer is the BGP identifier of the host that announces it, by the mark of the cluster's
	// hosts; the zero value without such a mark.
	Announcer netip.Addr
}

// Grade is that of the host which announces the path, whose own number is in it more than once.
func (p Path) Grade(own bgp.ASN) (g bgp.Grade) {
	for _, asn := range p.Path {
		if asn == own {
			g++
		}
	}
	return max(g-1, 0)
}

// Paths reads the answer to AskPaths: the paths from routers, without the host's own route.
func Paths(answer string, own bgp.ASN) (all []Path, err error) {
	var raw struct {
		Paths []struct {
			Path struct {
				Segments []struct {
					List []bgp.ASN `json:"list"`
				} `json:"segments"`
			} `json:"aspath"`
			Large struct {
				List []string `json:"list"`
			} `json:"largeCommunity"`
			Local bool `json:"local"`
			Peer  struct {
				ID        string `json:"peerId"`
				Interface string `json:"interface"`
			} `json:"peer"`
		} `json:"paths"`
	}
	if strings.TrimSpace(answer) == "" || strings.TrimSpace(answer) == "{}" {
		return nil, nil // none
	}
	if err := json.Unmarshal([]byte(answer), &raw); err != nil {
		return nil, fmt.Errorf("read the paths of FRR: %w", err)
	}
	for _, r := range raw.Paths {
		if r.Local {
			continue
		}
		p := Path{Session: r.Peer.ID}
		if r.Peer.Interface != "" {
			p.Session = r.Peer.Interface
		}
		for _, s := range r.Path.Segments {
			p.Path = append(p.Path, s.List...)
		}
		for _, m := range r.Large.List {
			if id, ok := announcer(m, own); ok {
				p.Announcer = id
			}
		}
		all = append(all, p)
	}
	return all, nil
}

// announcer reads a host's mark, ASN:1:IDENTIFIER; ok is false for other large communities.
func announcer(mark string, own bgp.ASN) (id netip.Addr, ok bool) {
	var asn, number uint32
	var one int
	n, err := fmt.Sscanf(mark, "%d:%d:%d", &asn, &one, &number)
	if err != nil || n != 3 || bgp.ASN(asn) != own || one != 1 {
		return id, false
	}
	return netip.AddrFrom4([4]byte{byte(number >> 24), byte(number >> 16), byte(number >> 8),
		byte(number)}), true
}
