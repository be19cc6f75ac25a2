package report_test

import (
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr/report"
)

// TestSessions reads what FRR 8.4 reports of sessions; test/fabric reads what a real one says.
func TestSessions(t *testing.T) {
	got, err := report.Sessions(`{"192.0.2.1": {"bgpState": "Established", "bgpTimerUpMsec": 5000, "connectionsDropped": 1, "lastResetDueTo": "BGP Notification send",
		"lastNotificationReason": "OPEN Message Error/Bad Peer AS", "lastErrorCodeSubcode": "0202", "peerBfdInfo": {"status": "Up"}},
		"enp1s0": {"bgpState": "Active", "bgpTimerUpMsec": 7, "lastResetDueTo": "Waiting for Peer IPv6 LLA"}, "vrfName": "default", "vrfId": 0}`)
	want := map[string]report.Session{
		"192.0.2.1": {State: "Established", For: 5 * time.Second, BFD: "Up", Reset: "BGP Notification send", Notification: "OPEN Message Error/Bad Peer AS", Code: "0202"},
		"enp1s0":    {State: "Active", Reset: "Waiting for Peer IPv6 LLA"},
	}
	if err != nil || !reflect.DeepEqual(got, want) || !got["192.0.2.1"].Up() || got["enp1s0"].Up() {
		t.Errorf("%+v, %v", got, err)
	}
	if none, err := report.Sessions("{\n}\n"); err != nil || len(none) != 0 {
		t.Errorf("none: %v, %v", none, err)
	}
}

// TestAdvertised holds that a grade is how many numbers the host has put into the path.
func TestAdvertised(t *testing.T) {
	got, err := report.Advertised(`{"advertisedRoutes": {"198.51.100.5/32": {"path": "64512 64512", "nextHop": "0.0.0.0"}, "2001:db8::5/128": {"path": ""}}, "totalPrefixCounter": 2}`)
	want := map[netip.Addr]bgp.Grade{netip.MustParseAddr("198.51.100.5"): 2, netip.MustParseAddr("2001:db8::5"): 0}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v, %v", got, err)
	}
}

// TestPaths holds that hosts of the cluster are told from others by their mark, and that the host's own
// route is none that a router told.
func TestPaths(t *testing.T) {
	got, err := report.Paths(`{"paths": [
		{"aspath": {"segments": [{"list": [65101, 65000]}, {"list": [64512]}]}, "largeCommunity": {"list": ["64999:1:7", "64512:1:3221225994"]}, "peer": {"peerId": "192.0.2.1"}},
		{"aspath": {"segments": [{"list": [65101]}]}, "largeCommunity": {"list": ["64513:1:3221225994", "64512:2:1", "x"]}, "peer": {"peerId": "fe80::1", "interface": "enp1s0"}},
		{"aspath": {"segments": []}, "local": true, "peer": {"peerId": "0.0.0.0"}}]}`, 64512)
	want := []report.Path{{Session: "192.0.2.1", Path: []bgp.ASN{65101, 65000, 64512}, Announcer: netip.MustParseAddr("192.0.2.10")},
		{Session: "enp1s0", Path: []bgp.ASN{65101}}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, none := range []string{"", "{}", "{\n}\n"} {
		if got, err := report.Paths(none, 64512); err != nil || len(got) != 0 {
			t.Errorf("%q: %v, %v", none, got, err)
		}
	}
}

// TestReports_Hostile holds that no text of a daemon is more than an error.
func TestReports_Hostile(t *testing.T) {
	for _, text := range []string{"x", "[]", `{"a": `, `{"paths": 1}`, `{"advertisedRoutes": {"x": {}}}`, `{"192.0.2.1": {"bgpState": 1}}`, `{"a": null}`, "null", `"x"`} {
		_, one := report.Sessions(text)
		_, two := report.Advertised(text)
		_, three := report.Paths(text, 1)
		if one == nil && two == nil && three == nil && text != "null" && text != `{"a": null}` {
			t.Errorf("%q is read without an error", text)
		}
	}
}
