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

	"github.com/onprem-infra/onprem-infra/cluster/mco"
	"github.com/onprem-infra/onprem-infra/cluster/pod"
	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestLeavesToStaticPod holds that a room of the bootstrap machine goes on until there is a
// manifest for its daemon, then leaves in order, and that the program ends by itself.
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
	if err := turn(ctx, m, steps, func(context.Context) {}); err != nil {
		t.Fatal(err)
	}
	if !left || rounds < 3 || !strings.Contains(log.String(), "kubelet runs the daemon from "+manifest) {
		t.Errorf("left %v after %d rounds: %s", left, rounds, log.String())
	}
}

// TestStaticPods holds that the manifests of our own tree are known as ours, and the operator's are
// not: there nothing of ours runs, and nothing is looked for that ours would have.
func TestStaticPods(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	look := &statusLook{plan: p, host: nodeVIPHost{root: t.TempDir()}}
	write := func(path, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(look.host.at(path)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(look.host.at(path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("/etc/systemd/system/onprem-keepalived.service", "[Unit]\n")
	said := func() string {
		var r statusReport
		look.staticPods(&r)
		return statusText(r)
	}
	if runs := look.rooms(look.kind()); !runs.VIP || !runs.DNS || strings.Contains(said(), "in the place of ours") {
		t.Errorf("without static pods: %+v, %s", runs, said())
	}
	for _, s := range mco.BootstrapPods(p) {
		write("/etc/kubernetes/manifests/"+s.Name+".yaml", string(pod.Render(s)))
	}
	if runs := look.rooms(look.kind()); !runs.VIP || !runs.DNS || strings.Contains(said(), "in the place of ours") {
		t.Errorf("with pods of ours: %+v, %s", runs, said())
	}
	write(keepalivedManifest, "kind: Pod\nmetadata: {name: keepalived}\n")
	runs := look.rooms(look.kind())
	if runs.VIP || !runs.DNS || !strings.Contains(said(), keepalivedManifest) || strings.Contains(said(), coreDNSManifest) {
		t.Errorf("with the operator's keepalived: %+v, %s", runs, said())
	}
}
