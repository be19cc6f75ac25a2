package spoken_test

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

var (
	vip   = netip.MustParseAddr("198.51.100.5")
	noon  = time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	known = spoken.Config{ASN: 64512, Router: netip.MustParseAddr("192.0.2.10"), VIPs: []netip.Addr{vip}, Communities: []string{"64512:100"},
		Timing: bgp.Profiles()[0], Peers: []spoken.Peer{{Address: netip.MustParseAddr("192.0.2.1"), ASN: 65101, TTLSecurity: true}, {Interface: "enp1s0"}}}
)

// TestEncode holds that each file is read back as it was written, and that nothing else is read.
func TestEncode(t *testing.T) {
	wish := spoken.Wish{Beat: noon, Routes: []spoken.Route{{VIP: vip, Grade: 4, Demotions: []bgp.Grade{5, 8}}}}
	status := spoken.Status{At: noon, Daemons: []spoken.Daemon{{Name: "bgpd", Running: true, Starts: 2}}, Troubles: []string{"x"},
		Sessions: []spoken.Session{{Peer: "192.0.2.1", State: "Established", Since: noon, Advertised: []netip.Addr{vip}}},
		VIPs:     []spoken.VIP{{VIP: vip, Phase: speak.Announced, Since: noon, Grade: 4, Others: []spoken.Other{{Session: "192.0.2.1", Length: 4}}}}}
	config, errConfig := spoken.Decode[spoken.Config](spoken.Encode(known))
	again, errWish := spoken.Decode[spoken.Wish](spoken.Encode(wish))
	reported, errStatus := spoken.Decode[spoken.Status](spoken.Encode(status))
	if errConfig != nil || errWish != nil || errStatus != nil || !reflect.DeepEqual(config, known) || !reflect.DeepEqual(again, wish) || !reflect.DeepEqual(reported, status) {
		t.Errorf("%v %v %v\n%+v\n%+v\n%+v", errConfig, errWish, errStatus, config, again, reported)
	}
	if got := wish.Speak(true); !reflect.DeepEqual(got, speak.Wish{Beat: noon, Leaving: true, VIPs: map[netip.Addr]speak.Route{vip: {Grade: 4, Demotions: []bgp.Grade{5, 8}}}}) {
		t.Errorf("%+v", got)
	}
	text := string(spoken.Encode(known))
	for name, wrong := range map[string]string{
		"another version": strings.Replace(text, `"Version": 1`, `"Version": 2`, 1), "a field": strings.Replace(text, `"ASN"`, `"ASM"`, 1),
		"more": text + "{}", "half": text[:len(text)/2], "nothing": "", "a number": "7",
	} {
		if got, err := spoken.Decode[spoken.Config]([]byte(wrong)); err == nil || !reflect.DeepEqual(got, spoken.Config{}) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
}

// TestStatus_By holds that the times of a status are by the clock as it is now, however that was set since, and that the
// one of a former release stays as it is.
func TestStatus_By(t *testing.T) {
	const up, age = 5 * time.Hour, 3 * time.Second
	status := spoken.Status{At: noon, Up: up, Sessions: []spoken.Session{{Peer: "a", Since: noon.Add(-time.Minute)}, {Peer: "b"}},
		VIPs: []spoken.VIP{{VIP: vip, Since: noon.Add(-time.Hour)}}}
	for _, now := range []time.Time{noon.Add(age), noon.Add(-8 * time.Hour), noon.Add(8 * time.Hour)} {
		got := status.By(now, up+age)
		if now.Sub(got.At) != age || now.Sub(got.Sessions[0].Since) != age+time.Minute || !got.Sessions[1].Since.IsZero() || now.Sub(got.VIPs[0].Since) != age+time.Hour {
			t.Errorf("%v: %+v", now, got)
		}
	}
	former := status
	former.Up = 0
	for _, s := range []spoken.Status{former, {}} {
		if got := s.By(noon.Add(time.Hour), up); !reflect.DeepEqual(got, s) {
			t.Errorf("%+v, want %+v", got, s)
		}
	}
}

// TestPasswords holds which lines are read, and that no error has a password.
func TestPasswords(t *testing.T) {
	got, err := spoken.Passwords("# of the leaves\n\n192.0.2.1 s3cret\r\n  enp1s0\tanother  \n2001:DB8:0::1 third\n")
	if err != nil || len(got) != 3 || got["192.0.2.1"].Reveal() != "s3cret" || got["enp1s0"].Reveal() != "another" || got["2001:db8::1"].Reveal() != "third" {
		t.Errorf("%v, %v", got, err)
	}
	c := known.With(map[string]secret.Text{"192.0.2.1": secret.New("s3cret"), "203.0.113.9": secret.New("of none")})
	if c.Peers[0].Password.Reveal() != "s3cret" || !c.Peers[1].Password.Empty() || c.Peers[0].ASN != 65101 || !c.Peers[0].TTLSecurity || c.Router != known.Router {
		t.Errorf("%+v", c)
	}
	for text, want := range map[string]string{"192.0.2.1": "line 1", "\n192.0.2.1 s3cret more": "line 2", "a " + strings.Repeat("s3cret", 14): "80 bytes"} {
		if _, err := spoken.Passwords(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(fmt.Sprint(err), "s3cret") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestWrong holds what no daemon need be asked about, all of it at once.
func TestWrong(t *testing.T) {
	if got := known.Wrong(); len(got) > 0 {
		t.Errorf("%q", got)
	}
	c := known
	c.Router, c.Timing.Hold = netip.MustParseAddr("2001:db8::1"), time.Second
	c.VIPs = []netip.Addr{vip, {}, vip}
	c.Communities = []string{"64512:100 additive"}
	c.Peers = []spoken.Peer{{Address: netip.MustParseAddr("192.0.2.1")}, {}, {Address: vip, Interface: "enp1s0"}, {Interface: "enp1s0\nexit"}, {Address: netip.MustParseAddr("192.0.2.1"), ASN: 7}}
	all := strings.Join(c.Wrong(), "\n")
	for _, want := range []string{"Router: ", "Timing: a hold time", "VIPs[1]: ", "VIPs[2]: 198.51.100.5 is there twice", "Communities[0]: ", "Peers[1]: it has", "Peers[2]: it has",
		"Peers[3]: ", "Peers[4]: 192.0.2.1 is there twice"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q lacks %q", all, want)
		}
	}
}

// TestCommand holds that the daemon of BFD is real-time where routers end a session within less than
// a second, and that the container may do that exactly then.
func TestCommand(t *testing.T) {
	for _, profile := range bgp.Profiles() {
		soon := profile.Profile != bgp.ProfileHold
		command := strings.Join(spoken.Command("/a/onprem-speak", profile, "--health", "127.0.0.1:1"), " ")
		if !strings.HasPrefix(command, "/a/onprem-speak --run-dir /run/onprem-infra/speak --sockets /run/frr --passwords /etc/onprem-infra-speaker/passwords ") ||
			!strings.HasSuffix(command, " --health 127.0.0.1:1") || strings.Contains(command, " --real-time") != soon {
			t.Errorf("%s: %s", profile.Profile, command)
		}
		if got := spoken.Capabilities(profile); slices.Contains(got, "SYS_NICE") != soon || !slices.Contains(got, "SYS_ADMIN") {
			t.Errorf("%s: %v", profile.Profile, got)
		}
	}
}
