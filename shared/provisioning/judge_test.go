package provisioning

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// judged is what the real dnsmasq finds in a configuration and in a list of hosts, which it reads
// only as part of the configuration when it tests.
func judged(t testing.TB, conf, hosts []byte) error {
	t.Helper()
	text := string(conf)
	for line := range strings.Lines(string(hosts)) {
		text += "dhcp-host=" + line
	}
	path := filepath.Join(t.TempDir(), "dnsmasq.conf")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command(need.Command(t, "dnsmasq"), "--test", "-C", path).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, out)
	}
	return nil
}

func TestDnsmasqAccepts(t *testing.T) {
	for name, n := range goldens() {
		if err := judged(t, Dnsmasq(n), Hosts(n)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, bad := range []string{"dhcp-host=52:54:00:00:00:0a,172.22.0.300,x:y\n", "dhcp-rang=1\n",
		"dhcp-range=172.22.0.10,172.22.0.300\n", "dhcp-match=set:x,option:arch,7\n"} {
		if err := judged(t, append(Dnsmasq(valid()), bad...), nil); err == nil {
			t.Errorf("dnsmasq accepts %q", bad)
		}
	}
}

// FuzzNetwork makes networks of random values: dnsmasq accepts whatever Validate has no findings
// about. Values come from lists with bad ones among them, so that many networks are valid.
func FuzzNetwork(f *testing.F) {
	for seed := range uint64(24) {
		f.Add(seed, "eno1", "master-0", "snponly.efi", "/srv/tftp")
	}
	f.Add(uint64(1), "a,b", "ignore", "../x", "/a b")
	f.Add(uint64(2), "eth0#", "10d", "x\ny", "/srv\ndhcp-script=/bin/sh")
	f.Fuzz(func(t *testing.T, seed uint64, link, name, program, dir string) {
		n := random(seed)
		n.Interface, n.Paths.TFTP, n.Programs.X64 = link, dir, program
		if len(n.Reservations) > 0 {
			n.Reservations[0].Name = name
		}
		files, err := Files(n, "/etc/dnsmasq.conf")
		if err != nil {
			if files != nil {
				t.Error("there are findings, and files")
			}
			return
		}
		if err := judged(t, Dnsmasq(n), Hosts(n)); err != nil {
			t.Errorf("%+v: %v\n%s%s", n, err, Dnsmasq(n), Hosts(n))
		}
	})
}

// random is a network of which most are valid.
func random(seed uint64) Network {
	dice := rand.New(rand.NewPCG(seed, 1))
	n := valid()
	v6 := dice.IntN(2) == 0
	bits := 20 + dice.IntN(11)
	if v6 {
		n, bits = valid6(), 64+dice.IntN(50)
	}
	n.Prefix = netip.PrefixFrom(n.Prefix.Addr(), bits).Masked()
	n.Reservations = nil
	for i := range dice.IntN(40) {
		r := Reservation{MAC: mac.MAC{2, byte(seed), 0, 0, 0, byte(i)}}
		r.Address = within(n.Prefix, 16+16*i)
		if v6 && dice.IntN(2) == 0 {
			r.Bits = 124
		}
		n.Reservations = append(n.Reservations, r)
	}
	if dice.IntN(3) == 0 {
		for i := range 1 + dice.IntN(4) {
			n.Pool = append(n.Pool, Range{within(n.Prefix, 1024*(i+1)), within(n.Prefix, 1024*(i+1)+dice.IntN(200))})
		}
	}
	n.Lease = time.Duration(120+dice.IntN(1<<20)) * time.Second
	n.MTU = []int{0, 1280, 1500, 9000, 65535}[dice.IntN(5)]
	n.Authoritative = dice.IntN(2) == 0
	if !v6 && dice.IntN(2) == 0 {
		n.Gateway = within(n.Prefix, 1)
	}
	for i := range dice.IntN(4) {
		n.DNS = append(n.DNS, within(n.Prefix, 2+i))
		n.NTP = append(n.NTP, within(n.Prefix, 3+i))
	}
	if dice.IntN(6) == 0 {
		n.Mode = Unmanaged
	}
	return n
}

// within is the address of a network with that number.
func within(p netip.Prefix, number int) netip.Addr {
	b := p.Addr().AsSlice()
	last := b[len(b)-4:]
	binary.BigEndian.PutUint32(last, binary.BigEndian.Uint32(last)+uint32(number))
	a, _ := netip.AddrFromSlice(b)
	return a
}
