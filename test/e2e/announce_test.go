package e2e

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// announcements are what one machine says on the network of an address that is its own: by ARP, by
// neighbour advertisement, by VRRP.
type announcements struct {
	mac []byte

	mu   sync.Mutex
	seen map[string]int // by what and address
}

// listen hears on a host what the machine with a hardware address announces, until the test ends.
func listen(t *testing.T, on *lab.Host, mac string) *announcements {
	t.Helper()
	a := &announcements{seen: map[string]int{}}
	for _, digits := range strings.Split(mac, ":") {
		var b byte
		if _, err := fmt.Sscanf(digits, "%02x", &b); err != nil {
			t.Fatal(err)
		}
		a.mac = append(a.mac, b)
	}
	all := binary.NativeEndian.Uint16(binary.BigEndian.AppendUint16(nil, unix.ETH_P_ALL))
	var fd int
	err := on.Do(func() (err error) {
		fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, int(all))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.SetsockoptTimeval(fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 100_000}); err != nil {
		t.Fatal(err)
	}
	stop, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		frame := make([]byte, 2048)
		for {
			select {
			case <-stop:
				return
			default:
			}
			if n, _, err := unix.Recvfrom(fd, frame, 0); err == nil {
				a.receive(frame[:n])
			}
		}
	}()
	t.Cleanup(func() {
		close(stop)
		<-done
		unix.Close(fd)
	})
	return a
}

// receive takes a frame of Ethernet (RFC 826, RFC 4861 4.4, RFC 5798 5.1).
func (a *announcements) receive(frame []byte) {
	const ethernet, arp, ipv4, ipv6, icmpv6, advertisement, vrrp = 14, 0x0806, 0x0800, 0x86dd, 58, 136, 112
	if len(frame) < ethernet+28 || !bytes.Equal(frame[6:12], a.mac) {
		return
	}
	packet := frame[ethernet:]
	switch kind := binary.BigEndian.Uint16(frame[12:]); {
	case kind == arp:
		a.note("ARP", packet[14:18])
	case kind == ipv4 && packet[9] == vrrp:
		a.note("VRRP", packet[12:16])
	case kind == ipv6 && len(packet) >= 64 && packet[6] == icmpv6 && packet[40] == advertisement:
		a.note("ND", packet[48:64])
	case kind == ipv6 && packet[6] == vrrp:
		a.note("VRRP", packet[8:24])
	}
}

func (a *announcements) note(what string, address []byte) {
	ip, _ := netip.AddrFromSlice(address)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen[what+" "+ip.String()]++
}

// of counts the announcements of addresses that hold any of the words: an address, a protocol.
func (a *announcements) of(words ...string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for what, times := range a.seen {
		for _, w := range words {
			if strings.Contains(what+" ", w+" ") {
				n += times
				break
			}
		}
	}
	return n
}
