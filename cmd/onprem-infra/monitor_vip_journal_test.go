//go:build remote

package main

import (
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
	run := func(states ...supervised.State) (changes []publish.Change) {
		w := recorder.New(recorder.Options{
			Plan: p, Run: h.Dir, Path: h.At(journal.Path), Log: slog.New(slog.DiscardHandler),
			Report: func(e journal.Entry) { changes = append(changes, change(e)) },
		})
		for _, s := range states {
			reportState(t, h, s)
			if err := w.Record(); err != nil {
				t.Fatal(err)
			}
		}
		return changes
	}
	if got := run(supervised.Backup, supervised.Master); len(got) != 2 || got[1].Earlier || !got[1].Holder {
		t.Fatalf("the first run reported %+v", got)
	}
	got := run(supervised.Master, supervised.Backup)
	if last := len(got) - 1; last < 1 || !got[last-1].Earlier || !got[last-1].Holder || got[last].Earlier || got[last].Holder {
		t.Errorf("the second run reported %+v", got)
	}
}

// TestJournals_OfSpeaker holds that the two journals of a bootstrap machine, by VRRP and by BGP, are one host's,
// and that two of one kind are not.
func TestJournals_OfSpeaker(t *testing.T) {
	const elected = `{"at":"2026-01-02T03:04:05Z","instance":"ostest_API_0","state":"MASTER"}` + "\n"
	const routed = `{"at":"2026-01-02T03:04:06Z","instance":"bgp:198.51.100.5","vip":"198.51.100.5","kind":"route","phase":"announced"}` + "\n"
	for _, tt := range []struct {
		first, second string
		entries       int // 0 for an error
	}{{elected, routed, 2}, {routed, elected, 2}, {elected, elected, 0}, {routed, routed, 0}, {elected + routed, elected, 0}, {elected + routed, routed, 3}} {
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
