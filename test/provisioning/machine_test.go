package provisioning

import (
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/host/dhcp/wire"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/node"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// sh runs a script in the machine that must work, and returns what it prints.
func (s *site) sh(script string) string {
	s.t.Helper()
	out, err := s.VM.Run(s.t.Context(), "sh", "-euc", script)
	s.must(err)
	return strings.TrimSpace(out)
}

// await calls f until it has no error.
func (s *site) await(within time.Duration, f func() error) {
	s.t.Helper()
	for deadline := time.Now().Add(within); ; {
		err := f()
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			s.t.Fatalf("not within %s: %v", within, err)
		}
		select {
		case <-s.t.Context().Done():
			s.t.Fatal(s.t.Context().Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}

// progress is what the phase machine writes of itself.
func (s *site) progress() (progress.Progress, error) {
	text, err := s.VM.Run(s.t.Context(), "cat", layout.Progress)
	if err != nil {
		return progress.Progress{}, err
	}
	return progress.Decode([]byte(text))
}

// at waits until a host is at a step, and notes what it waits for until then.
func (s *site) at(name string, within time.Duration, step progress.Step) {
	s.t.Helper()
	var before string
	s.await(within, func() error {
		p, err := s.progress()
		if err != nil {
			return err
		}
		for _, h := range p.Hosts {
			if h.Name != name {
				continue
			}
			if now := fmt.Sprintf("%s, %s: %s", p.Phase, h.Step, h.Waits); now != before {
				before = now
				s.laps.lap("%s: %s", name, now)
			}
			if h.Step == step {
				return nil
			}
			return fmt.Errorf("phase %s, waiting for %s; %s", p.Phase, p.Waits, h.Line(p.At))
		}
		return fmt.Errorf("phase %s, waiting for %s; no host %s", p.Phase, p.Waits, name)
	})
}

// phase waits for a phase.
func (s *site) phase(want progress.Phase, within time.Duration) {
	s.t.Helper()
	s.await(within, func() error {
		p, err := s.progress()
		if err == nil && p.Phase != want {
			err = fmt.Errorf("phase %s, waiting for %s, want %s", p.Phase, p.Waits, want)
		}
		return err
	})
	s.laps.lap("phase %s", want)
}

// journal is that of the phase machine, in its order.
func (s *site) journal() []ledger.Entry {
	s.t.Helper()
	text, err := s.VM.Run(s.t.Context(), "cat", layout.Journal)
	s.must(err)
	all, err := ledger.Decode([]byte(text))
	s.must(err)
	return all
}

// written is how often the writing of each host's disk was asked for.
func (s *site) written() map[string]int {
	n := map[string]int{}
	for _, e := range s.journal() {
		if e.Kind == ledger.Asked && e.Verb == node.Deploy {
			n[e.Host]++
		}
	}
	return n
}

// offered reports whether a DHCP server of the provisioning network answers a client with a MAC,
// which asks as firmware does and takes no lease.
func (s *site) offered(mac string, within time.Duration) (answered bool) {
	s.t.Helper()
	m, err := net.ParseMAC(mac)
	s.must(err)
	defer s.enter(mac)()
	s.must(s.wire.In(func() error {
		servers, _, err := dhcp.Probe{MAC: m, Archs: []wire.Arch{wire.BIOS}, Within: within}.Ask(s.t.Context(), "asks")
		answered = len(servers) > 0
		return err
	}))
	return answered
}

// enter connects a link that asks with a MAC, until leave.
func (s *site) enter(mac string) (leave func()) {
	s.t.Helper()
	s.wire.IP(s.t, fmt.Sprintf(`link add client type veth peer name asks address %s
		link set client master %s up
		link set asks up`, mac, link))
	return func() { s.wire.IP(s.t, "link del client") }
}

// leases has a host with a MAC take a lease, by busybox's DHCP client, which sets no address.
func (s *site) leases(mac string) {
	s.t.Helper()
	defer s.enter(mac)()
	s.must(s.wire.In(func() error {
		out, err := exec.CommandContext(s.t.Context(), need.Command(s.t, "busybox"), "udhcpc",
			"-f", "-q", "-n", "-i", "asks", "-t", "5", "-T", "1", "-s", "/bin/true").CombinedOutput()
		if err != nil {
			return fmt.Errorf("udhcpc: %w: %s", err, out)
		}
		return nil
	}))
}

// join has the cluster's API list a host as a node. The API may have started just now.
func (s *site) join(m *member) {
	s.t.Helper()
	s.await(30*time.Second, func() error { return s.RegisterNode(s.t.Context(), m.name, m.address) })
}

// off holds that nothing of the parts is left on the machine.
func (s *site) off() error {
	out, err := s.VM.Run(s.t.Context(), "sh", "-c", `podman ps --format '{{.Names}}' | grep -E 'ironic|dnsmasq'
		ip -br addr show dev `+card+` | grep -F `+server.String()+`
		ss -Hlntu | grep -E ':(67|69|547|6180|6183|6385) '
		nft list ruleset | grep -i dhcp
		true`)
	if err == nil && out != "" {
		err = errors.New("this is left:\n" + out)
	}
	return err
}
