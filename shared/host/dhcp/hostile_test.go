package dhcp

import (
	"encoding/binary"
	"math/rand/v2"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/checksum"
	"github.com/onprem-infra/onprem-infra/shared/host/dhcp/wire"
	"github.com/onprem-infra/onprem-infra/shared/host/socket"
	"github.com/onprem-infra/onprem-infra/shared/offer"
)

// fakeOffer is a FAKE server's OFFER with that server identifier, as an IP packet to all hosts.
func fakeOffer(t *testing.T, id net.IP) []byte {
	t.Helper()
	m, err := dhcpv4.New(dhcpv4.WithMessageType(dhcpv4.MessageTypeOffer),
		dhcpv4.WithYourIP(net.IPv4(172, 22, 0, 66)), dhcpv4.WithServerIP(id),
		dhcpv4.WithOption(dhcpv4.OptServerIdentifier(id)))
	if err != nil {
		t.Fatal(err)
	}
	m.OpCode, m.BootFileName = dhcpv4.OpcodeBootReply, "\x1b[2Jfake"
	body := m.ToBytes()
	p := make([]byte, 28, 28+len(body))
	p[0], p[8], p[9] = 0x45, 64, 17
	binary.BigEndian.PutUint16(p[2:], uint16(28+len(body)))
	copy(p[12:], id.To4())
	copy(p[16:], []byte{255, 255, 255, 255})
	binary.BigEndian.PutUint16(p[10:], checksum.Of(p[:20]))
	binary.BigEndian.PutUint16(p[20:], 67)
	binary.BigEndian.PutUint16(p[22:], 68)
	binary.BigEndian.PutUint16(p[24:], uint16(8+len(body)))
	return append(p, body...)
}

// hostile sends malformed packets and invented servers from a FAKE server until the test ends.
func (n network) hostile(t *testing.T) {
	t.Helper()
	dice := rand.New(rand.NewPCG(1, 2))
	packet := func(i int) []byte {
		p := fakeOffer(t, net.IPv4(10, 0, byte(i>>8), byte(i)))
		switch i % 4 {
		case 0: // cut short
			return p[:dice.IntN(len(p))]
		case 1: // any byte another
			for range 1 + dice.IntN(8) {
				p[dice.IntN(len(p))] = byte(dice.Uint32())
			}
		case 2: // longer than it is
			binary.BigEndian.PutUint16(p[2:], 0xffff)
			binary.BigEndian.PutUint16(p[24:], 0xffff)
		}
		return p
	}
	done, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- n.second.Do(func() error {
			on, err := ethernet("eth0")
			if err != nil {
				return err
			}
			from, err := open(on)
			if err != nil {
				return err
			}
			defer from.Close()
			raw, err := from.SyscallConn()
			if err != nil {
				return err
			}
			for i := 0; ; i++ {
				p := wire.Packet{Type: wire.TypeIPv4, Bytes: packet(i),
					To: net.HardwareAddr{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}
				if len(p.Bytes) > 0 {
					if err := send(raw, on, p); err != nil {
						return err
					}
				}
				select {
				case <-done:
					return nil
				case <-time.After(time.Millisecond):
				}
			}
		})
	}()
	t.Cleanup(func() {
		close(done)
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

// TestAsk_Hostile holds that a host which sends malformed packets and invents servers neither hides
// a real server nor takes memory without end.
func TestAsk_Hostile(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	dnsmasq(t, n.first, pool4, "--no-ping")
	n.ask(t, Probe{Within: 300 * time.Millisecond}) // the server knows its network
	n.hostile(t)
	servers := n.find(t, Probe{}, offer.DHCP, 1+8)
	first, second := mac(t, n.first), mac(t, n.second)
	if !slices.ContainsFunc(servers, func(s offer.Server) bool { return s.MAC == first }) {
		t.Errorf("the real server is not among %d", len(servers))
	}
	if !slices.ContainsFunc(servers, func(s offer.Server) bool { return s.MAC == second }) ||
		len(servers) > 1+8 {
		t.Errorf("%d servers, want some of the FAKE one, 8 at most", len(servers))
	}
}

// TestWatch_Hostile holds that a host which invents servers is reported once.
func TestWatch_Hostile(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	w := watch(t, n.own, Watcher{Link: "eth0", Repeat: time.Minute})
	w.began(t, true)
	n.hostile(t)
	if s := w.next(t); s.MAC != mac(t, n.second) {
		t.Errorf("reported %+v", s)
	}
	time.Sleep(300 * time.Millisecond)
	if more := len(w.servers); more > 1 { // as ProxyDHCP too, if a changed byte makes it one
		t.Errorf("reported %d times more", more)
	}
}

// TestAsk_VLAN holds that a server whose frames have the tag of another VLAN is received with it. The
// server is FAKE: kernels of test machines may know no VLANs.
func TestAsk_VLAN(t *testing.T) {
	t.Parallel()
	n := newNetwork(t)
	done, ended := make(chan struct{}), make(chan error, 1)
	frame := slices.Concat([]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0x53, 0x99,
		0x81, 0x00, 0xe0, 100, 0x08, 0x00}, fakeOffer(t, net.IPv4(172, 22, 0, 2)))
	go func() {
		ended <- n.second.Do(func() error {
			on, err := ethernet("eth0")
			if err != nil {
				return err
			}
			to := socket.Frames(unix.ETH_P_ALL, on.Index)
			fd, err := socket.Open(unix.AF_PACKET, unix.SOCK_RAW, 0, socket.Bind(to))
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			for {
				if err := unix.Sendto(fd, frame, 0, to); err != nil {
					return err
				}
				select {
				case <-done:
					return nil
				case <-time.After(20 * time.Millisecond):
				}
			}
		})
	}()
	servers := n.ask(t, Probe{Within: 500 * time.Millisecond})
	close(done)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if len(servers) != 1 || servers[0].VLAN != 100 || servers[0].MAC != "02:00:00:00:53:99" ||
		servers[0].ID.String() != "172.22.0.2" {
		t.Errorf("received %+v, want one server of VLAN 100", servers)
	}
}
