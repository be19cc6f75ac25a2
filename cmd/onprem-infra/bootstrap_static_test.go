//go:build remote

package main

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mco/static"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestLeavesToStaticPod holds that a room of the bootstrap machine goes on until there is a
// manifest for its daemon, then releases its VIP, and that the program ends.
func TestLeavesToStaticPod(t *testing.T) {
	manifest := filepath.Join(t.TempDir(), "etc/kubernetes/manifests/keepalived.yaml")
	var log strings.Builder
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	m := &machine{log: slog.New(slog.NewTextHandler(&log, nil)), wake: loop.NewWake(), meter: newMeter("test"), static: manifest, stop: cancel}
	m.status = unitStatus{send: func(string) error { return nil }}
	rounds, left := 0, false
	steps := loop.Steps[int, int]{
		Observe: func(context.Context) (int, error) { rounds++; return rounds, nil },
		Decide:  func(n int) (int, loop.Reasons) { return n, nil },
		Apply: func(context.Context, int) error {
			if rounds == 2 {
				return os.MkdirAll(filepath.Dir(manifest), 0o755)
			}
			if rounds == 3 {
				return os.WriteFile(manifest, []byte("kind: Pod\n"), 0o644)
			}
			return nil
		},
		Leave: func(context.Context) error { left = true; return nil },
	}
	if err := runRoom(ctx, m, steps, func(context.Context) {}); err != nil {
		t.Fatal(err)
	}
	if !left || rounds < 3 || !strings.Contains(log.String(), "kubelet runs the daemon from "+manifest) {
		t.Errorf("left %v after %d rounds: %s", left, rounds, log.String())
	}
}

// TestStaticPods distinguishes the manifests of our own tree from the operator's, in whose place
// none of our daemons runs.
func TestStaticPods(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	host := fakehost.New(t, p, nil)
	write := func(path, text string) {
		t.Helper()
		fakehost.Write(t, host.Files, map[string]string{path: text})
	}
	write("/etc/systemd/system/onprem-keepalived.service", "[Unit]\n")
	report := func() string {
		return status.Inspect(t.Context(), host).Text(width())
	}
	if runs := host.Files.Rooms(p); !runs.VIP || !runs.DNS || strings.Contains(report(), "instead of ours") {
		t.Errorf("without static pods: %+v, %s", runs, report())
	}
	for _, s := range static.Bootstrap(p) {
		write("/etc/kubernetes/manifests/"+s.Name+".yaml", string(pod.Render(s)))
	}
	if runs := host.Files.Rooms(p); !runs.VIP || !runs.DNS || strings.Contains(report(), "instead of ours") {
		t.Errorf("with pods of ours: %+v, %s", runs, report())
	}
	write(inspect.KeepalivedManifest, "kind: Pod\nmetadata: {name: keepalived}\n")
	runs := host.Files.Rooms(p)
	if runs.VIP || !runs.DNS || !strings.Contains(report(), inspect.KeepalivedManifest) || strings.Contains(report(), inspect.CoreDNSManifest) {
		t.Errorf("with the operator's keepalived: %+v, %s", runs, report())
	}
}

// TestStaticPods_Speaker distinguishes the operator's own FRR on a bootstrap machine from the pod of our tree.
func TestStaticPods_Speaker(t *testing.T) {
	c, findings := spec.Parse("cluster.yaml", []byte(announced), spec.Knobs{})
	p, err := plan.Compile(c)
	if err != nil || findings.HasErrors() {
		t.Fatal(err, findings)
	}
	host := fakehost.New(t, p, nil)
	write := func(path, text string) {
		t.Helper()
		fakehost.Write(t, host.Files, map[string]string{path: text})
	}
	write("/etc/systemd/system/onprem-speaker.service", "[Unit]\n")
	if !host.Files.Rooms(p).Speaks {
		t.Error("without static pods its own unit announces")
	}
	write(inspect.FRRManifest, string(pod.Render(static.Speaker(p))))
	if all, err := host.Files.Statics(); err != nil || len(all) != 1 || !all[0].Ours || !host.Files.Rooms(p).Speaks {
		t.Errorf("with the pod of ours: %+v, %v", all, err)
	}
	write(inspect.FRRManifest, "kind: Pod\nmetadata: {name: frr-k8s}\n")
	if all, err := host.Files.Statics(); err != nil || len(all) != 1 || all[0].Ours || all[0].Unit != "onprem-speaker.service" || host.Files.Rooms(p).Speaks {
		t.Errorf("with the operator's own: %+v, %v", all, err)
	}
}
