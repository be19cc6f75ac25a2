package units

import (
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

// TestResolvPrepender holds what taught: files are watched and not events,
// before they exist too; no start limit ends the watch; an older systemd, which restarts no unit of
// type oneshot, tries again; nothing mandatory is missing on a first boot; and kubelet is told to
// wait, not to give up.
func TestResolvPrepender(t *testing.T) {
	list := Host{Kubelet: "k3s.service"}.ResolvPrepender("10-mco-on-prem-wait-resolv.conf")
	byName := map[string]asset.Unit{}
	for _, u := range list {
		byName[u.Name] = u
	}
	for _, tt := range []struct{ unit, section, key, want string }{
		{"on-prem-resolv-prepender.path", "Path", "PathChanged", "/run/NetworkManager/resolv.conf /run/resolv-prepender/env /run/resolv-prepender/fqdn /run/nodeip-configuration/primary-ip /etc/resolv.conf"},
		{"on-prem-resolv-prepender.path", "Path", "Unit", "on-prem-resolv-changed.service"},
		{"on-prem-resolv-prepender.path", "Install", "WantedBy", "multi-user.target"},
		{"on-prem-resolv-changed.service", "Unit", "StartLimitIntervalSec", "0"},
		{
			"on-prem-resolv-changed.service", "Service", "ExecStart",
			"/usr/bin/systemctl restart --no-block on-prem-resolv-prepender.service",
		},
		{"on-prem-resolv-changed.service", "Install", "WantedBy", "multi-user.target"},
		{"on-prem-resolv-prepender.service", "Unit", "StartLimitIntervalSec", "0"},
		{"on-prem-resolv-prepender.service", "Unit", "After", "onprem-install.service"},
		{"on-prem-resolv-prepender.service", "Service", "Type", "oneshot"},
		{"on-prem-resolv-prepender.service", "Service", "TimeoutStartSec", "infinity"},
		{"on-prem-resolv-prepender.service", "Service", "Restart", ""},
		{"on-prem-resolv-prepender.service", "Service", "EnvironmentFile", ""},
		{"on-prem-resolv-prepender.service", "Service", "SuccessExitStatus", "143 SIGTERM"},
		{"on-prem-resolv-prepender.service", "Service", "ExecStart", "/bin/sh -c 'until /usr/local/bin/onprem-infra monitor resolv; do sleep 10; done'"},
	} {
		if got := strings.Join(
			values(t, byName[tt.unit].Contents, tt.section, tt.key), " ",
		); got != tt.want {
			t.Errorf("%s: %s= is %q, want %q", tt.unit, tt.key, got, tt.want)
		}
	}
	var enabled []string
	for _, u := range list {
		if u.Enabled {
			enabled = append(enabled, u.Name)
		}
	}
	if want := []string{
		"on-prem-resolv-prepender.path", "on-prem-resolv-changed.service",
	}; !slices.Equal(enabled, want) {
		t.Errorf("enabled are %q, want %q: a boot must not wait for a lease", enabled, want)
	}
	gate := byName["k3s.service"].DropIns
	if len(gate) != 1 || gate[0].Name != "10-mco-on-prem-wait-resolv.conf" {
		t.Fatalf("kubelet's drop-ins: %+v", gate)
	}
	condition := strings.Join(values(t, gate[0].Contents, "Service", "ExecCondition"), " ")
	if !strings.Contains(condition, "test -e /run/resolv-prepender-kni-conf-done ||") ||
		!strings.Contains(condition, "exit 255;") {
		t.Errorf("kubelet's condition: %s", condition)
	}
	if got := values(
		t, gate[0].Contents, "Unit", "StartLimitIntervalSec",
	); !slices.Equal(got, []string{"0"}) {
		t.Errorf("kubelet's start limit: %q", got)
	}
}
