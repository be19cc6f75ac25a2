//go:build remote

package main

import (
	"bytes"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// TestVIPLeave speaks to a FAKE supervisor, which is a status file.
func TestVIPLeave(t *testing.T) {
	master := supervised.Status{PID: 7, Instances: map[string]supervised.Instance{
		"ostest_API_0": {State: supervised.Master}, "ostest_INGRESS_0": {State: supervised.Backup},
	}}
	asked, left := master, master
	asked.Leaving = supervised.Asked
	left.Leaving, left.PID, left.Instances = supervised.Left, 0, nil
	backup := supervised.Status{PID: 7, Instances: map[string]supervised.Instance{"ostest_API_0": {State: supervised.Backup}}}
	for _, tt := range []struct {
		name     string
		absent   bool // no run directory
		before   *supervised.Status
		answers  []supervised.Status // once asked, one after the other
		code     int
		out, err string
	}{
		{name: "no keepalived has ever run", absent: true, out: "no keepalived has run here"},
		{name: "it has not said anything yet", out: "no VIP was held here"},
		{name: "it does not run", before: &supervised.Status{}, out: "no VIP was held here"},
		{name: "K-59: it hands over", before: &master, answers: []supervised.Status{asked, left}, out: "ostest_API_0 released after"},
		{name: "it was asked before", before: &left, out: "no VIP was held here"},
		{name: "it holds nothing", before: &backup, answers: []supervised.Status{left}, out: "no VIP was held here"},
		{name: "it never gets there", before: &master, answers: []supervised.Status{asked}, code: 3, err: "not released within 1s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "keepalived")
			status, request := filepath.Join(dir, supervised.StatusFile), filepath.Join(dir, supervised.LeaveFile)
			if !tt.absent {
				if err := os.Mkdir(dir, 0o755); err != nil {
					t.Fatal(err)
				}
			}
			if tt.before != nil {
				if err := file.Write(status, supervised.Encode(*tt.before), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			done := make(chan struct{})
			go func() {
				defer close(done)
				for _, err := os.Stat(request); len(tt.answers) > 0 && err != nil; _, err = os.Stat(request) {
					time.Sleep(time.Millisecond)
				}
				for _, s := range tt.answers {
					time.Sleep(20 * time.Millisecond)
					if err := file.Write(status, supervised.Encode(s), 0o644); err != nil {
						t.Error(err)
					}
				}
			}()
			var out, errs bytes.Buffer
			timeout := "30s"
			if tt.code != 0 {
				timeout = "1s"
			}
			code := run(t.Context(), []string{"vip", "leave", "--run-dir", dir, "--speaker-dir", filepath.Join(dir, "none"), "--timeout", timeout}, streams{out: &out, err: &errs})
			<-done
			if code != tt.code || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.err) {
				t.Errorf("exit %d\n%s%s", code, out.String(), errs.String())
			}
			_, err := os.Stat(request)
			if tt.absent != (err != nil) {
				t.Errorf("the request: %v", err)
			}
			if code := run(t.Context(), []string{"vip", "leave", "--undo", "--run-dir", dir, "--speaker-dir", filepath.Join(dir, "none")}, streams{out: &out, err: &errs}); code != 0 {
				t.Errorf("undo: exit %d\n%s", code, errs.String())
			}
			if _, err := os.Stat(request); err == nil {
				t.Error("the request is still there")
			}
		})
	}
}

// TestVIPLeave_Routers speaks to a FAKE parent of FRR, which is a status file.
func TestVIPLeave_Routers(t *testing.T) {
	vip := netip.MustParseAddr("198.51.100.5")
	announces := func(at time.Time) spoken.Status {
		return spoken.Status{At: at, VIPs: []spoken.VIP{{VIP: vip, Phase: speak.Announced}}}
	}
	for _, tt := range []struct {
		name     string
		before   *spoken.Status
		leaves   bool
		code     int
		out, err string
	}{
		{name: "it leads its routers away", before: new(announces(time.Now())), leaves: true, out: "198.51.100.5 withdrawn after"},
		{name: "it never gets there", before: new(announces(time.Now())), code: 3, err: "has not left its routers within 1s"},
		{name: "it does not run", before: new(announces(time.Now().Add(-time.Minute))), out: "withdrawn after"},
		{name: "it announced nothing", before: &spoken.Status{At: time.Now(), Left: true}, out: "no VIP was announced here"},
		{name: "it has not reported yet", out: "no VIP was announced here"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			put := func(s spoken.Status) {
				if err := file.Write(filepath.Join(dir, spoken.StatusFile), spoken.Encode(s), 0o644); err != nil {
					t.Error(err)
				}
			}
			if tt.before != nil {
				put(*tt.before)
			}
			request, done := filepath.Join(dir, spoken.LeaveFile), make(chan struct{})
			go func() {
				defer close(done)
				for _, err := os.Stat(request); tt.leaves && err != nil; _, err = os.Stat(request) {
					time.Sleep(time.Millisecond)
				}
				if tt.leaves {
					time.Sleep(20 * time.Millisecond)
					put(spoken.Status{At: time.Now(), Left: true})
				}
			}()
			var out, errs bytes.Buffer
			timeout := "30s"
			if tt.code != 0 {
				timeout = "1s"
			}
			code := run(t.Context(), []string{"vip", "leave", "--run-dir", filepath.Join(dir, "none"), "--speaker-dir", dir, "--timeout", timeout}, streams{out: &out, err: &errs})
			<-done
			if code != tt.code || !strings.Contains(out.String(), tt.out) || !strings.Contains(errs.String(), tt.err) || strings.Contains(out.String(), "keepalived") {
				t.Errorf("exit %d\n%s%s", code, out.String(), errs.String())
			}
			if _, err := os.Stat(request); err != nil {
				t.Errorf("the request: %v", err)
			}
			if code := run(t.Context(), []string{"vip", "leave", "--undo", "--run-dir", filepath.Join(dir, "none"), "--speaker-dir", dir}, streams{out: &out, err: &errs}); code != 0 {
				t.Errorf("undo: exit %d\n%s", code, errs.String())
			}
			if _, err := os.Stat(request); err == nil {
				t.Error("the request is still there")
			}
		})
	}
}
