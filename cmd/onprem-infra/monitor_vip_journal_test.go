//go:build remote

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/vip/publish"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/node"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
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

// recording is what the recorder of a control plane node needs.
func recording(p plan.Plan, h node.Host, checks *allBut, log *slog.Logger) recorder.Options {
	return recorder.Options{
		Plan: p, Run: h.Dir, Path: h.At(journal.Path), Checks: checkNamesOf(p, role.Master),
		Passes: checks.Passes, Log: log,
	}
}

// says has the supervisor say the state of the API's instance.
func says(t *testing.T, h node.Host, state supervised.State) {
	t.Helper()
	text := supervised.Encode(supervised.Status{PID: 9, Instances: map[string]supervised.Instance{"ostest_API_0": {State: state, Priority: 100}}})
	if err := file.Write(h.At(election.RunDir, supervised.StatusFile), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// written are the states and reasons in a host's journal.
func written(t *testing.T, h node.Host) (out []string) {
	t.Helper()
	text, err := os.ReadFile(h.At(journal.Path))
	if err != nil {
		return nil
	}
	j, err := journal.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range j.Entries() {
		out = append(out, e.VIP.String()+" "+string(e.State)+" "+e.Why)
	}
	return out
}

// TestJournalFollows holds that a node's journal follows what the supervisor says, over the
// monitor's end, and over a disk that could not be written.
func TestJournalFollows(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	h := onDisk(t, map[string]string{election.RunDir + "/empty": ""})
	log := &heard{}
	m := &monitor{machine: &machine{log: slog.New(slog.NewTextHandler(log, nil)), wake: make(chan struct{}, 1)}}
	checks := &allBut{fails: []vrrp.CheckName{vrrp.CheckMCS}}
	begin := func() func() {
		ctx, cancel := context.WithCancel(t.Context())
		m.watch(ctx, "the journal", recorder.New(recording(p, h, checks, m.log)).Run)
		return func() {
			cancel()
			m.watchers.Wait()
		}
	}
	expect := func(want ...string) {
		t.Helper()
		var got []string
		for begin := time.Now(); time.Since(begin) < 30*time.Second; time.Sleep(10 * time.Millisecond) {
			if got = written(t, h); slices.Equal(got, want) {
				return
			}
		}
		t.Fatalf("wrote %q, want %q", got, want)
	}
	end := begin()
	says(t, h, supervised.Backup) // its directory is not there yet
	for start := time.Now(); log.count("keep the journal") == 0; time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatal("a journal that cannot be written is not said")
		}
	}
	if err := os.MkdirAll(filepath.Dir(h.At(journal.Path)), 0o755); err != nil {
		t.Fatal(err)
	}
	first := "192.0.2.5 BACKUP it was so at the first observation"
	expect(first)
	says(t, h, supervised.Master)
	second := "192.0.2.5 MASTER no better router was observed"
	expect(first, second)
	checks.fail(vrrp.CheckLB)
	says(t, h, supervised.Backup)
	third := "192.0.2.5 BACKUP failed here: " + string(vrrp.CheckLB) + "; no advert of another router was received"
	expect(first, second, third)
	end()
	says(t, h, supervised.Master)
	end = begin()
	expect(first, second, third, "192.0.2.5 MASTER it changed while it was not observed")
	end()
	if log.count("this node's part in a VIP") != 4 {
		t.Errorf("each change has one line:\n%s", strings.TrimSpace(log.text.String()))
	}
}

// TestJournalBefore holds that a node which held a VIP when its monitor began says by an Event when
// it loses it, and not that it has just taken it.
func TestJournalBefore(t *testing.T) {
	h := onDisk(t, map[string]string{election.RunDir + "/empty": "", filepath.Dir(journal.Path) + "/empty": ""})
	log := slog.New(slog.DiscardHandler)
	run := func(states ...supervised.State) (changes []publish.Change) {
		o := recording(fakehost.Plan(t, vrrp.ProfileLan), h, &allBut{}, log)
		o.Report = func(e journal.Entry) { changes = append(changes, change(e)) }
		w := recorder.New(o)
		for _, s := range states {
			says(t, h, s)
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
