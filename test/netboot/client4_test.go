package netboot

import (
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// wire is a host's link as frames: it sends as any card, and receives what any card would.
type wire struct {
	file *os.File
	// servers are those that have not answered an ARP probe yet.
	servers []netip.Addr
	uses    map[netip.Addr]net.HardwareAddr // it answers ARP requests for them
}

// everything is ETH_P_ALL in the order of the network.
const everything = unix.ETH_P_ALL>>8 | unix.ETH_P_ALL&0xff<<8

// openWire opens a host's link. The first server is 172.22.0.2, more are named.
func openWire(t *testing.T, h *lab.Host, more ...string) *wire {
	t.Helper()
	w := &wire{uses: map[netip.Addr]net.HardwareAddr{}}
	for _, a := range append(more, "172.22.0.2") {
		w.servers = append(w.servers, netip.MustParseAddr(a))
	}
	err := h.Do(func() error {
		link, err := net.InterfaceByName("eth0")
		if err != nil {
			return err
		}
		const kind = unix.SOCK_RAW | unix.SOCK_CLOEXEC | unix.SOCK_NONBLOCK
		fd, err := unix.Socket(unix.AF_PACKET, kind, 0)
		if err != nil {
			return err
		}
		w.file = os.NewFile(uintptr(fd), "wire")
		at := &unix.SockaddrLinklayer{Protocol: everything, Ifindex: link.Index}
		return errors.Join(unix.Bind(fd, at),
			unix.SetsockoptInt(fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1))
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.file.Close() })
	return w
}

// send broadcasts a message as the card of the client that it names.
func (w *wire) send(t *testing.T, m *dhcpv4.DHCPv4) {
	t.Helper()
	source := netip.IPv4Unspecified()
	if a, ok := netip.AddrFromSlice(m.ClientIPAddr.To4()); ok && !a.IsUnspecified() {
		source = a
		w.uses[a] = m.ClientHWAddr
	}
	payload := m.ToBytes()
	frame := slices.Concat([]byte{255, 255, 255, 255, 255, 255}, m.ClientHWAddr, []byte{8, 0})
	ip := []byte{0x45, 0, 0, 0, 0, 0, 0, 0, 64, unix.IPPROTO_UDP, 0, 0}
	ip = append(append(ip, source.AsSlice()...), 255, 255, 255, 255)
	binary.BigEndian.PutUint16(ip[2:], uint16(len(ip)+8+len(payload)))
	sum := uint32(0)
	for i := 0; i < len(ip); i += 2 {
		sum += uint32(binary.BigEndian.Uint16(ip[i:]))
	}
	binary.BigEndian.PutUint16(ip[10:], ^uint16(sum>>16+sum&0xffff))
	udp := binary.BigEndian.AppendUint16([]byte{0, 68, 0, 67}, uint16(8+len(payload)))
	frame = slices.Concat(frame, ip, udp, []byte{0, 0}, payload)
	if _, err := w.file.Write(frame); err != nil {
		t.Fatal(err)
	}
}

// receive returns the next answer of any server to any client; nil after the time.
func (w *wire) receive(t *testing.T, within time.Duration) *dhcpv4.DHCPv4 {
	t.Helper()
	if err := w.file.SetReadDeadline(time.Now().Add(within)); err != nil {
		t.Fatal(err)
	}
	for buffer := make([]byte, 1<<16); ; {
		n, err := w.file.Read(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return nil
		}
		if err != nil {
			t.Fatal(err)
		}
		p := buffer[:n]
		w.resolve(t, p)
		if n < 42 || p[12] != 8 || p[13] != 0 || p[23] != unix.IPPROTO_UDP ||
			binary.BigEndian.Uint16(p[34:]) != 67 {
			continue
		}
		m, err := dhcpv4.FromBytes(p[42:])
		if err != nil {
			t.Fatalf("an answer that no client reads: %v", err)
		}
		return m
	}
}

// resolve answers an ARP request for an address that a client uses (RFC 826), and takes note of
// answers of servers.
func (w *wire) resolve(t *testing.T, p []byte) {
	t.Helper()
	if len(p) < 42 || p[12] != 8 || p[13] != 6 {
		return
	}
	if p[21] == 2 {
		sender := netip.AddrFrom4([4]byte(p[28:32]))
		w.servers = slices.DeleteFunc(w.servers, func(a netip.Addr) bool { return a == sender })
		return
	}
	mac, ok := w.uses[netip.AddrFrom4([4]byte(p[38:42]))]
	if !ok {
		return
	}
	reply := slices.Concat(p[6:12], mac, p[12:21], []byte{2}, mac, p[38:42], p[22:32])
	if _, err := w.file.Write(reply); err != nil {
		t.Fatal(err)
	}
}

// settle is how long a test waits for one more answer once it has all that it wants.
const settle = 250 * time.Millisecond

// within is how long a test waits for the next answer if it has so many and wants so many at least. A
// server writes a lease to the disk before it grants it. A test that may get no answer waits for less.
func within(got, want int) time.Duration {
	switch {
	case want == 0 && got == 0:
		return patience / 10
	case got < want:
		return patience
	default:
		return settle
	}
}

// ask sends a message and returns the answers to it: so many at least, if they come in time.
func (w *wire) ask(t *testing.T, m *dhcpv4.DHCPv4, want int) (answers []*dhcpv4.DHCPv4) {
	t.Helper()
	w.reach(t)
	w.send(t, m)
	end := time.Now().Add(within(0, want))
	for time.Now().Before(end) {
		got := w.receive(t, time.Until(end))
		if got != nil && got.TransactionID == m.TransactionID {
			answers = append(answers, got)
			end = time.Now().Add(within(len(answers), want))
		}
	}
	return answers
}

// reach waits until the servers answer an ARP probe (RFC 5227): a switch may lose the first frames
// of a link that has just come up.
func (w *wire) reach(t *testing.T) {
	t.Helper()
	for end := time.Now().Add(patience); len(w.servers) > 0; {
		if time.Now().After(end) {
			t.Fatalf("no ARP answer of %s", w.servers)
		}
		mac := []byte{2, 0, 0, 0, 0, 1}
		for _, a := range w.servers {
			probe := slices.Concat([]byte{255, 255, 255, 255, 255, 255}, mac,
				[]byte{8, 6, 0, 1, 8, 0, 6, 4, 0, 1}, mac, make([]byte, 10), a.AsSlice())
			if _, err := w.file.Write(probe); err != nil {
				t.Fatal(err)
			}
		}
		w.receive(t, 50*time.Millisecond)
	}
}

// one is the only answer to a message.
func (w *wire) one(t *testing.T, m *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	t.Helper()
	answers := w.ask(t, m, 1)
	if len(answers) != 1 {
		t.Fatalf("%d answers, want 1: %v", len(answers), answers)
	}
	return answers[0]
}

// firmware are the options that a card's boot program sends: PXE's, or UEFI's for HTTP.
func firmware(arch uint16, class string) []dhcpv4.Modifier {
	return []dhcpv4.Modifier{
		dhcpv4.WithOption(dhcpv4.OptClientArch(iana.Arch(arch))),
		dhcpv4.WithOption(dhcpv4.OptClassIdentifier(class)),
		dhcpv4.WithRequestedOptions(dhcpv4.OptionSubnetMask, dhcpv4.OptionRouter,
			dhcpv4.OptionDomainNameServer, dhcpv4.OptionInterfaceMTU, dhcpv4.OptionNTPServers,
			dhcpv4.OptionClassIdentifier, dhcpv4.OptionTFTPServerName, dhcpv4.OptionBootfileName),
	}
}

func discover(t *testing.T, mac mac.MAC, with ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
	t.Helper()
	m, err := dhcpv4.NewDiscovery(mac[:], append(with, dhcpv4.WithBroadcast(true))...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// request asks for what a server offered.
func request(t *testing.T, offer *dhcpv4.DHCPv4) *dhcpv4.DHCPv4 {
	t.Helper()
	m, err := dhcpv4.NewRequestFromOffer(offer, dhcpv4.WithBroadcast(true))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// rebind asks any server to extend the lease of an address that the client uses.
func rebind(t *testing.T, mac mac.MAC, a netip.Addr) *dhcpv4.DHCPv4 {
	t.Helper()
	m := discover(t, mac, dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest),
		dhcpv4.WithClientIP(a.AsSlice()))
	m.SetUnicast()
	return m
}

// reboot asks any server for the address that the client had before (INIT-REBOOT).
func reboot(t *testing.T, mac mac.MAC, a netip.Addr) *dhcpv4.DHCPv4 {
	t.Helper()
	return discover(t, mac, dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest),
		dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(a.AsSlice())))
}

// kinds are the types of answers, with their addresses.
func kinds(answers []*dhcpv4.DHCPv4) string {
	var all []string
	for _, a := range answers {
		all = append(all, a.MessageType().String()+" "+a.YourIPAddr.String())
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}
