package capture

import (
	"context"
	"encoding/hex"
	"errors"
	"io/fs"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// send sends what VRRP carries, and packets of other protocols around it, until the test ends: the
// receiver may begin late.
func send(t *testing.T, family int, to unix.Sockaddr, message string) {
	t.Helper()
	data, err := hex.DecodeString(message)
	if err != nil {
		t.Fatal(err)
	}
	var sockets []int
	for _, protocol := range []int{253, 112, 254} { // 253 and 254 are experimental (RFC 3692)
		fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, protocol)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { unix.Close(fd) })
		sockets = append(sockets, fd)
	}
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	go func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			for _, fd := range sockets {
				_ = unix.Sendto(fd, data, 0, to)
			}
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
}

// TestAdverts holds that adverts to this host are received, of both versions and families, with
// their senders, and that this host reports its membership in VRRP's groups to switches.
func TestAdverts(t *testing.T) {
	need.Root(t)
	for _, tt := range []struct {
		name, message, vip string
		family             int
		to                 unix.Sockaddr
		version            vrrp.Version
		interval           time.Duration
	}{
		{"version 2", "21016401000186a5c00002050000000000000000", "192.0.2.5", unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, vrrp.V2, time.Second},
		{"version 3", "31010001000a0000c0000205", "192.0.2.5", unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, vrrp.V3, 100 * time.Millisecond},
		{"IPv6", "31016401000a000020010db8000000000000000000000005", "2001:db8::5", unix.AF_INET6, &unix.SockaddrInet6{Addr: [16]byte{15: 1}}, vrrp.V3, 100 * time.Millisecond},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			send(t, tt.family, tt.to, tt.message)
			var received []Received
			err := Adverts(ctx, "lo", func(h Received) {
				if h.From.BitLen() != len(h.VIPs[0].AsSlice())*8 || h.ID != 1 {
					return // of another test
				}
				if received = append(received, h); len(received) == 3 {
					for file, group := range map[string]string{"/proc/thread-self/net/igmp": "120000E0", "/proc/thread-self/net/igmp6": "lo              ff020000000000000000000000000012"} {
						if members, err := os.ReadFile(file); err != nil ||
							!strings.Contains(string(members), group) {
							t.Errorf("%s has no %s: %v\n%s", file, group, err, members)
						}
					}
					cancel()
				}
			})
			if err != nil || len(received) < 3 {
				t.Fatalf("received %d, %v", len(received), err)
			}
			for _, h := range received {
				if h.Version != tt.version || h.Interval != tt.interval || len(h.VIPs) != 1 ||
					h.VIPs[0].String() != tt.vip ||
					!h.From.IsLoopback() ||
					len(h.MAC) != 6 ||
					h.At.IsZero() {
					t.Errorf("received %+v", h)
				}
			}
		})
	}
}

// TestAdverts_Arrival holds that an advert's time is that of its arrival, not when a busy program
// reads it.
func TestAdverts_Arrival(t *testing.T) {
	need.Root(t)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	send(t, unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, "31030001000a0000c0000203")
	var arrived []time.Time
	const busy = time.Second
	err := Adverts(ctx, "lo", func(h Received) {
		if h.ID != 3 {
			return // of another test
		}
		switch arrived = append(arrived, h.At); len(arrived) {
		case 20: // the kernel's stamps are on by now
			time.Sleep(busy)
		case 21:
			cancel()
		}
	})
	if err != nil || len(arrived) < 21 {
		t.Fatalf("received %d, %v", len(arrived), err)
	}
	if apart := arrived[20].Sub(arrived[19]); apart < 0 || apart > busy*3/4 {
		t.Errorf("one advert arrived %v after another one, and they were sent 20 ms apart", apart)
	}
}

// TestAdverts_OtherProtocols holds that packets of other protocols do not wake the receiver.
func TestAdverts_OtherProtocols(t *testing.T) {
	need.Root(t)
	f := vrrpFamilies[0]
	on, err := net.InterfaceByName("lo")
	if err != nil {
		t.Fatal(err)
	}
	socket, err := f.listen(on.Index)
	if err != nil {
		t.Fatal(err)
	}
	defer socket.Close()
	raw, err := socket.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	send(t, unix.AF_INET, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}},
		"31010001000a0000c0000205")
	deadline := time.Now().Add(10 * time.Second)
	if err := socket.SetReadDeadline(deadline); err != nil {
		t.Fatal(err)
	}
	for range 5 {
		packet := make([]byte, maxPacket)
		var failed error
		err := raw.Read(func(fd uintptr) bool {
			_, _, failed = unix.Recvfrom(int(fd), packet, 0)
			return !errors.Is(failed, unix.EAGAIN)
		})
		if err != nil || failed != nil {
			t.Fatal(err, failed)
		}
		if packet[9] != 112 {
			t.Errorf("received a packet of protocol %d", packet[9])
		}
	}
	if err := raw.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_DETACH_FILTER, 0) }); err != nil {
		t.Fatal(err)
	}
	if !errors.Is(err, unix.EPERM) {
		t.Errorf("the filter can be taken off: %v", err)
	}
}

// TestAdvertsNoLink holds that a link that is not there is an error that names it.
func TestAdvertsNoLink(t *testing.T) {
	err := Adverts(t.Context(), "nosuch0", func(Received) { t.Error("received something") })
	if err == nil || !strings.Contains(err.Error(), "nosuch0") || errors.Is(err, fs.ErrClosed) {
		t.Errorf("%v", err)
	}
}

// TestAdvertsEnd holds that a receiver ends, however its context's end and its socket's end meet.
func TestAdvertsEnd(t *testing.T) {
	need.Root(t)
	ended := make(chan error)
	const times = 300
	for range times {
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		go func() { ended <- Adverts(ctx, "lo", func(Received) {}) }()
	}
	for range times {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatal(err)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("it does not end")
		}
	}
}

// TestAdvertsFlood holds that adverts without end do not keep the host busy.
func TestAdvertsFlood(t *testing.T) {
	need.Root(t)
	data, err := hex.DecodeString("31010001000a0000c0000205")
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 112)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	begin, received, sent := time.Now(), 0, 0
	done := make(chan error, 1)
	go func() { done <- Adverts(ctx, "lo", func(Received) { received++ }) }()
	for ctx.Err() == nil {
		_ = unix.Sendto(fd, data, 0, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}})
		sent++
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	// A window more for each of the two families, and for each end.
	if most := maxBurst * (int(time.Since(begin)/burst) + 4); received > most || received == 0 ||
		sent < 2*most {
		t.Errorf("received %d of %d, at most %d", received, sent, most)
	}
}

// TestAdvertsVLAN holds that on a port of several VLANs adverts of a VLAN in which this host has no
// link are not received: another cluster may have our ID there.
func TestAdvertsVLAN(t *testing.T) {
	need.Root(t)
	here, there := netns.New(t), netns.New(t)
	here.IP(t, "link add ens3 type veth peer name ens3 netns "+there.Path()+"\nlink set ens3 up\n")
	there.IP(t, "link set ens3 up\n")
	head, err := hex.DecodeString("01005e000012525400000001")
	if err != nil {
		t.Fatal(err)
	}
	rest, err := hex.DecodeString(
		"080045c0002000000000ff700000c0000263e0000012" + "31010001000a0000c0000205")
	if err != nil {
		t.Fatal(err)
	}
	tagged, plain := append(
		append(head[:12:12], 0x81, 0, 0, 100),
		rest...), append(
		head[:12:12],
		rest...)
	plain[len(plain)-11] = 2 // its ID
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	sends := make(chan error, 1)
	go func() {
		sends <- there.In(func() error {
			on, err := net.InterfaceByName("ens3")
			if err != nil {
				return err
			}
			fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
			if err != nil {
				return err
			}
			defer unix.Close(fd)
			for ctx.Err() == nil {
				for _, frame := range [][]byte{tagged, plain} {
					if err := unix.Sendto(fd, frame, 0, &unix.SockaddrLinklayer{Ifindex: on.Index}); err != nil {
						return err
					}
				}
				time.Sleep(10 * time.Millisecond)
			}
			return nil
		})
	}()
	received := map[vrrp.ID]int{}
	err = here.In(func() error {
		return Adverts(ctx, "ens3", func(h Received) {
			if received[h.ID]++; received[2] == 5 {
				cancel()
			}
		})
	})
	if sent := <-sends; err != nil || sent != nil || received[1] > 0 || received[2] < 5 {
		t.Errorf("received %v by ID; listening: %v, sending: %v", received, err, sent)
	}
}
