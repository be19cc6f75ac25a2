package session_test

import (
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/spec/document"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/session"
	"github.com/onprem-infra/onprem-infra/shared/spec/routing/timers"
)

// read reads entries of routers, each on a line of its own.
func read(t *testing.T, entries ...string) ([]session.Session, timers.Timers, string) {
	t.Helper()
	r := document.NewReader("install-config.yaml", "a map")
	root, ok := r.Read([]byte("peers:\n- {" + strings.Join(entries, "}\n- {") + "}\n"))
	if !ok {
		t.Fatal(r.Findings)
	}
	peers := r.Field(r.Map(root), "peers")
	list, _ := r.List(peers)
	var all []session.Session
	for _, e := range list {
		all = append(all, session.Read(r, r.Map(e)))
	}
	values := session.Timers(&r.Report, peers.At, all).Values()
	var text strings.Builder
	for _, f := range r.Findings.First() {
		text.WriteString(f.String() + "\n")
	}
	return all, values, text.String()
}

// TestRead holds that both spellings of the installer mean the same.
func TestRead(t *testing.T) {
	for _, entry := range []string{
		`bfdEnabled: "true", ebgpMultiHop: true, holdTime: 90s, keepaliveTime: 30s`,
		`bfdEnabled: "true", ebgpMultiHop: true, holdTime: "90", keepaliveTime: 30`,
		`failureDetection: BFD, peerReachability: MultiHop, holdTimeSeconds: 90, keepaliveTimeSeconds: 30`,
	} {
		all, got, findings := read(t, entry)
		want := timers.Timers{Hold: 90 * time.Second, Keepalive: 30 * time.Second}
		if findings != "" || !all[0].BFD.Value || !all[0].Far.Value || got != want {
			t.Errorf("%s: %+v, %+v, %s", entry, all, got, findings)
		}
	}
	for _, entry := range []string{`bfdEnabled: "false", ebgpMultiHop: false`, "failureDetection: HoldTimer, peerReachability: DirectlyConnected"} {
		all, got, findings := read(t, entry)
		if findings != "" || all[0].BFD.Value || all[0].Far.Value || got != (timers.Timers{Interval: timers.Off}) {
			t.Errorf("%s: %+v, %+v, %s", entry, all, got, findings)
		}
	}
}

// TestRead_Wrong holds what is found in each spelling, at its place.
func TestRead_Wrong(t *testing.T) {
	for entry, want := range map[string]string{
		`bfdEnabled: "true", failureDetection: BFD`:              "peers[0].failureDetection: has its former spelling beside it, at line 2",
		"holdTime: 9s, holdTimeSeconds: 9":                       "peers[0].holdTimeSeconds: has its former spelling beside it",
		"failureDetection: bfd":                                  `failureDetection: "bfd" is not known: write one of BFD, HoldTimer`,
		"peerReachability: Far":                                  `peerReachability: "Far" is not known: write one of MultiHop, DirectlyConnected`,
		"peerReachability: true":                                 "peerReachability: want a string",
		"holdTimeSeconds: 90s":                                   "holdTimeSeconds: want a whole number",
		"holdTimeSeconds: 0":                                     "holdTimeSeconds: 0 is no time: write seconds from 1 to 65535",
		"keepaliveTimeSeconds: 9999999999999":                    "keepaliveTimeSeconds: 9999999999999 is no time",
		`holdTime: "65536"`:                                      `holdTime: "65536" is no time: write seconds from 1 to 65535`,
		"holdTime: -1":                                           "holdTime: -1 is no time",
		"holdTime: soon":                                         `holdTime: "soon" is no time`,
		`peerAddress: 10.1.0.1`:                                  "warning: peers: a router without failureDetection, formerly bfdEnabled, has BFD here",
		"failureDetection: BFD}\n- {failureDetection: HoldTimer": "warning: peers[1].failureDetection: a host does BFD with all of its routers or with none",
		"peerAddress: 10.1.0.1}\n- {failureDetection: HoldTimer": "warning: peers[1].failureDetection: a host does BFD with all of its routers or with none",
	} {
		if _, _, got := read(t, entry); !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", entry, got, want)
		}
	}
}

// TestTimers holds that a rack has the shortest times of its routers.
func TestTimers(t *testing.T) {
	_, got, findings := read(t, "failureDetection: BFD, holdTimeSeconds: 30", "failureDetection: BFD, keepaliveTimeSeconds: 5", "failureDetection: BFD, holdTimeSeconds: 20, keepaliveTimeSeconds: 6")
	if want := (timers.Timers{Hold: 20 * time.Second, Keepalive: 5 * time.Second}); findings != "" || got != want {
		t.Errorf("%+v, %s", got, findings)
	}
}
