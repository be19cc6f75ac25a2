package cluster

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestPublisher holds who announces itself: masters and workers, whoever balances the API, and
// nobody where the cluster has not asked for it.
func TestPublisher(t *testing.T) {
	const pod, hook = "/etc/kubernetes/manifests/mdns-publisher.yaml", "/etc/NetworkManager/dispatcher.d/40-mdns-hostname"
	for _, tt := range []struct {
		name   string
		change func(*spec.Cluster)
		role   role.Role
		want   bool
	}{
		{"a master", func(c *spec.Cluster) { c.MDNS = spec.MDNSEnabled }, role.Master, true},
		{"a worker", func(c *spec.Cluster) { c.MDNS = spec.MDNSEnabled }, role.Worker, true},
		{"an arbiter", func(c *spec.Cluster) {
			c.MDNS, c.Topology = spec.MDNSEnabled, spec.HighlyAvailableArbiter
		}, role.Arbiter, false},
		{"behind a balancer of the user's own", func(
			c *spec.Cluster,
		) {
			c.MDNS = spec.MDNSEnabled
			userManaged(c)
		}, role.Worker, true},
		{"without VIPs", func(c *spec.Cluster) {
			c.MDNS, c.Platform, c.APIVIPs, c.IngressVIPs = spec.MDNSEnabled, spec.VSphere, nil, nil
		}, role.Master, true},
		{"disabled", func(c *spec.Cluster) { c.MDNS = spec.MDNSDisabled }, role.Master, false},
		{"nothing said", func(*spec.Cluster) {}, role.Master, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := served()
			tt.change(&c)
			p, err := plan.Compile(c)
			if err != nil {
				t.Fatal(err)
			}
			paths, err := Paths(p, tt.role)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range []string{pod, hook} {
				if slices.Contains(paths, path) != tt.want {
					t.Errorf("%s is there: %v, want %v", path, !tt.want, tt.want)
				}
			}
			for _, path := range paths {
				if strings.Contains(path, "mdns") && path != pod && path != hook {
					t.Errorf("%s is there too", path)
				}
			}
		})
	}
}

// TestHostnameHook holds what NetworkManager's hook notes (M-05), and that it writes nothing that
// is no news.
func TestHostnameHook(t *testing.T) {
	h := newHook(t)
	called := func(name string) {
		t.Helper()
		path := filepath.Join(h.root, "proc/sys/kernel/hostname")
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(name+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	noted := func() (string, os.FileInfo) {
		path := filepath.Join(h.root, "run/onprem-infra/mdns/hostname")
		text, err := os.ReadFile(path)
		if err != nil {
			return "", nil
		}
		info, _ := os.Stat(path)
		return strings.TrimSpace(string(text)), info
	}
	called("localhost")
	h.script("files/40-mdns-hostname", "eth0", "reapply")
	if got, _ := noted(); got != "" {
		t.Errorf("an event that concerns no name had %q noted", got)
	}
	for _, event := range []string{"up", "down", "dhcp4-change", "dhcp6-change", "hostname"} {
		name := "master-0." + event
		called(name)
		h.script("files/40-mdns-hostname", "eth0", event)
		got, first := noted()
		if got != name {
			t.Errorf("after %s: %q, want %q", event, got, name)
		}
		h.script("files/40-mdns-hostname", "eth0", event)
		if _, second := noted(); !os.SameFile(first, second) {
			t.Errorf("after %s without news it was written again", event)
		}
	}
}
