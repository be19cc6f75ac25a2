package recorder_test

import (
	"net/netip"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/recorder"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/operator/journal"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// speaker reports a phase of a VIP, as FRR's parent does.
func speaker(t *testing.T, dir speakdir.Dir, phase speak.Phase) {
	t.Helper()
	s := spoken.Status{At: time.Now(), VIPs: []spoken.VIP{{VIP: vip, Phase: phase, Since: time.Now()}}}
	if err := file.Write(dir.At(spoken.StatusFile), spoken.Encode(s), 0o644); err != nil {
		t.Fatal(err)
	}
}

var vip = netip.MustParseAddr("198.51.100.5")

// TestRecorder_Speaker holds that what the speaker reports is in the journal beside the VRRP groups, with
// the reasons of the monitor and of the files, and that all of both is reported.
func TestRecorder_Speaker(t *testing.T) {
	n := newNode(t)
	n.mkdir(t)
	n.Speaker = speakdir.Dir(t.TempDir())
	n.Unannounced = func() map[netip.Addr]string { return map[netip.Addr]string{vip: "no server serves"} }
	var reported []journal.Entry
	n.Report = func(e journal.Entry) { reported = append(reported, e) }
	end := n.start(t, func(err error) { t.Error(err) })
	expect := func(want string) {
		t.Helper()
		for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
			var last string
			for _, e := range n.entries(t) {
				if e.Kind == journal.OfRoute {
					last = string(e.Phase) + " " + e.Why + " " + e.Host.String()
				}
			}
			if last == want {
				return
			}
			if time.Since(begun) > 20*time.Second {
				t.Fatalf("the last entry is %q, want %q", last, want)
			}
		}
	}
	if err := file.Write(n.Speaker.At(spoken.LeaveFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := n.Speaker.Configure(spoken.Config{Router: netip.MustParseAddr("10.1.1.11"), VIPs: []netip.Addr{vip}}); err != nil {
		t.Fatal(err)
	}
	n.report(t, supervised.Backup)
	speaker(t, n.Speaker, speak.Announced)
	expect("announced it was so at the first observation 10.1.1.11")
	speaker(t, n.Speaker, speak.Demoted)
	expect("demoted this host was asked to release it 10.1.1.11")
	if err := n.Speaker.Leave(false); err != nil {
		t.Fatal(err)
	}
	speaker(t, n.Speaker, speak.Announced)
	expect("announced this host no longer releases it; its grade is 0 10.1.1.11")
	speaker(t, n.Speaker, speak.Withdrawn)
	expect("withdrawn no server serves 10.1.1.11")
	end()
	var all []string
	for _, e := range reported {
		all = append(all, string(e.State)+string(e.Phase))
	}
	if slices.Sort(all); !slices.Equal(all, []string{string(supervised.Backup), "announced", "announced", "demoted", "withdrawn"}) {
		t.Errorf("%q", all)
	}
	// A bootstrap machine's speaker has a journal of its own, and no keepalived.
	own := recorder.Options{Plan: n.Plan, Path: filepath.Join(t.TempDir(), "journal"), Speaker: n.Speaker, Log: n.Log}
	r := recorder.New(own)
	if err := r.Record(); err != nil {
		t.Fatal(err)
	}
	text, err := file.Read(own.Path)
	if err != nil || strings.Count(string(text), "\n") != 1 || !strings.Contains(string(text), `"phase":"withdrawn"`) {
		t.Errorf("%v: %s", err, text)
	}
}
