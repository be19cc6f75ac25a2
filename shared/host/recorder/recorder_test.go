package recorder_test

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/rundir"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// node is a control plane node whose supervisor reports states of the API's instance.
type node struct {
	recorder.Options
	failing sync.Map // checks
}

func newNode(t *testing.T) *node {
	t.Helper()
	dir := t.TempDir()
	n := &node{Options: recorder.Options{
		Plan: fakehost.Plan(t, vrrp.ProfileLan), Run: rundir.Dir(dir),
		Path:   filepath.Join(dir, "kept", "journal"),
		Checks: []vrrp.CheckName{vrrp.CheckLB, vrrp.CheckMCS}, Log: slog.New(slog.DiscardHandler),
	}}
	n.Passes = func(c vrrp.CheckName) bool {
		_, fails := n.failing.Load(c)
		return !fails
	}
	return n
}

func (n *node) report(t *testing.T, state supervised.State) {
	t.Helper()
	text := supervised.Encode(supervised.Status{PID: 9, Instances: map[string]supervised.Instance{
		"ostest_API_0": {State: state, Priority: 100},
	}})
	if err := file.Write(n.Run.StatusFile(), text, 0o644); err != nil {
		t.Fatal(err)
	}
}

// entries are those of the journal; none before it is written.
func (n *node) entries(t *testing.T) []journal.Entry {
	t.Helper()
	text, err := os.ReadFile(n.Path)
	if err != nil {
		return nil
	}
	j, err := journal.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	return j.Entries()
}

func (n *node) mkdir(t *testing.T) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(n.Path), 0o755); err != nil {
		t.Fatal(err)
	}
}

// start runs a recorder again and again, as a monitor does, until its function ends it.
func (n *node) start(t *testing.T, failed func(error)) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	r := recorder.New(n.Options)
	var running sync.WaitGroup
	running.Go(func() {
		for ctx.Err() == nil {
			if err := r.Run(ctx); err != nil {
				failed(err)
			}
		}
	})
	return func() { cancel(); running.Wait() }
}

// changes counts the log's lines of changes.
type changes struct{ atomic.Int32 }

func (c *changes) Write(line []byte) (int, error) {
	if bytes.Contains(line, []byte("this node's part in a VIP")) {
		c.Add(1)
	}
	return len(line), nil
}

func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for start := time.Now(); !ok(); time.Sleep(10 * time.Millisecond) {
		if time.Since(start) > 30*time.Second {
			t.Fatal("never: " + what)
		}
	}
}

// TestRun holds that a node's journal follows what the supervisor reports, over the monitor's end,
// and over a disk that could not be written.
func TestRun(t *testing.T) {
	n := newNode(t)
	n.failing.Store(vrrp.CheckMCS, true)
	var reported, refused atomic.Int32
	log := &changes{}
	n.Log = slog.New(slog.NewTextHandler(log, nil))
	n.Report = func(e journal.Entry) {
		if !e.Late {
			reported.Add(1)
		}
	}
	failed := func(err error) {
		if strings.Contains(err.Error(), "keep the journal") {
			refused.Add(1)
		}
	}
	var want []string
	expect := func(next string) {
		t.Helper()
		want = append(want, "192.0.2.5 "+next)
		eventually(t, strings.Join(want, ", "), func() bool {
			var got []string
			for _, e := range n.entries(t) {
				got = append(got, e.VIP.String()+" "+string(e.State)+" "+e.Why)
			}
			return slices.Equal(got, want)
		})
	}
	end := n.start(t, failed)
	n.report(t, supervised.Backup) // the journal's directory does not exist yet
	eventually(t, "an error of the disk", func() bool { return refused.Load() > 0 })
	n.mkdir(t)
	expect("BACKUP it was so at the first observation")
	n.report(t, supervised.Master)
	expect("MASTER no better router was observed")
	n.failing.Store(vrrp.CheckLB, true)
	n.report(t, supervised.Backup)
	expect("BACKUP failed here: " + string(vrrp.CheckLB) +
		"; no advert of another router was received")
	end()
	n.report(t, supervised.Master)
	end = n.start(t, failed)
	expect("MASTER it changed while it was not observed")
	end()
	if got := reported.Load(); got != 3 {
		t.Errorf("%d entries were reported as observed, want 3", got)
	}
	if got := log.Load(); got != 4 {
		t.Errorf("%d changes were logged, want 4", got)
	}
}

// TestRecorder_AddClash holds that a clash is in the journal with the boot in which it was found,
// and does not stand for a state of the instance.
func TestRecorder_AddClash(t *testing.T) {
	n := newNode(t)
	n.mkdir(t)
	r := recorder.New(n.Options)
	n.report(t, supervised.Backup)
	for range 2 {
		r.AddClash(journal.Entry{At: time.Now(), Instance: "ostest_API_0", Clash: "stranger"})
		if err := r.Record(); err != nil {
			t.Fatal(err)
		}
	}
	clashes, states := 0, 0
	for _, e := range n.entries(t) {
		if e.Boot == "" {
			t.Errorf("no boot: %+v", e)
		}
		if e.Clash != "" {
			clashes++
		} else {
			states++
		}
	}
	if clashes != 2 || states != 1 {
		t.Errorf("%d clashes and %d states: %+v", clashes, states, n.entries(t))
	}
}
