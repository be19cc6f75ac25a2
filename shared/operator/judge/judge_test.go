package judge

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func TestOf(t *testing.T) {
	api := VIP{
		Address: netip.MustParseAddr("192.0.2.5"),
		For:     vrrp.API,
		Reached: true,
		Holder:  "192.0.2.21",
	}
	ingress := VIP{
		Address: netip.MustParseAddr("192.0.2.6"),
		For:     vrrp.Ingress,
		Reached: true,
		Here:    true,
	}
	change := func(v VIP, do func(*VIP)) VIP {
		do(&v)
		return v
	}
	unanswered := change(api, func(v *VIP) { v.Holder, v.NoHolder = "", true })
	unseen := change(api, func(v *VIP) { v.Holder = "" })
	far := change(unseen, func(v *VIP) { v.Reached = false })
	runs := &Daemon{Running: true}
	up, down := Server{
		Name:   "master-0",
		Status: "UP",
		Up:     true,
	}, Server{
		Name:   "master-1",
		Status: "DOWN",
	}
	for _, tt := range []struct {
		name  string
		facts Facts
		level Level
		why   string // the first reason begins so
	}{
		{"all are held", Facts{VIPs: []VIP{api, ingress}, Daemon: runs}, OK,
			"held: 192.0.2.5 (api) by 192.0.2.21, 192.0.2.6 (ingress) by this host"},
		{"no host answers for one", Facts{VIPs: []VIP{unanswered, ingress}, Daemon: runs}, Down, "no host answers for the api VIP 192.0.2.5"},
		{"no host answers for the address that nodes share", Facts{VIPs: []VIP{change(unanswered, func(v *VIP) { v.For = vrrp.Provisioning }), ingress}, Daemon: runs}, Degraded,
			"no host answers for the provisioning VIP 192.0.2.5: hosts cannot be installed"},
		{"one cannot be seen", Facts{VIPs: []VIP{unseen, ingress}}, Unknown, "it could not be seen which host answers for the api VIP 192.0.2.5"},
		{"one is in another network", Facts{VIPs: []VIP{far, ingress}}, OK, "held: 192.0.2.6"},
		{"all are in another network", Facts{VIPs: []VIP{far}}, OK, "no VIP is in a network of this host"},
		{"the balancer is dead", Facts{VIPs: []VIP{ingress}, Daemon: runs, Failed: []string{"the balancer"}}, Degraded, "the balancer of this host does not answer"},
		{"no inotify", Facts{VIPs: []VIP{ingress}, Daemon: &Daemon{Running: true, Troubles: []string{"watch files: no space left"}}}, Degraded,
			"keepalived's parent cannot watch files: no space left"},
		{"there is none", Facts{}, OK, "the cluster has no VIP"},
		{"announced, and seen from outside of the cluster", Facts{Routed: true}, Unknown, "it could not be seen whether a host announces the VIPs"},
		{"announced by others than a remote worker", Facts{Routed: true, Member: true}, OK, "other hosts announce the VIPs"},
		{"announced and held", Facts{Routed: true, Member: true, VIPs: []VIP{ingress}, Daemon: runs}, OK, "held: 192.0.2.6"},
		{"all are announced", Facts{Announced: &Announced{Held: []string{"198.51.100.5 (api) by this host to 192.0.2.1"}}}, OK, "announced: 198.51.100.5 (api) by this host to 192.0.2.1"},
		{"announced by others, of which no router has reported", Facts{Announced: &Announced{}}, OK, "the sessions with this host's routers are up"},
		{"left to others", Facts{Announced: &Announced{Left: true}}, OK, "this host leaves VIPs to others, and announces none"},
		{"one way of two", Facts{VIPs: []VIP{ingress}, Daemon: runs, Announced: &Announced{}}, OK, "held: 192.0.2.6"},
		{"no session", Facts{Announced: &Announced{Down: []string{"this host has no session"}, Degraded: []string{"x"}}}, Down, "this host has no session"},
		{"one of two sessions", Facts{Announced: &Announced{Degraded: []string{"the session with router 192.0.2.1 is Active"}}}, Degraded, "the session with router 192.0.2.1"},
		{"another host announces it", Facts{VIPs: []VIP{change(api, func(v *VIP) { v.Disagree = "52:54:00:00:00:11" })}}, Degraded,
			"192.0.2.21 answers for the api VIP 192.0.2.5, and 52:54:00:00:00:11 announces it"},
		{"an orphaned VIP", Facts{VIPs: []VIP{ingress}, Daemon: &Daemon{}}, Degraded, "this host has the ingress VIP 192.0.2.6, and keepalived does not run here"},
		{"keepalived ended", Facts{VIPs: []VIP{api}, Daemon: &Daemon{}}, Degraded, "keepalived does not run on this host"},
		{"keepalived was not started", Facts{VIPs: []VIP{api}, Expected: true}, Degraded, "keepalived has not been started on this host"},
		{"keepalived leaves in order", Facts{VIPs: []VIP{api}, Daemon: &Daemon{Leaving: true}}, OK, "held"},
		{"a silent monitor", Facts{VIPs: []VIP{api}, Daemon: &Daemon{Running: true, MonitorSilent: true}}, Degraded, "no heartbeat of keepalived's monitor arrives"},
		{"a refused configuration", Facts{VIPs: []VIP{api}, Daemon: &Daemon{Running: true, Refused: true}}, Degraded, "keepalived refuses"},
		{"a server is down", Facts{VIPs: []VIP{api}, Servers: []Server{up, down}}, Degraded, "API server master-1 is DOWN behind this node's balancer"},
		{"all servers are down", Facts{VIPs: []VIP{api}, Servers: []Server{down}}, Down, "API server master-1 is DOWN, as are all"},
		{"hosts are not installed", Facts{VIPs: []VIP{api}, Provisioning: []string{"host master-1 is not installed: x"}}, Degraded, "host master-1 is not installed"},
		{"a wrong name", Facts{VIPs: []VIP{api}, Names: []Name{{"api.prod.example.com", true}, {"api-int.prod.example.com", false}}}, Degraded,
			"this host's name server answers wrongly for api-int.prod.example.com"},
		{"a clash", Facts{VIPs: []VIP{api}, Clashes: []clash.Finding{{Kind: clash.Foreign, VIP: api.Address}}}, Degraded, ""},
		{"the worst counts, and its reasons come first", Facts{VIPs: []VIP{unseen, unanswered}, Daemon: &Daemon{}}, Down, "no host answers"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			v := Of(tt.facts)
			if v.Level != tt.level || len(v.Why) == 0 || !strings.HasPrefix(v.Why[0], tt.why) {
				t.Errorf("got %s %q, want %s, %q", v.Level, v.Why, tt.level, tt.why)
			}
		})
	}
}
