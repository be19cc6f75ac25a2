package provisioning

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/qemuhost"
)

// units are those of the bootstrap machine that provision hosts.
var units = []string{"onprem-provisioning-interface.service", "onprem-httpd.service", "onprem-ironic.service",
	"onprem-dnsmasq.service", "onprem-provision.service"}

// TestUnits boots a bootstrap machine from its Ignition document. Its units start by themselves,
// real Ironic and dnsmasq run in containers, and a host whose BMC is a FAKE is enrolled and
// switched on to be inspected. Nothing boots there: the host's node appears as if another program
// had installed it, and everything ends in order.
func TestUnits(t *testing.T) {
	s := newSite(t)
	s.add(&host{kind: kind{name: "master-0", legacy: true}, mac: "52:54:00:22:00:01"})
	s.install(placeholders(t))
	s.must(s.Boot(t.Context()))
	s.laps.lap("systemd runs")
	s.at("master-0", 3*time.Minute, progress.Inspect)
	s.await(30*time.Second, func() error { return s.switchedOn(s.members[0]) })
	s.laps.lap("master-0 is switched on, to boot from the network")

	t.Run("Ironic's image is pulled once", s.pullsOnce)
	t.Run("DHCP answers the hosts of the set alone", s.answers)
	t.Run("secrets stay where they belong", s.keepsSecrets)
	t.Run("units and containers have the least privilege", s.isConfined)
	t.Run("all ends in order", func(t *testing.T) { s.ends(t) })
}

// TestLongFull boots a machine whose disk has no room for the operating system: the status names
// the cause, and it goes on by itself once there is room.
func TestLongFull(t *testing.T) {
	needLong(t)
	s := newSite(t)
	s.add(&host{kind: kind{name: "master-0", legacy: true}, mac: "52:54:00:22:00:01"})
	p := placeholders(t)
	s.must(os.Truncate(p.Path, 64<<20))
	s.install(p)
	s.must(s.Machine.Write("/etc/fstab", []byte("tmpfs "+layout.State+" tmpfs size=16m,mode=0700 0 0\n"), 0o644), s.Boot(t.Context()))
	s.laps.lap("systemd runs")
	s.await(time.Minute, func() error {
		p, err := s.progress()
		if err == nil && (p.Phase != progress.Services || !strings.Contains(p.Waits, "is full (64 MB are missing of it): make room there")) {
			err = fmt.Errorf("phase %s, waiting for %s", p.Phase, p.Waits)
		}
		return err
	})
	s.laps.lap("the status says that there is no room")
	s.sh("mount -o remount,size=256m " + layout.State)
	s.at("master-0", 3*time.Minute, progress.Inspect)
	s.ends(t)
}

// placeholders are files of which none is ever booted.
func placeholders(t *testing.T) (p payload) {
	t.Helper()
	dir := t.TempDir()
	for name, to := range map[string]*string{"agent.kernel": &p.Kernel, "agent.initramfs": &p.Initramfs, "os.raw": &p.Path} {
		*to = filepath.Join(dir, name)
		if err := os.WriteFile(*to, []byte(name), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return p
}

// switchedOn reports whether Ironic has had a BMC start its machine.
func (s *site) switchedOn(m *member) error {
	for _, r := range m.control.Requests() {
		if r.Method == http.MethodPost && strings.HasSuffix(r.Path, "/Actions/ComputerSystem.Reset") {
			return nil
		}
	}
	return errors.New("the BMC was not asked to start " + m.name)
}

// pullsOnce holds that the two units which need Ironic's image first do not transfer it twice.
func (s *site) pullsOnce(t *testing.T) {
	requests, err := s.registry.Requests()
	s.must(err)
	blobs := map[string]int{}
	for _, r := range requests {
		if strings.HasPrefix(r, "GET /v2/ironic/blobs/") {
			blobs[r]++
		}
	}
	for blob, times := range blobs {
		if times != 1 {
			t.Errorf("%d times %s", times, blob)
		}
	}
	if len(blobs) != 2 { // the layer and the configuration
		t.Errorf("requests for %d blobs of Ironic's image, want 2: %q", len(blobs), requests)
	}
}

// unknownMAC is of no host of the description.
const unknownMAC = "52:54:00:99:99:99"

func (s *site) answers(t *testing.T) {
	if s.offered(unknownMAC, 4*time.Second) {
		t.Error("a host that is not in the set got an answer by DHCP")
	}
	if !s.offered(s.members[0].mac, 4*time.Second) {
		t.Error("a host of the set got no answer by DHCP")
	}
}

// database is Ironic's, which has the accounts of the BMCs.
const database = layout.Ironic + "/ironic.sqlite"

// keepsSecrets looks for the BMCs' password and for what the Ignition documents write, as another
// user of the machine could.
func (s *site) keepsSecrets(t *testing.T) {
	words := fmt.Sprintf(`-e '%s' -e '%s'`, qemuhost.Password, s.members[0].applied)
	const asNobody = "setpriv --reuid 65534 --regid 65534 --clear-groups --bounding-set -all "
	// Documents are in data: URLs, in which a space is %20.
	words += ` -e '` + strings.ReplaceAll(s.members[0].applied, " ", "%20") + `'`
	for name, script := range map[string]string{
		"a journal":          `journalctl --no-pager --output=export --all | grep -a ` + words,
		"a command line":     `ps axwweo args | grep -v grep | grep ` + words,
		"an environment":     `for p in /proc/[0-9]*; do tr '\0' '\n' <$p/environ | grep ` + words + `; done 2>/dev/null`,
		"a unit":             `systemctl cat '*' | grep ` + words,
		"a container":        `podman ps --all --quiet | xargs podman inspect | grep ` + words,
		"a readable file":    asNobody + `grep -rIla ` + words + ` / --exclude-dir=proc --exclude-dir=sys 2>/dev/null`,
		"a state of the run": `grep -rla ` + words + ` /run/onprem-infra /etc/onprem-infra/cluster.json`,
	} {
		if out, err := s.VM.Run(t.Context(), "sh", "-c", script+"; true"); err != nil || out != "" {
			t.Errorf("%s has a secret: %v\n%s", name, err, out)
		}
	}
	// The same search finds them where they belong, and nowhere else on the machine. The mode of its
	// database is Ironic's choice, and its directory is for root alone. A file that SQLite has for an
	// instant beside it may be gone before it is looked at.
	const modes = `stat -c '%a %U:%G %n' `
	found := s.sh(`grep -rlaZ ` + words + ` / --exclude-dir=proc --exclude-dir=sys --exclude='*.sqlite-journal' 2>/dev/null | xargs -0 -r ` + modes + `; ` + modes + layout.Ironic)
	want := []string{"600 root:root " + layout.Hosts, "644 root:root " + database, "700 root:root " + layout.Ironic}
	if got := strings.Split(found, "\n"); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("secrets are in %q, want %q", got, want)
	}
}

// isConfined states what each unit is exposed to, and holds that no container has more than its
// capabilities.
func (s *site) isConfined(t *testing.T) {
	for _, unit := range units {
		line := s.sh("systemd-analyze security --no-pager " + unit + " | tail -n 1")
		t.Log(strings.TrimLeft(line, "→ "))
		_, rest, _ := strings.Cut(line, ": ")
		if exposure, err := strconv.ParseFloat(strings.Fields(rest + " none")[0], 64); err != nil || exposure > 2.5 {
			t.Errorf("%s: %q, want an exposure of 2.5 at most", unit, line)
		}
	}
	if log := s.sh("podman logs onprem-ironic 2>&1"); !strings.Contains(log, "ironic.") || strings.Contains(log, "GET /v1") {
		t.Errorf("Ironic logs each request, or nothing: %s", last(log, 1000))
	}
	for name, want := range map[string]string{
		"onprem-ironic":  "false [] true host",
		"onprem-dnsmasq": "false [CAP_NET_ADMIN CAP_NET_BIND_SERVICE CAP_NET_RAW] true host",
	} {
		got := s.sh("podman inspect --format '{{.HostConfig.Privileged}} {{.BoundingCaps}} {{.HostConfig.ReadonlyRootfs}} {{.HostConfig.NetworkMode}}' " + name)
		if got != want {
			t.Errorf("%s is %q, want %q: privileged, capabilities, read-only, network", name, got, want)
		}
	}
}

// ends has all hosts join: DHCP, Ironic with the HTTP server, and the address go, in that order and
// for good.
func (s *site) ends(t testing.TB) {
	s.must(s.Kubeconfig(t.Context()))
	for _, m := range s.members {
		s.join(m)
	}
	var over bool
	s.await(30*time.Second, func() (err error) { over, err = s.over(); return err })
	if !over {
		s.handsOver(t)
	}
	// status shows a phase just before the journal has it.
	s.await(10*time.Second, func() error {
		var order []progress.Phase
		for _, e := range s.journal() {
			if e.Kind == ledger.Phase {
				order = append(order, e.Phase)
			}
		}
		if want := progress.Phases()[1:]; !slices.Equal(order, want) {
			return fmt.Errorf("the phases were %v, want %v", order, want)
		}
		return nil
	})
	s.await(10*time.Second, s.off)
	if !s.foreign && s.offered(s.members[0].mac, 4*time.Second) {
		t.Error("DHCP answers after its end")
	}
	s.await(time.Minute, func() error { // it may have booted just now, and keepalived with it
		if out := s.sh("ip -br addr show dev eth0"); !strings.Contains(out, chain.APIVIP.String()) {
			return fmt.Errorf("the API VIP is not on this machine: %s", out)
		}
		return nil
	})
	if failed := s.sh("systemctl --failed --no-legend --plain"); failed != "" {
		t.Errorf("units have failed: %s", failed)
	}
}
