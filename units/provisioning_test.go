package units

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/loop"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// ofParts are the units by the words behind "bootstrap run".
var ofParts = map[string]string{
	string(orders.Address): "onprem-provisioning-interface.service", string(orders.HTTP): "onprem-httpd.service",
	string(orders.Ironic): "onprem-ironic.service", string(orders.DHCP): "onprem-dnsmasq.service",
	"provision": "onprem-provision.service",
}

// TestProvisioning holds what all units of provisioning have in common: they run where there is a
// file of hosts, come back whatever ends them, and stop in order.
func TestProvisioning(t *testing.T) {
	units := all(t)
	for _, p := range orders.Parts() {
		if ofParts[string(p)] == "" {
			t.Errorf("no unit runs the part %s", p)
		}
	}
	if got := len((Host{}).Provisioning()); got != len(ofParts) {
		t.Errorf("%d units, want %d", got, len(ofParts))
	}
	for part, name := range ofParts {
		text := units[name].Contents
		for _, want := range []struct{ section, key, value string }{
			{"Unit", "ConditionPathExists", layout.Hosts},
			{"Unit", "StartLimitIntervalSec", "0"},
			{"Service", "Type", "notify"},
			{"Service", "NotifyAccess", "main"},
			{"Service", "ExecStart", "/usr/local/bin/onprem-infra bootstrap run " + part},
			{"Service", "Restart", "always"},
			{"Service", "RestartSec", "1"},
			{"Service", "TimeoutStartSec", "infinity"},
			{"Service", "RuntimeDirectoryPreserve", "yes"},
			{"Service", "NoNewPrivileges", "yes"},
			{"Service", "ProtectSystem", "strict"},
			{"Install", "WantedBy", "multi-user.target"},
		} {
			if got := strings.Join(values(t, text, want.section, want.key), " "); got != want.value {
				t.Errorf("%s: %s=%s, want %s", name, want.key, got, want.value)
			}
		}
		if !units[name].Enabled {
			t.Errorf("%s is not enabled", name)
		}
		for _, key := range []string{"Requires", "Requisite", "BindsTo", "PartOf", "Upholds"} {
			if got := values(t, text, "Unit", key); len(got) > 0 {
				t.Errorf("%s: %s=%v, want it to live and start without", name, key, got)
			}
		}
		if stop, err := strconv.Atoi(strings.Join(values(t, text, "Service", "TimeoutStopSec"), "")); err != nil || time.Duration(stop)*time.Second <= loop.LeaveTimeout {
			t.Errorf("%s: TimeoutStopSec=%d (%v), the program takes up to %v", name, stop, err, loop.LeaveTimeout)
		}
		after := values(t, text, "Unit", "After")
		for _, needed := range []string{"network-online.target", "onprem-install.service"} {
			if !slices.Contains(after, needed) || !slices.Contains(values(t, text, "Unit", "Wants"), needed) {
				t.Errorf("%s: it does not want %s, or is not after it: %v", name, needed, after)
			}
		}
		// A unit that waits for another one's start answers no orders meanwhile, the one to end included.
		for _, other := range ofParts {
			if slices.Contains(after, other) || slices.Contains(values(t, text, "Unit", "Before"), other) {
				t.Errorf("%s is in an order with %s: orders decide that", name, other)
			}
		}
	}
	wants := values(t, units["onprem-provision.service"].Contents, "Unit", "Wants")
	for part, name := range ofParts {
		if part != "provision" && !slices.Contains(wants, name) {
			t.Errorf("onprem-provision.service: Wants=%v lacks %s", wants, name)
		}
	}
}

// TestProvisioning_Directories holds that each part may write where package layout has its files,
// that no directory is lost when one of the units stops, and that systemd makes none with secrets.
func TestProvisioning_Directories(t *testing.T) {
	units := all(t)
	for name, dirs := range map[string][]string{
		"onprem-provisioning-interface.service": {layout.Orders, layout.Report("address")},
		"onprem-httpd.service":                  {layout.Report("http"), layout.Images + "/agent.kernel", layout.Certificate},
		"onprem-ironic.service":                 {layout.Report("ironic"), layout.IronicConf, layout.Ironic + "/db", layout.Key, layout.Account, layout.HTTP + "/a"},
		"onprem-dnsmasq.service":                {layout.Report("dhcp"), layout.DnsmasqConf, layout.DnsmasqHost, layout.Leases, layout.TFTP + "/a"},
		"onprem-provision.service":              {layout.Orders, layout.Progress, layout.Journal},
	} {
		var made []string
		for _, dir := range values(t, units[name].Contents, "Service", "RuntimeDirectory") {
			made = append(made, "/run/"+dir)
		}
		kept := values(t, units[name].Contents, "Service", "StateDirectory")
		for _, dir := range kept {
			made = append(made, "/var/lib/"+dir)
		}
		// Each start of a unit gives the directories its mode, so all of them have the same.
		if mode := strings.Join(values(t, units[name].Contents, "Service", "StateDirectoryMode"), ""); len(kept) > 0 && mode != "0700" {
			t.Errorf("%s: StateDirectoryMode=%s: users of the machine read the passwords of BMCs", name, mode)
		}
		for _, file := range dirs {
			if !slices.ContainsFunc(made, func(dir string) bool { return strings.HasPrefix(file, dir+"/") || file == dir }) {
				t.Errorf("%s: %s is in none of %v", name, file, made)
			}
		}
		for _, dir := range made {
			if path.Clean(dir) != dir || dir == "/run/onprem-infra" || dir == "/var/lib/onprem-infra" {
				t.Errorf("%s: %s is more than its own", name, dir)
			}
		}
	}
}

// TestProvisioning_Privileges holds that only those two parts have a capability whose work takes
// one, and that a unit which launches no container knows no podman and no registry credentials.
func TestProvisioning_Privileges(t *testing.T) {
	units := all(t)
	for name, want := range map[string]string{
		"onprem-provisioning-interface.service": "CAP_NET_ADMIN CAP_NET_RAW", "onprem-dnsmasq.service": "CAP_NET_ADMIN CAP_NET_RAW",
		"onprem-httpd.service": "", "onprem-ironic.service": "", "onprem-provision.service": "CAP_NET_RAW",
	} {
		if got := strings.Join(values(t, units[name].Contents, "Service", "CapabilityBoundingSet"), " "); got != want {
			t.Errorf("%s: CapabilityBoundingSet=%s, want %q", name, got, want)
		}
		if got := values(t, units[name].Contents, "Service", "AmbientCapabilities"); len(got) > 0 {
			t.Errorf("%s: AmbientCapabilities=%v", name, got)
		}
		launches := slices.Contains(values(t, units[name].Contents, "Unit", "Wants"), "podman.socket")
		home := strings.Join(values(t, units[name].Contents, "Service", "ProtectHome"), " ")
		if alone := name == "onprem-provisioning-interface.service" || name == "onprem-provision.service"; launches == alone || (home == "yes") != alone {
			t.Errorf("%s: it launches containers: %v, ProtectHome=%s", name, launches, home)
		}
	}
}
