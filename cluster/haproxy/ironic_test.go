package haproxy

import (
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// balancing is a configuration whose Ironic is at these sockets.
func balancing(api, media string) Config {
	c := cluster(addrs("192.0.2.5"), "192.0.2.10", "192.0.2.11", "192.0.2.12")
	c.balance(api, media)
	return c
}

// TestChange_Ironic holds that a pod that moves is followed without a reload, whatever port it
// listens on, and that no connection to the former pod is left where another one gets its slot.
func TestChange_Ironic(t *testing.T) {
	for _, tt := range []struct {
		name                    string
		api, media              string // of the pod now
		before, beforeMedia     string
		sessions                int
		wantIronic, wantVirtual string
	}{
		{"nothing", "192.0.2.11:6388", "192.0.2.11:6183", "192.0.2.11:6388", "192.0.2.11:6183", 3, "", ""},
		{"the pod ends", "", "", "192.0.2.11:6388", "192.0.2.11:6183", 3, "set server ironic/s0 state maint", "set server virtual-media/s0 state maint"},
		{"the first pod", "192.0.2.11:6385", "192.0.2.11:6183", "", "", 0,
			"set server ironic/s0 addr 192.0.2.11 port 6385; set server ironic/s0 weight 0; set server ironic/s0 state ready; set server ironic/s0 health down; set server ironic/s0 weight 100%",
			"set server virtual-media/s0 addr 192.0.2.11 port 6183; set server virtual-media/s0 weight 0; set server virtual-media/s0 state ready; set server virtual-media/s0 health down; set server virtual-media/s0 weight 100%"},
		{"another port of the same pod, with sessions", "192.0.2.11:6388", "192.0.2.11:6183", "192.0.2.11:6385", "192.0.2.11:6183", 3,
			"set server ironic/s0 state maint; shutdown sessions server ironic/s0; set server ironic/s0 addr 192.0.2.11 port 6388; " +
				"set server ironic/s0 weight 0; set server ironic/s0 state ready; set server ironic/s0 health down; set server ironic/s0 weight 100%", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stats := running(balancing(tt.before, tt.beforeMedia))
			for i := range stats {
				if IsIronic(stats[i].Backend) && !stats[i].Disabled() {
					stats[i].Sessions = tt.sessions
				}
			}
			got := map[string]string{}
			for _, batch := range Change(balancing(tt.api, tt.media), stats) {
				backend, _, _ := strings.Cut(strings.TrimPrefix(batch[0], "set server "), "/")
				got[backend] = strings.Join(batch, "; ")
			}
			if got[IronicAPI] != tt.wantIronic || got[VirtualMedia] != tt.wantVirtual || got[Masters] != "" {
				t.Errorf("got  %s\n     %s\nwant %s\n     %s", got[IronicAPI], got[VirtualMedia], tt.wantIronic, tt.wantVirtual)
			}
		})
	}
	if changes := Change(cluster(addrs("192.0.2.5"), "192.0.2.10"), running(balancing("192.0.2.11:6388", ""))); strings.Contains(strings.Join(slices.Concat(changes...), ";"), IronicAPI) {
		t.Errorf("a cluster that does not balance Ironic has %v", changes)
	}
}

// TestEnded holds whose sessions are ended: those of a pod that is gone or terminates, and not those
// of one that is only not ready.
func TestEnded(t *testing.T) {
	at := netip.MustParseAddrPort("192.0.2.11:6388")
	stats := []Stat{
		{Backend: IronicAPI, Server: "s0", Address: at, Status: "MAINT", Sessions: 2},
		{Backend: VirtualMedia, Server: "s0", Address: netip.AddrPortFrom(at.Addr(), 6183), Status: "UP", Sessions: 1},
		{Backend: IronicAPI, Server: "s1", Address: netip.MustParseAddrPort("192.0.2.12:6388"), Status: "UP"},
		{Backend: Masters, Server: "s1", Address: netip.AddrPortFrom(at.Addr(), 6443), Status: "UP", Sessions: 9},
	}
	for _, tt := range []struct {
		name  string
		alive []netip.Addr
		want  []string
	}{
		{"it is gone", addrs("192.0.2.12"), []string{"ironic/s0", "virtual-media/s0"}},
		{"there is none", []netip.Addr{}, []string{"ironic/s0", "virtual-media/s0"}},
		{"it is alive", addrs("192.0.2.11", "192.0.2.12"), nil},
	} {
		if got := names(Ended(stats, tt.alive)); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

// TestStates_Ironic holds that a new worker takes a pod for up only if the former one did.
func TestStates_Ironic(t *testing.T) {
	c := balancing("192.0.2.11:6388", "192.0.2.11:6183")
	stats := []Stat{{Backend: IronicAPI, Server: "s0", Address: c.Ironic.API[0], Status: "UP", Check: "L4OK", Changed: 9}}
	got := map[string]string{}
	for line := range strings.Lines(string(States(c, stats))) {
		if f := strings.Fields(line); len(f) == 25 && IsIronic(f[1]) {
			got[f[1]+"/"+f[3]] = f[4] + " " + f[5] + " " + f[18]
		}
	}
	if len(got) != 2 || got["ironic/s0"] != "192.0.2.11 2 6388" || got["virtual-media/s0"] != "192.0.2.11 0 6183" {
		t.Errorf("%v", got)
	}
}

// TestPlaceAt holds that only sockets of hosts get a slot, each one, and that one that stays keeps
// it.
func TestPlaceAt(t *testing.T) {
	before := sockets("192.0.2.10:6388", "192.0.2.11:6388", "", "", "", "", "", "")
	for _, tt := range []struct{ wanted, want string }{
		{"192.0.2.11:6388", "- 192.0.2.11:6388"},
		{"192.0.2.11:6385", "192.0.2.11:6385"},
		{"[::ffff:192.0.2.11]:6388 [2001:db8::1]:6388", "[2001:db8::1]:6388 192.0.2.11:6388"},
		{"0.0.0.0:6388 127.0.0.1:6388 [fe80::1%eth0]:6388 192.0.2.11:0", ""},
	} {
		var got []string
		for _, s := range PlaceAt(before, sockets(strings.Fields(tt.wanted)...)) {
			if got = append(got, "-"); s.IsValid() {
				got[len(got)-1] = s.String()
			}
		}
		if text := strings.TrimRight(strings.Join(got, " "), "- "); text != tt.want || len(got) != step {
			t.Errorf("%s: %s, want %s", tt.wanted, text, tt.want)
		}
	}
}
