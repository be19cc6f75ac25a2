package haproxy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// running is HAProxy's statistics for a configuration that it runs with.
func running(c Config) (stats []Stat) {
	for _, b := range c.backends() {
		for i, at := range b.servers {
			s := Stat{Backend: b.name, Server: Server(i), Address: at, Status: "UP", Check: "L7OK"}
			if !at.IsValid() {
				s.Address, s.Status, s.Check = Free, "MAINT", ""
			}
			stats = append(stats, s)
		}
	}
	return stats
}

func TestChange(t *testing.T) {
	before := cluster(addrs("192.0.2.5"), "192.0.2.10", "192.0.2.11")
	for _, tt := range []struct {
		name   string
		change func(*Config)
		want   string // for the backends masters and masters-open
	}{
		{"nothing", func(*Config) {}, ""},
		{"one more", func(c *Config) { c.Members[2] = netip.MustParseAddr("2001:db8::12") },
			"set server masters/s2 addr 2001:db8::12 port 6443; set server masters/s2 weight 0; set server masters/s2 state ready; " +
				"set server masters/s2 health down; set server masters/s2 weight 100%; set server masters-open/s2 addr 2001:db8::12 port 6443; set server masters-open/s2 state ready"},
		{"one less", func(c *Config) { c.Members[1] = netip.Addr{} }, "set server masters/s1 state maint; set server masters-open/s1 state maint"},
		{"another", func(c *Config) { c.Members[1] = netip.MustParseAddr("192.0.2.12") },
			"set server masters/s1 state maint; set server masters/s1 addr 192.0.2.12 port 6443; set server masters/s1 weight 0; set server masters/s1 state ready; " +
				"set server masters/s1 health down; set server masters/s1 weight 100%; set server masters-open/s1 state maint; set server masters-open/s1 addr 192.0.2.12 port 6443; set server masters-open/s1 state ready"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := before
			c.Members = slices.Clone(before.Members)
			tt.change(&c)
			var got []string
			for _, batch := range Change(c, running(before)) {
				if strings.Contains(batch[0], "masters") {
					got = append(got, batch...)
				}
			}
			if strings.Join(got, "; ") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "; "), tt.want)
			}
			if left := Change(c, running(c)); len(left) > 0 {
				t.Errorf("what was carried out is still to do: %q", left)
			}
		})
	}
}

// TestCut holds which sessions are ended: those of a server that no longer answers, and no
// others.
func TestCut(t *testing.T) {
	a, b := netip.MustParseAddrPort("192.0.2.10:6443"), netip.MustParseAddrPort("192.0.2.11:6443")
	for _, tt := range []struct {
		name  string
		stat  Stat
		other string // the result of the last check of the other
		want  bool
	}{
		{"no process listens", Stat{Status: "DOWN", Check: "L4CON"}, "L7OK", true},
		{"no host", Stat{Status: "DOWN", Check: "L4TOUT"}, "L7OK", true},
		{"hung", Stat{Status: "DOWN", Check: "L6TOUT", Changed: 1}, "L7OK", true},
		{"hung for a moment", Stat{Status: "DOWN", Check: "L6TOUT", Changed: 0}, "L7OK", false},
		{"draining", Stat{Status: "DOWN", Check: "L7STS", Changed: 60}, "L7OK", false},
		{"slow to report whether it is ready", Stat{Status: "DOWN", Check: "L7TOUT", Changed: 60}, "L7OK", false},
		{"another certificate", Stat{Status: "DOWN", Check: "L6RSP", Changed: 60}, "L7OK", false},
		{"going down", Stat{Status: "UP 1/2", Check: "L4CON"}, "L7OK", false},
		{"free", Stat{Status: "MAINT", Check: "L4CON"}, "L7OK", false},
		{"no other server is up", Stat{Status: "DOWN", Check: "L4CON"}, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.stat.Backend, tt.stat.Server, tt.stat.Address, tt.stat.Sessions = Masters, "s0", a, 7
			got := names(Cut([]Stat{
				tt.stat, {Backend: Masters, Server: "s1", Address: b, Status: "UP", Check: tt.other, Sessions: 7},
				{Backend: MastersOpen, Server: "s0", Address: a, Status: "no check", Sessions: 2}, {Backend: MastersOpen, Server: "s1", Address: b, Status: "no check", Sessions: 2},
				{Backend: MachineConfig, Server: "s0", Status: "DOWN", Check: "L4CON", Sessions: 7},
				{Backend: IronicAPI, Server: "s0", Status: "DOWN", Check: "L4CON", Sessions: 7},
			}))
			var want []string
			if tt.want {
				want = []string{"masters/s0", "masters-open/s0"}
			}
			if !slices.Equal(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// names are these servers, as BACKEND/SERVER.
func names(stats []Stat) (all []string) {
	for _, s := range stats {
		all = append(all, s.Backend+"/"+s.Server)
	}
	return all
}

// TestStates holds that a server is up for a new worker only when it was for the former one, and
// the same: down by one check, up by as many as the configuration asks for.
func TestStates(t *testing.T) {
	c := cluster(addrs("192.0.2.5"), "192.0.2.10", "192.0.2.11", "192.0.2.12", "192.0.2.13")
	c.Server.Rise, c.Server.Fall = 5, 4
	stats := []Stat{
		{Backend: Masters, Server: "s0", Address: netip.MustParseAddrPort("192.0.2.10:6443"), Status: "UP", Check: "L7OK", Changed: 90},
		{Backend: Masters, Server: "s1", Address: netip.MustParseAddrPort("192.0.2.11:6443"), Status: "DOWN", Check: "L4CON"},
		{Backend: Masters, Server: "s2", Address: netip.MustParseAddrPort("192.0.2.77:6443"), Status: "UP", Check: "L7OK"},
		{Backend: Masters, Server: "s3", Address: netip.MustParseAddrPort("192.0.2.13:6443"), Status: "UP", Check: "INI"},
	}
	got := map[string]string{}
	for line := range strings.Lines(string(States(c, stats))) {
		if f := strings.Fields(line); len(f) == 25 && f[0] == "0" {
			got[f[1]+"/"+f[3]] = f[4] + " " + f[5] + " " + f[12]
		}
	}
	for server, want := range map[string]string{
		"masters/s0": "192.0.2.10 2 8", "masters/s1": "192.0.2.11 0 4", "masters/s2": "192.0.2.12 0 4", "masters/s3": "192.0.2.13 0 4",
		"machine-config/s0": "192.0.2.10 0 4",
	} {
		if got[server] != want {
			t.Errorf("%s: %q, want %q", server, got[server], want)
		}
	}
	if len(got) != 8 {
		t.Errorf("%d lines: %v", len(got), got)
	}
}

// TestWithoutMachineConfig holds that HAProxy gets no command about machine config servers if the
// cluster has none, also while it still runs with the structure of one that had some.
func TestWithoutMachineConfig(t *testing.T) {
	c := cluster(addrs("192.0.2.5"), "192.0.2.10", "192.0.2.11")
	c.Ports.MachineConfig, c.Ports.MachineConfigLB = 0, 0
	if states := string(States(c, nil)); strings.Contains(states, MachineConfig) || !strings.Contains(states, Masters) {
		t.Errorf("states\n%s", states)
	}
	stats := []Stat{{Backend: Masters, Server: "s0"}, {Backend: MachineConfig, Server: "s0"}, {Backend: MachineConfigOpen, Server: "s0"}}
	changes := fmt.Sprint(Change(c, stats))
	if strings.Contains(changes, MachineConfig) || !strings.Contains(changes, "masters/s0") {
		t.Errorf("changes %s", changes)
	}
}
