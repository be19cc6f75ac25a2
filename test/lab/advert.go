package lab

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/advert"
)

// Advert is a VRRP advertisement that a host sent to one peer or to the group.
type Advert struct {
	At       time.Time // when the switch received it, by the kernel's clock
	From, To netip.Addr
	ID       int // the virtual router's
	Priority int
	Bytes    int // of the whole frame
}

// Adverts collects the adverts on a switch.
type Adverts struct {
	fd   int
	done sync.WaitGroup
	end  chan struct{}

	mu  sync.Mutex
	all []Advert
}

// Adverts listens to all ports of the switch until Stop.
func (l *Lab) Adverts() (*Adverts, error) {
	a := &Adverts{end: make(chan struct{})}
	if err := in(l.wires(), a.open); err != nil {
		return nil, fmt.Errorf("listen to the switch's adverts: %w", err)
	}
	a.done.Go(a.run)
	return a, nil
}

// open runs in the switch's network.
func (a *Adverts) open() (err error) {
	a.fd, err = unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, everything)
	if err != nil {
		return err
	}
	// A stop is noticed this soon.
	pause := unix.Timeval{Usec: 50_000}
	err = errors.Join(
		unix.SetsockoptSockFprog(a.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{
			Len: uint16(len(onlyVRRP)), Filter: &onlyVRRP[0],
		}),
		unix.SetsockoptInt(a.fd, unix.SOL_PACKET, unix.PACKET_IGNORE_OUTGOING, 1),
		unix.SetsockoptInt(a.fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1),
		unix.SetsockoptInt(a.fd, unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 8<<20),
		unix.SetsockoptTimeval(a.fd, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &pause))
	if err != nil {
		unix.Close(a.fd)
	}
	return err
}

// onlyVRRP lets IPv4 and IPv6 packets of protocol 112 through (RFC 5798).
var onlyVRRP = []unix.SockFilter{
	{Code: unix.BPF_LD | unix.BPF_H | unix.BPF_ABS, K: 12},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.ETH_P_IP, Jt: 0, Jf: 2},
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 23},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: advert.Protocol, Jt: 3, Jf: 4},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: unix.ETH_P_IPV6, Jt: 0, Jf: 3},
	{Code: unix.BPF_LD | unix.BPF_B | unix.BPF_ABS, K: 20},
	{Code: unix.BPF_JMP | unix.BPF_JEQ | unix.BPF_K, K: advert.Protocol, Jt: 0, Jf: 1},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0xffff},
	{Code: unix.BPF_RET | unix.BPF_K, K: 0},
}

func (a *Adverts) run() {
	ports := map[int]bool{} // a frame is seen once more at the bridge, and at a relay
	buffer, control := make([]byte, 2048), make([]byte, 128)
	for {
		select {
		case <-a.end:
			unix.Close(a.fd)
			return
		default:
		}
		n, c, _, from, err := unix.Recvmsg(a.fd, buffer, control, 0)
		if err != nil {
			continue // nothing was received
		}
		at, ok := from.(*unix.SockaddrLinklayer)
		if !ok || !isPort(a.fd, at.Ifindex, ports) {
			continue
		}
		if one, ok := readAdvert(buffer[:n]); ok {
			one.At = stamp(control[:c])
			a.mu.Lock()
			a.all = append(a.all, one)
			a.mu.Unlock()
		}
	}
}

// isPort reports whether a link of the socket's network is the end of a host's wire.
func isPort(fd, index int, known map[int]bool) bool {
	port, ok := known[index]
	if !ok {
		name, err := nameOf(fd, index)
		port = err == nil && strings.HasPrefix(name, "port")
		known[index] = port
	}
	return port
}

// readAdvert reads a frame that onlyVRRP has let through.
func readAdvert(f []byte) (a Advert, ok bool) {
	const ethernet = 14
	if len(f) < ethernet {
		return a, false
	}
	read, err := advert.Read(f[ethernet:])
	if err != nil {
		return a, false
	}
	return Advert{From: read.From, To: read.To, ID: int(read.ID), Priority: int(read.Priority), Bytes: len(f)}, true
}

// stamp is when the kernel received a packet.
func stamp(control []byte) time.Time {
	messages, err := unix.ParseSocketControlMessage(control)
	if err == nil {
		for _, m := range messages {
			if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS &&
				len(m.Data) >= 16 {
				return time.Unix(int64(binary.NativeEndian.Uint64(
					m.Data,
				)), int64(binary.NativeEndian.Uint64(m.Data[8:])))
			}
		}
	}
	return time.Now()
}

// So are the adverts until now, in the order of receipt.
func (a *Adverts) So() []Advert {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]Advert(nil), a.all...)
}

// Stop ends the collection and returns all adverts.
func (a *Adverts) Stop() []Advert {
	close(a.end)
	a.done.Wait()
	return a.So()
}
