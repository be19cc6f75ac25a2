package provisioning

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/nftables"
	"github.com/vishvananda/netns"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/fakebmc"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// plug pulls the bootstrap machine's cable out of the provisioning network, or puts it back.
func (s *site) plug(state string) {
	s.t.Helper()
	s.wire.IP(s.t, "link set "+cable+" "+state)
}

// cutPower takes the machine's power away in the midst of whatever it does. No other machine gets a
// packet of it any more, and its kernel loses what it had of the network.
func (s *site) cutPower() {
	s.t.Helper()
	s.plug("down")
	s.must(s.CutPower(), s.Bootstrap.Do(func() error {
		for _, args := range [][]string{{"link", "set", card, "down"}, {"addr", "flush", "dev", card}} {
			if out, err := exec.Command("ip", args...).CombinedOutput(); err != nil {
				return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, out)
			}
		}
		return nil
	}))
	ns, err := netns.GetFromPath(s.Bootstrap.Path())
	s.must(err)
	defer ns.Close()
	rules, err := nftables.New(nftables.WithNetNSFd(int(ns)))
	s.must(err)
	rules.FlushRuleset()
	s.must(rules.Flush())
	s.laps.lap("the power is cut")
}

// restorePower has the machine boot again.
func (s *site) restorePower() {
	s.t.Helper()
	s.plug("up")
	s.must(s.RestorePower(s.t.Context()))
	s.laps.lap("systemd runs again")
}

// onDisk waits until a host's disk has so many bytes.
func (s *site) onDisk(m *member, bytes int64) {
	s.t.Helper()
	s.await(patience(), func() error {
		info, err := os.Stat(m.Disk())
		if err != nil {
			return err
		}
		if have := info.Sys().(*syscall.Stat_t).Blocks * 512; have < bytes {
			return fmt.Errorf("the disk of %s has %d bytes, want %d", m.name, have, bytes)
		}
		return nil
	})
	s.laps.lap("the disk of %s has %d MB", m.name, bytes>>20)
}

// started is a site with empty machines of these kinds, whose bootstrap machine runs.
func started(t testing.TB, kinds []kind, change func(*site)) *site {
	t.Helper()
	needLong(t)
	files := built(t)
	s := newSite(t)
	s.machines(kinds...)
	if change != nil {
		change(s)
	}
	s.install(files)
	s.up = time.Now()
	s.must(s.Boot(t.Context()))
	s.laps.lap("systemd runs")
	s.must(s.Kubeconfig(t.Context()))
	return s
}

// TestLongPowerCut cuts the bootstrap machine's power while a disk is being written: it is not
// written a second time, and the host is installed.
func TestLongPowerCut(t *testing.T) {
	s := started(t, bios(1), nil)
	m := s.members[0]
	s.at(m.name, patience(), progress.Deploying)
	s.onDisk(m, 32<<20)
	s.cutPower()
	time.Sleep(5 * time.Second) // the machine is off for so long
	s.restorePower()
	s.at(m.name, patience(), progress.Joining)
	s.reports(m)
	s.installed(m)
	s.ends(t)
	// Nothing of it begins again with the machine.
	s.cutPower()
	s.restorePower()
	s.phase(progress.Ended, time.Minute)
	s.await(10*time.Second, s.off)
}

// TestLongPowerCuts cuts the power while Ironic's image is being pulled, and while a host waits for
// its ramdisk: the run goes on where it was. Nothing boots on the host.
func TestLongPowerCuts(t *testing.T) {
	needLong(t)
	s := newSite(t)
	s.add(&host{kind: kind{name: "master-0", legacy: true}, mac: "52:54:00:22:00:01"})
	s.install(placeholders(t))
	s.must(s.Boot(t.Context()))
	s.laps.lap("systemd runs")
	s.phase(progress.Services, time.Minute)
	time.Sleep(3 * time.Second) // in the midst of the pull
	s.cutPower()
	s.restorePower()
	s.at("master-0", 4*time.Minute, progress.Inspect)
	s.cutPower()
	s.restorePower()
	s.at("master-0", 4*time.Minute, progress.Inspect)
	n := map[ledger.Kind]int{}
	for _, e := range s.journal() {
		if e.Kind == ledger.Started || e.Kind == ledger.Asked && e.Verb == node.Create {
			n[e.Kind]++
		}
	}
	if n[ledger.Started] != 3 || n[ledger.Asked] != 1 {
		t.Errorf("the program started %d times and asked for the host's node %d times, want 3 and 1", n[ledger.Started], n[ledger.Asked])
	}
	s.ends(t)
}

// TestLongEachPhase cuts the power once in each phase: each boot goes on with the phase in which the
// power was cut. Some phases last a few milliseconds, so one part hangs at its start until the power is
// cut, or the FAKE cluster does not do what it is to do next. Nothing boots on the host.
func TestLongEachPhase(t *testing.T) {
	needLong(t)
	s := newSite(t)
	s.add(&host{kind: kind{name: "master-0", legacy: true}, mac: "52:54:00:22:00:01"})
	s.install(placeholders(t))
	hangs := map[progress.Phase]string{progress.Address: "provisioning-interface",
		progress.Services: "ironic", progress.DHCPOff: "dnsmasq", progress.IronicOff: "ironic",
		progress.AddrOff: "provisioning-interface"}
	for _, want := range progress.Phases() {
		unit, hung := hangs[want]
		if hung {
			s.must(s.Machine.Write(late(unit), []byte("[Service]\nExecStartPre=/bin/sleep infinity\n"), 0o644))
		}
		if want == progress.Address {
			s.must(s.Boot(t.Context()), s.Kubeconfig(t.Context()))
		} else {
			s.restorePower()
		}
		switch want {
		case progress.Settle:
			s.at("master-0", 4*time.Minute, progress.Inspect)
			s.join(s.members[0])
		case progress.Announce:
			s.await(30*time.Second, func() error { return s.ConfigMaps(s.t.Context(), "refused") })
		case progress.Takeover:
			s.operator()
		case progress.Release:
			s.host("w0", "")
			for i := range 6 {
				s.host(fmt.Sprintf("w%d", i+1), "inspecting")
			}
			s.ironic()
		case progress.Ended:
			for i := range 6 {
				s.host(fmt.Sprintf("w%d", i+1), "available")
			}
		}
		s.phase(want, 2*time.Minute)
		if want == progress.Ended {
			break
		}
		s.cutPower()
		if hung {
			s.must(s.Machine.Write(late(unit), nil, 0o644))
		}
	}
	s.ends(t)
}

// late is the file that changes how a unit starts.
func late(unit string) string { return "/etc/systemd/system/onprem-" + unit + ".service.d/late.conf" }

// TestLongFaults has, while one host is installed: Ironic killed, another DHCP server on the link,
// and the bootstrap machine's cable pulled for a minute while the disk is being written.
func TestLongFaults(t *testing.T) {
	s := started(t, bios(1), nil)
	m := s.members[0]
	s.at(m.name, patience(), progress.Inspect)
	m.lost = 1 // Ironic fails an inspection that it has begun when it ends
	s.killIronic()
	s.at(m.name, patience(), progress.Deploying)
	s.serveForeign(s.dnsmasq())
	s.named()
	s.onDisk(m, 32<<20)
	s.plug("down")
	s.laps.lap("the cable is pulled")
	time.Sleep(time.Minute) // the fault lasts
	s.plug("up")
	s.laps.lap("the cable is back")
	s.at(m.name, patience(), progress.Joining)
	s.reports(m)
	s.installed(m)
	s.ends(t)
}

// killIronic kills Ironic, and waits until it serves again.
func (s *site) killIronic() {
	s.t.Helper()
	const pid = `podman inspect --format '{{.State.Pid}}' onprem-ironic`
	before := s.sh(pid)
	s.sh("kill -9 " + before)
	s.laps.lap("Ironic is killed")
	s.await(time.Minute, func() error {
		out, err := s.VM.Run(s.t.Context(), "sh", "-c", pid)
		if now := strings.TrimSpace(out); err != nil || now == before || now == "0" {
			return fmt.Errorf("Ironic's process was %s and is %q, %v", before, now, err)
		}
		report := s.sh("cat " + layout.Report("ironic"))
		if !strings.Contains(report, `"ready":true`) {
			return errors.New(report)
		}
		return nil
	})
	s.laps.lap("Ironic serves again")
}

// foreignIP is the address of another server on the provisioning network.
const foreignIP = "172.22.0.251"

// dnsmasq is another DHCP server on the provisioning network.
func (s *site) dnsmasq() *exec.Cmd {
	return exec.Command(need.Command(s.t, "dnsmasq"), "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--no-ping", "--bind-interfaces",
		"--interface=foreign0", "--except-interface=lo", "--dhcp-range=172.22.0.200,172.22.0.240,1h",
		"--dhcp-leasefile="+s.t.TempDir()+"/leases", "--pid-file=", "--log-facility=/dev/null")
}

// kea is one of another make. Its directories are fixed when it is built, below /run, which it gets
// for itself.
func (s *site) kea() *exec.Cmd {
	s.t.Helper()
	const script = `mount -t tmpfs tmpfs /run && mkdir -p /run/kea /run/lock/kea && exec "$0" "$@"`
	dir := s.t.TempDir()
	file := dir + "/kea.conf"
	s.must(os.WriteFile(file, []byte(`{"Dhcp4": {"interfaces-config": {"interfaces": ["foreign0"]},
		"lease-database": {"type": "memfile", "persist": false},
		"subnet4": [{"id": 1, "subnet": "172.22.0.0/24", "pools": [{"pool": "172.22.0.200-172.22.0.240"}]}]}}`), 0o644))
	cmd := exec.Command("unshare", "--mount", "sh", "-c", script, need.Command(s.t, "kea-dhcp4"), "-c", file)
	cmd.Env = append(os.Environ(), "KEA_PIDFILE_DIR="+dir, "KEA_LOCKFILE_DIR="+dir, "KEA_DHCP_DATA_DIR="+dir)
	return cmd
}

// serveForeign plugs another DHCP server in, and waits until it answers.
func (s *site) serveForeign(server *exec.Cmd) (end func()) {
	s.t.Helper()
	if !s.foreign {
		s.wire.IP(s.t, fmt.Sprintf(`link add foreign type veth peer name foreign0
			link set foreign master %s up
			addr add %s/24 dev foreign0
			link set foreign0 up`, link, foreignIP))
	}
	s.foreign = true
	s.must(s.wire.In(server.Start))
	end = sync.OnceFunc(func() {
		_ = server.Process.Kill() // it may have ended
		_ = server.Wait()
	})
	s.t.Cleanup(end)
	s.await(30*time.Second, func() error {
		if !s.offered(unknownMAC, 2*time.Second) {
			return errors.New("the foreign DHCP server does not answer")
		}
		return nil
	})
	return end
}

// named holds that the part DHCP names the other DHCP server soon after its answers to a host.
func (s *site) named() {
	s.t.Helper()
	s.leases(unknownMAC)
	s.await(2*time.Second, func() error {
		log := s.sh("journalctl --no-pager -b -u onprem-dnsmasq")
		if !strings.Contains(log, "another server configures hosts of this network") || !strings.Contains(log, foreignIP) {
			return errors.New("the foreign DHCP server is not named")
		}
		return nil
	})
	s.laps.lap("the foreign DHCP server is named")
}

// TestLongForeign has another DHCP server, of either make, on the link before the bootstrap machine
// boots, and while the hosts are deployed: the first one blocks, and the run goes on by itself once it
// is gone. The second one is named. Nothing boots on the host.
func TestLongForeign(t *testing.T) {
	needLong(t)
	for name, server := range map[string]func(*site) *exec.Cmd{"dnsmasq": (*site).dnsmasq, "Kea": (*site).kea} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.add(&host{kind: kind{name: "master-0", legacy: true}, mac: "52:54:00:22:00:01"})
			s.install(placeholders(t))
			end := s.serveForeign(server(s))
			s.must(s.Boot(t.Context()))
			s.await(4*time.Minute, func() error {
				p, err := s.progress()
				if text := strings.Join(p.Blockers, "; "); err == nil && !strings.Contains(text, foreignIP) {
					err = fmt.Errorf("phase %s, waiting for %s, blocked by %q", p.Phase, p.Waits, text)
				}
				return err
			})
			s.laps.lap("it blocks")
			if s.sh("podman ps -q -f name=onprem-dnsmasq") != "" {
				t.Error("dnsmasq was started beside it")
			}
			end()
			s.at("master-0", 4*time.Minute, progress.Inspect)
			s.serveForeign(server(s))
			s.named()
			s.ends(t)
		})
	}
}

// TestLongBlockers has a hint that fits no disk, and a BMC that gets another password while its host
// is inspected. The first is found before any host is switched on; it is fixed on the machine, and
// the run goes on by itself. The second blocks its host by a cause that names it, and the other host
// is installed.
func TestLongBlockers(t *testing.T) {
	s := started(t, bios(2), func(s *site) { s.members[0].serial = "no-such-disk" })
	wrong, changed := s.members[0], s.members[1]
	s.await(patience(), func() error {
		p, err := s.progress()
		if text := strings.Join(p.Blockers, "; "); err == nil && !strings.Contains(text, "root-disk:master-0: no disk meets serialNumber: no-such-disk") {
			err = fmt.Errorf("phase %s, blocked by %q", p.Phase, text)
		}
		return err
	})
	s.laps.lap("the hint that fits no disk is named")
	for _, m := range s.members {
		if len(m.Starts()) > 0 {
			t.Errorf("%s was switched on before that", m.name)
		}
	}
	disk, _ := wrong.Serials()
	s.sh("sed -i 's/no-such-disk/" + disk + "/' " + layout.Hosts)
	s.at(changed.name, patience(), progress.Inspect)
	changed.control.Set(fakebmc.Quirks{PasswordAfter: 1})
	changed.control.EndSessions()
	s.laps.lap("the password of the BMC of %s is another one", changed.name)
	s.reports(wrong)
	s.blocked(changed, "401")
}

// blocked waits until a host is blocked by a cause with a text.
func (s *site) blocked(m *member, text string) {
	s.t.Helper()
	s.await(patience(), func() error {
		p, err := s.progress()
		if err != nil {
			return err
		}
		for _, h := range p.Hosts {
			if h.Name == m.name && h.Blocker == "" {
				return fmt.Errorf("%s is not blocked: %s", m.name, h.Line(p.At))
			}
			if h.Name == m.name && !strings.Contains(h.Blocker, text) {
				s.t.Errorf("%s is blocked by %q, want %q in it", m.name, h.Blocker, text)
			}
		}
		return nil
	})
	for _, e := range s.journal() {
		if e.Kind == ledger.Blocked && e.Host == m.name {
			s.laps.lap("%s is blocked: %s", m.name, e.Cause)
		}
	}
}
