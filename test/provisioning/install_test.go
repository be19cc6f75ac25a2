package provisioning

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/osimage"
	"github.com/onprem-infra/onprem-infra/test/ramdisk"
)

// needLong skips a test that takes many minutes, unless it is asked for.
func needLong(t testing.TB) {
	t.Helper()
	if os.Getenv(long) != "1" {
		t.Skip("takes minutes: " + long + "=1 asks for it")
	}
}

// built are the real files that hosts boot and get.
func built(t testing.TB) payload {
	t.Helper()
	need.Root(t)
	need.Command(t, "debootstrap")
	files, err := ramdisk.Build(t.Context(), logger())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs a ramdisk: %v", err))
	}
	image, err := osimage.Build(t.Context(), logger())
	if err != nil {
		need.Missing(t, fmt.Sprintf("needs an operating system: %v", err))
	}
	return payload{files, image}
}

// machines plugs in empty machines of these kinds, with names of their own.
func (s *site) machines(kinds ...kind) {
	s.t.Helper()
	var hosts []*host
	for i, k := range kinds {
		k.name, k.memoryMB = fmt.Sprintf("master-%d", i), 4096
		hosts = append(hosts, s.wire.machine(s.t, byte(1+i), k))
	}
	s.add(hosts...)
}

// bios are so many kinds of a machine that starts by BIOS, with Redfish.
func bios(n int) []kind { return slices.Repeat([]kind{{legacy: true}}, n) }

// TestLongInstall takes one empty machine from a bootstrap machine's boot to an operating system
// with its document, by the bootstrap machine's own units alone.
func TestLongInstall(t *testing.T) {
	needLong(t)
	files := built(t)
	s := newSite(t)
	s.machines(bios(1)...)
	s.install(files)
	s.must(s.Boot(t.Context()))
	s.laps.lap("systemd runs")
	s.must(s.Kubeconfig(t.Context()))
	m := s.members[0]
	s.at(m.name, patience(), progress.Joining)
	s.reports(m)
	s.installed(m)
	s.ends(t)
}

// reports waits until the operating systems of these hosts have reported, and has each join then.
func (s *site) reports(members ...*member) {
	s.t.Helper()
	missing := map[string]*member{}
	for _, m := range members {
		missing[m.name+" "+m.applied] = m
	}
	for len(missing) > 0 {
		select {
		case report := <-s.reported:
			from, text, _ := strings.Cut(report, " ")
			m := missing[text]
			// With another DHCP server on the link a host may have an address of that.
			if m == nil || !s.foreign && from != m.address.String() {
				s.t.Errorf("an operating system reports %q", report)
				continue
			}
			delete(missing, text)
			s.laps.lap("%s reports from %s", m.name, from)
			s.join(m)
		case <-time.After(patience()):
			s.t.Fatalf("no report of %v", missing)
		case <-s.t.Context().Done():
			s.t.Fatal(s.t.Context().Err())
		}
	}
}

// installed holds that each disk was written once, that the trap is as it was, and that a host
// started from nothing else than the network or its virtual medium, as often as it may, and then its
// disk.
func (s *site) installed(members ...*member) {
	s.t.Helper()
	written := s.written()
	for _, m := range members {
		var from []string
		for _, c := range m.Starts() {
			from = append(from, c.Boot)
		}
		ramdisk := "Pxe"
		if m.media {
			ramdisk = "Cd"
		}
		most := append(slices.Repeat([]string{ramdisk}, 1+m.lost), "Hdd")
		if n := max(len(from), 2); n > len(most) || !slices.Equal(from, most[len(most)-n:]) || written[m.name] != 1 {
			s.t.Errorf("%s started from %v, its disk was written %d times", m.name, from, written[m.name])
		}
		s.must(m.Close())
		if whole, err := m.TrapIsWhole(); err != nil || !whole {
			s.t.Errorf("the trap of %s is whole: %v, %v", m.name, whole, err)
		}
	}
}

// TestLongKinds installs a machine that starts by UEFI, one whose BMC is reached by IPMI, and one that
// gets its ramdisk as a virtual medium.
func TestLongKinds(t *testing.T) {
	s := started(t, []kind{{}, {legacy: true, ipmi: true}, {media: true}}, nil)
	s.reports(s.members...)
	s.installed(s.members...)
	s.ends(t)
}

// TestLongThree installs three machines, of which one gets no answer at its first boot from the
// network: it boots again while the others are installed.
func TestLongThree(t *testing.T) {
	const wire = "tap2" // of master-1
	s := started(t, bios(3), func(s *site) { s.wire.IP(s.t, "link set "+wire+" nomaster") })
	lost := s.members[1]
	lost.lost = 1
	s.await(patience(), func() error {
		if !strings.Contains(lost.Console(), "No bootable device") {
			return fmt.Errorf("%s has not given up its first boot: %s", lost.name, last(lost.Console(), 1000))
		}
		return nil
	})
	s.laps.lap("%s has given up its first boot", lost.name)
	s.wire.IP(t, "link set "+wire+" master "+link)
	s.reports(s.members...)
	s.installed(s.members...)
	s.ends(t)
}
