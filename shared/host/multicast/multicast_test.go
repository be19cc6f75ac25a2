package multicast

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/netns"
)

var groups = Groups{
	IPv4: netip.MustParseAddr("224.0.0.251"), IPv6: netip.MustParseAddr("ff02::fb"), Port: 5353,
}

// open opens sockets on an interface of a namespace; received packets go to the channel.
func open(
	t *testing.T, ns netns.Namespace, link string, from string, v6 bool,
) (*Sockets, chan Packet) {
	t.Helper()
	received := make(chan Packet, 100)
	var s *Sockets
	err := ns.In(func() error {
		l, err := net.InterfaceByName(link)
		if err != nil {
			return err
		}
		w := Where{Index: l.Index, IPv6: v6}
		if from != "" {
			w.From4 = netip.MustParseAddr(from)
		}
		s, err = Open(t.Context(), w, groups, Receiver{Packet: func(p Packet) {
			received <- p
		}, Failed: func(err error) { t.Error(err) }})
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s, received
}

// ready waits until IPv6 works on an interface, some time after both of its ends are up.
func ready(t *testing.T, ns netns.Namespace, link string) {
	t.Helper()
	for begun := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		err := ns.In(func() error {
			c, err := net.Dial("udp6", "[ff02::fb%"+link+"]:5353")
			if err == nil {
				err = c.Close()
			}
			return err
		})
		if err == nil {
			return
		}
		if time.Since(begun) > 20*time.Second {
			t.Fatal(err)
		}
	}
}

// next is the next packet, nil if none is received.
func next(received <-chan Packet) *Packet {
	select {
	case p := <-received:
		return &p
	case <-time.After(2 * time.Second):
		return nil
	}
}

// silent reports a packet that must not be received. A packet to a group is received when the call
// that sent it returns, or a moment later.
func silent(t *testing.T, host string, received <-chan Packet) {
	t.Helper()
	select {
	case p := <-received:
		t.Errorf("%s received %q from %v to %v", host, p.Data, p.From, p.To)
	case <-time.After(100 * time.Millisecond):
	}
}

// TestOneInterface holds M-04: packets leave by one interface, from the node's address there, and
// packets to another interface are not received.
func TestOneInterface(t *testing.T) {
	node, left, right := netns.New(t), netns.New(t), netns.New(t)
	node.IP(t, "link add in0 type veth peer name out0 netns "+left.Path()+"\nlink add in1 type veth peer name out1 netns "+right.Path()+"\n"+
		"addr add 192.0.2.1/24 dev in0\naddr add 192.0.2.10/24 dev in0\naddr add 198.51.100.1/24 dev in1\naddr add 2001:db8::10/64 dev in0 nodad\n"+
		"addr add fe80::10/64 dev in0 nodad\naddr add fe80::20/64 dev in1 nodad\nlink set in0 up\nlink set in1 up")
	left.IP(
		t, "addr add 192.0.2.77/24 dev out0\naddr add fe80::77/64 dev out0 nodad\nlink set out0 up",
	)
	right.IP(
		t,
		"addr add 198.51.100.77/24 dev out1\naddr add fe80::78/64 dev out1 nodad\nlink set out1 up",
	)
	ready(t, node, "in0")
	ready(t, left, "out0")
	s, received := open(t, node, "in0", "192.0.2.10", true)
	peer, atPeer := open(t, left, "out0", "192.0.2.77", true)
	other, atOther := open(t, right, "out1", "198.51.100.77", true)
	_, beside := open(t, node, "in0", "192.0.2.10", true) // another program of the host

	if err := s.Send(netip.AddrPort{}, []byte("ours")); err != nil {
		t.Fatal(err)
	}
	from := map[string]bool{}
	for range 2 {
		if p := next(atPeer); p == nil || string(p.Data) != "ours" || !p.To.IsMulticast() {
			t.Fatalf("the peer received %v", p)
		} else {
			from[p.From.Addr().WithZone("").String()] = true
		}
	}
	if !from["192.0.2.10"] || len(from) != 2 {
		t.Errorf("sent from %v, want 192.0.2.10 and an address of IPv6", from)
	}
	for range 2 {
		if next(received) == nil || next(beside) == nil {
			t.Error("a program of the same host did not receive it")
		}
	}
	silent(t, "a host of the other link", atOther)

	if err := other.Send(netip.AddrPort{}, []byte("theirs")); err != nil {
		t.Fatal(err)
	}
	next(atOther)
	if err := other.Send(
		netip.MustParseAddrPort("198.51.100.1:5353"), []byte("to you by the other link"),
	); err != nil {
		t.Fatal(err)
	}
	silent(t, "the node", received)
	silent(t, "another program of the node", beside)

	if err := peer.Send(
		netip.MustParseAddrPort("192.0.2.10:5353"), []byte("to you alone"),
	); err != nil {
		t.Fatal(err)
	}
	// One of the host's two programs gets it.
	select {
	case p := <-received:
		if p.To.IsMulticast() || string(p.Data) != "to you alone" {
			t.Errorf("received %+v", p)
		}
	case p := <-beside:
		if p.To.IsMulticast() || string(p.Data) != "to you alone" {
			t.Errorf("received %+v", p)
		}
	case <-time.After(2 * time.Second):
		t.Error("a packet to the node alone was not received")
	}
}

// TestHops holds that packets have hop limit 255, by which receivers know that they were not
// routed.
func TestHops(t *testing.T) {
	node, peer := netns.New(t), netns.New(t)
	node.IP(t, "link add in0 type veth peer name out0 netns "+peer.Path()+"\naddr add 192.0.2.10/24 dev in0\naddr add fe80::10/64 dev in0 nodad\nlink set in0 up")
	peer.IP(
		t, "addr add 192.0.2.77/24 dev out0\naddr add fe80::77/64 dev out0 nodad\nlink set out0 up",
	)
	var raw int
	if err := peer.In(func() (err error) {
		raw, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, int(
			binary.BigEndian.Uint16(binary.NativeEndian.AppendUint16(nil, unix.ETH_P_ALL)),
		))
		return err
	}); err != nil {
		t.Fatal(err)
	}
	defer unix.Close(raw)
	ready(t, node, "in0")
	s, _ := open(t, node, "in0", "192.0.2.10", true)
	for _, to := range []string{"", "192.0.2.77:5353"} {
		dest, _ := netip.ParseAddrPort(to)
		if err := s.Send(dest, []byte("ours")); err != nil {
			t.Fatal(err)
		}
	}
	if err := unix.SetsockoptTimeval(raw, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{
		Sec: 5,
	}); err != nil {
		t.Fatal(err)
	}
	for packet, seen := make([]byte, 2000), 0; seen < 3; {
		n, _, err := unix.Recvfrom(raw, packet, 0)
		if err != nil {
			t.Fatalf("%d packets of ours were seen, want 3: %v", seen, err)
		}
		udp := packet[6] == unix.IPPROTO_UDP // of IPv6
		if packet[0]>>4 == 4 {
			udp = packet[9] == unix.IPPROTO_UDP
		}
		if !udp || !strings.HasSuffix(string(packet[:n]), "ours") {
			continue
		}
		seen++
		hops := packet[7] // of IPv6
		if packet[0]>>4 == 4 {
			hops = packet[8]
		}
		if hops != 255 {
			t.Errorf("a packet of IPv%d begins with %d hops: % x", packet[0]>>4, hops, packet[:n])
		}
	}
}

// TestErrors holds that an error names the interface, and that Close causes none.
func TestErrors(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link set lo up")
	err := ns.In(func() error {
		_, err := Open(
			t.Context(), Where{Index: 99, From4: netip.MustParseAddr("192.0.2.10")}, groups, Receiver{},
		)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "open multicast sockets on interface 99") {
		t.Errorf("error %v", err)
	}
	ctx, end := context.WithCancel(t.Context())
	s, received := open(t, ns, "lo", "127.0.0.1", false)
	end()
	if err := s.Send(netip.AddrPort{}, []byte("x")); err != nil {
		t.Errorf("error %v", err)
	}
	next(received)
	s.Close()
	if err := s.Send(netip.AddrPort{}, []byte("x")); !errors.Is(err, net.ErrClosed) ||
		ctx.Err() == nil {
		t.Errorf("error %v", err)
	}
}
