package daemons_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/dns"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/corefile"
	"github.com/onprem-infra/onprem-infra/shared/host/diagnose"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/daemons"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestRunning holds that a daemon's running configuration is compared with its file as the daemon
// itself makes the digest, and that an edit by hand is known from a new file.
func TestRunning(t *testing.T) {
	p := fakehost.PlanWithImages(t)
	write := func(h *diagnose.Host, path, text string) {
		if err := os.WriteFile(h.Files.Path(path), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name     string
		change   func(h *diagnose.Host)
		outdated string // the daemon that does not run on its file
		edited   bool   // the file is not the one that was written for the daemon
	}{
		{name: "all run on their files", change: func(*diagnose.Host) {}},
		{"keepalived's file is newer", func(h *diagnose.Host) {
			write(h, inspect.KeepalivedConf, fakehost.KeepalivedConf+"#\n")
		}, "keepalived", false},
		{"HAProxy's file is newer", func(h *diagnose.Host) {
			changed := fakehost.Balancer
			changed.Ports.LB++
			write(h, haproxy.File, string(haproxy.Render(changed)))
		}, "HAProxy", false},
		{"HAProxy's file was edited", func(h *diagnose.Host) {
			text := string(haproxy.Render(fakehost.Balancer))
			write(h, haproxy.File, strings.Replace(text, "client 1m", "client 2m", 1))
		}, "HAProxy", true},
		{"a server of HAProxy is disabled", func(h *diagnose.Host) {
			was := h.Daemons.Backends
			h.Daemons.Backends = func(ctx context.Context) ([]haproxy.Stat, error) {
				stats, err := was(ctx)
				stats[1].Status = "MAINT"
				return stats, err
			}
		}, "HAProxy", false},
		{"CoreDNS's file is newer", func(h *diagnose.Host) {
			changed := corefile.Config{Zone: p.Cluster.Zone, Upstreams: p.VIPs.API}
			write(h, dns.Config, string(corefile.Render(changed)))
		}, "CoreDNS", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			host := fakehost.Doctor(t, p)
			tt.change(host)
			i := daemons.Inspector{Probes: host.Daemons, Scope: inspect.Scope{
				Plan: p, Files: host.Files, Live: true, Role: host.Files.Role(),
				Rooms: host.Files.Rooms(p), Unseen: &inspect.Unseen{},
			}}
			all := i.Running(t.Context())
			if unseen := i.Unseen.List(); len(all) != 3 || len(unseen) > 0 {
				t.Fatalf("%+v, unseen %q", all, unseen)
			}
			for _, r := range all {
				if outdated := r.Loaded != r.Disk; outdated != (r.Daemon == tt.outdated) {
					t.Errorf("%+v", r)
				} else if outdated && (r.Loaded == r.Header) != tt.edited {
					t.Errorf("edited by hand, want %t: %+v", tt.edited, r)
				}
			}
		})
	}
}
