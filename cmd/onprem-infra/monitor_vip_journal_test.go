//go:build remote

package main

import (
	"context"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// allBut are checks of which some fail.
type allBut struct {
	mu    sync.Mutex
	fails []vrrp.CheckName
}

func (a *allBut) Passes(c vrrp.CheckName) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return !slices.Contains(a.fails, c)
}

func (a *allBut) fail(c vrrp.CheckName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.fails = append(a.fails, c)
}

// reportState has the supervisor say the state of the API's instance.
func reportState(t *testing.T, h node.Host, state supervised.State) {
	t.Helper()
	text := supervised.Encode(supervised.Status{PID: 9, Instances: map[string]supervised.Instance{"ostest_API_0": {State: state, Priority: 100}}})
	if err := file.Write(h.At(supervised.RunDir, supervised.StatusFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestJournalBefore holds that a node which held a VIP when its monitor began says by an Event when
// it loses it, and not that it has just taken it.
func TestJournalBefore(t *testing.T) {
	h := onDisk(t, map[string]string{supervised.RunDir + "/empty": "", filepath.Dir(journal.Path) + "/empty": ""})
	p := fakehost.Plan(t, vrrp.ProfileLan)
	run := func(states ...supervised.State) (changes []journal.Entry) {
		w := recorder.New(recorder.Options{
			Plan: p, Run: h.Dir, Path: h.At(journal.Path), Log: slog.New(slog.DiscardHandler),
			Report: func(e journal.Entry) {
				if e.Kind == journal.OfElection {
					changes = append(changes, e)
				}
			},
		})
		for _, s := range states {
			reportState(t, h, s)
			if err := w.Record(); err != nil {
				t.Fatal(err)
			}
		}
		return changes
	}
	if got := run(supervised.Backup, supervised.Master); len(got) != 2 || got[1].Late || got[1].State != supervised.Master {
		t.Fatalf("the first run reported %+v", got)
	}
	got := run(supervised.Master, supervised.Backup)
	if last := len(got) - 1; last < 1 || !got[last-1].Late || got[last-1].State != supervised.Master || got[last].Late || got[last].State != supervised.Backup {
		t.Errorf("the second run reported %+v", got)
	}
}

// TestNoteEvent holds which entries of a journal become which Events.
func TestNoteEvent(t *testing.T) {
	const at, routed = `"at":"2026-01-02T03:04:05Z"`, `,"instance":"bgp:198.51.100.5","vip":"198.51.100.5","kind":`
	for text, want := range map[string]string{
		at + `,"instance":"one_API_0","vip":"192.0.2.5","state":"MASTER","why":"alone"`:            "VIPTaken This node holds the VIP 192.0.2.5 (one_API_0): alone",
		at + `,"instance":"one_API_0","vip":"192.0.2.5","state":"MASTER","late":true`:              "",
		at + routed + `"route","phase":"announced","why":"it serves"`:                              "VIPAnnounced This node announces the VIP 198.51.100.5 to its routers: it serves",
		at + routed + `"route","phase":"demoted","why":"it leaves"`:                                "VIPDemoted This node announces the VIP 198.51.100.5 behind all other nodes: it leaves",
		at + routed + `"route","phase":"demoted","late":true`:                                      "",
		at + routed + `"route","phase":"waiting"`:                                                  "",
		at + routed + `"others","others":["","10.1.1.12"],"why":"routers report"`:                  "VIPForeignAnnouncer A host that is not of this cluster announces the VIP 198.51.100.5, and routers send connections there: routers report",
		at + routed + `"others","others":["10.1.1.12"]`:                                            "",
		at + `,"instance":"bgp","kind":"session","peer":"10.1.1.1","why":"BFD down"`:               "BGPSessionLost The BGP session with the router 10.1.1.1 is lost: BFD down",
		at + `,"instance":"bgp","kind":"session","peer":"10.1.1.1","up":true,"why":"it has begun"`: "",
		at + `,"instance":"bgp","kind":"bfd","peer":"10.1.1.1","why":"it is Down"`:                 "BFDLost BFD with the router 10.1.1.1 is lost: it is Down",
	} {
		j, err := journal.Decode([]byte("{" + text + "}\n"))
		if err != nil {
			t.Fatal(err)
		}
		reported := make(chan string, 9)
		events := publish.NewEvents(func() (string, error) { return "node-0", nil }, func(_ context.Context, _ string, e publish.Event) error {
			reported <- e.Reason + " " + e.Message
			return nil
		}, slog.New(slog.DiscardHandler))
		ctx, end := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- events.Run(ctx) }()
		for _, e := range j.Entries() {
			noteEvent(events, e)
		}
		noteEvent(events, journal.Entry{Instance: "last", State: supervised.Master})
		got := <-reported
		if strings.HasPrefix(got, "VIPTaken This node holds the VIP invalid IP (last)") {
			got = ""
		}
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		end()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}

// TestJournals_OfSpeaker holds that the two journals of a bootstrap machine, by VRRP and by BGP, are one host's,
// and that two of one kind are not; one that is empty, as a full disk leaves it, hides no other.
func TestJournals_OfSpeaker(t *testing.T) {
	const elected = `{"at":"2026-01-02T03:04:05Z","instance":"ostest_API_0","state":"MASTER"}` + "\n"
	const routed = `{"at":"2026-01-02T03:04:06Z","instance":"bgp:198.51.100.5","vip":"198.51.100.5","kind":"route","phase":"announced"}` + "\n"
	for _, tt := range []struct {
		first, second string
		entries       int // 0 for an error
	}{{elected, "", 1}, {"", elected, 1}, {routed, "", 1}, {"", routed, 1}, {elected, elected[:20], 1}, {elected, routed, 2}, {routed, elected, 2}, {elected, elected, 0}, {routed, routed, 0}, {elected + routed, elected, 0}, {elected + routed, routed, 3}} {
		var j journals
		var out strings.Builder
		std := streams{out: &out, err: &out}
		errFirst := j.addVIPs(std, "bootstrap", []byte(tt.first))
		err := j.addVIPs(std, "bootstrap", []byte(tt.second))
		if errFirst != nil || (err == nil) != (tt.entries > 0) || err == nil && (len(j.hosts) != 1 || len(j.hosts[0].Entries) != tt.entries) {
			t.Errorf("%q, %q: %v, %v, %+v", tt.first, tt.second, errFirst, err, j.hosts)
		}
	}
}
