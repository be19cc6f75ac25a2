package podvip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// card is the card of a host on the network from which it boots, as DHCP uses it.
type card struct {
	mac  mac.MAC
	host *lab.Host
	out  net.PacketConn
	in   int // a packet socket: it has answers to addresses that the host has not yet, too

	mu     sync.Mutex
	closed bool
}

// answer is an answer of a DHCP server.
type answer struct {
	*dhcpv4.DHCPv4
	at time.Time
	by string // the machine whose card sent it: a node, or the MAC of another one
}

// text is all that a host learns by an answer. T1 and T2 are not in it: dnsmasq chooses them at
// random a little below what the lease gives.
func (a answer) text() string {
	options := dhcpv4.Options{}
	for code, value := range a.Options {
		if code != dhcpv4.OptionRenewTimeValue.Code() && code != dhcpv4.OptionRebindingTimeValue.Code() {
			options[code] = value
		}
	}
	return fmt.Sprintf("%s of %s for %s, next %s, file %q, options %x", a.MessageType(), a.ServerIdentifier(), a.YourIPAddr, a.ServerIPAddr,
		a.BootFileName, options.ToBytes())
}

// plug gives a host a card on the provisioning network.
func (s *site) plug(host *lab.Host, m mac.MAC) *card {
	s.t.Helper()
	if err := host.Wire(s.network, "eno2", m); err != nil {
		s.t.Fatal(err)
	}
	c := &card{mac: m, host: host}
	if err := host.Do(c.open); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(c.close)
	return c
}

func (c *card) open() error {
	link, err := net.InterfaceByName("eno2")
	if err != nil {
		return err
	}
	if c.in, err = unix.Socket(unix.AF_PACKET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0); err != nil {
		return err
	}
	const protocol = unix.ETH_P_IP>>8 | unix.ETH_P_IP&0xff<<8 // in the order of the network
	if err := errors.Join(unix.SetsockoptTimeval(c.in, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Usec: 50_000}),
		unix.Bind(c.in, &unix.SockaddrLinklayer{Protocol: protocol, Ifindex: link.Index})); err != nil {
		return err
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	f := os.NewFile(uintptr(fd), "card")
	defer f.Close()
	if err := errors.Join(unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_BROADCAST, 1), unix.BindToDevice(fd, "eno2"),
		unix.Bind(fd, &unix.SockaddrInet4{Port: dhcpv4.ClientPort})); err != nil {
		return err
	}
	c.out, err = net.FilePacketConn(f)
	return err
}

func (c *card) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.closed {
		c.closed = true
		_ = c.out.Close() // of a test that has ended, as the next one
		_ = unix.Close(c.in)
	}
}

// send asks a server. Nothing can be done about an error: a network that fails is what is measured.
func (c *card) send(question *dhcpv4.DHCPv4, to net.IP) {
	_, _ = c.out.WriteTo(question.ToBytes(), &net.UDPAddr{IP: to, Port: dhcpv4.ServerPort})
}

// receive is the next answer for this card; ok is false if none came within the time of the socket.
func (c *card) receive() (a answer, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return a, false
	}
	buffer := make([]byte, 2048)
	n, from, err := unix.Recvfrom(c.in, buffer, 0)
	if err != nil {
		return a, false
	}
	a, ok = answerIn(buffer[:n], from)
	return a, ok && bytes.Equal(a.ClientHWAddr, c.mac[:])
}

// answerIn is the DHCP answer in a packet, if it is one.
func answerIn(packet []byte, from unix.Sockaddr) (a answer, ok bool) {
	header, err := ipv4.ParseHeader(packet)
	const udp = 8
	if err != nil || header.Protocol != unix.IPPROTO_UDP || len(packet) < header.Len+udp {
		return a, false
	}
	payload := packet[header.Len:]
	if payload[2] != 0 || payload[3] != dhcpv4.ClientPort {
		return a, false
	}
	message, err := dhcpv4.FromBytes(payload[udp:])
	link, known := from.(*unix.SockaddrLinklayer)
	if err != nil || !known {
		return a, false
	}
	var sender mac.MAC
	copy(sender[:], link.Addr[:])
	a = answer{DHCPv4: message, at: time.Now(), by: sender.String()}
	for i := range nodes {
		if sender == hostCard(i+1) {
			a.by = fmt.Sprintf("m%d", i+1)
		}
	}
	return a, true
}

// again is the time between two tries of a question: a host that boots waits for seconds, which
// would hide a short silence.
const again = 100 * time.Millisecond

var errDone = errors.New("the test has ended")

// exchange asks until there is an answer.
func (c *card) exchange(ctx context.Context, question *dhcpv4.DHCPv4, to net.IP) (answer, error) {
	for {
		c.send(question, to)
		for next := time.Now().Add(again); time.Now().Before(next); {
			if a, ok := c.receive(); ok && a.TransactionID == question.TransactionID {
				return a, nil
			}
			if ctx.Err() != nil {
				return answer{}, errDone
			}
		}
	}
}

// worker is a host that asks for an address again and again, and what it is answered.
type worker struct {
	mu      sync.Mutex
	offers  []answer
	strange []string // answers that differ
}

// every is the time between two questions.
const every = 20 * time.Millisecond

// ask has the worker ask, until the end of the test.
func (s *site) ask() *worker {
	s.t.Helper()
	reserved := s.reserved("w1")
	return s.askAs(s.plug(s.add("w1", "192.0.2.50"), workerCard(1)), func(a netip.Addr) bool { return a.String() == reserved })
}

// askAs has a host ask; right is which addresses it may get.
func (s *site) askAs(c *card, right func(netip.Addr) bool) *worker {
	s.t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	s.t.Cleanup(cancel)
	question := discovery(s.t, c)
	go func() {
		for ctx.Err() == nil {
			c.send(question, net.IPv4bcast)
			time.Sleep(every)
		}
	}()
	w := &worker{}
	go func() {
		for ctx.Err() == nil {
			if a, ok := c.receive(); ok {
				given, _ := netip.AddrFromSlice(a.YourIPAddr.To4()) // else it is none
				w.note(a, a.MessageType() == dhcpv4.MessageTypeOffer && a.ServerIdentifier().String() == provisioningVIP && right(given))
			}
		}
	}()
	return w
}

func discovery(t *testing.T, c *card, with ...dhcpv4.Modifier) *dhcpv4.DHCPv4 {
	t.Helper()
	question, err := dhcpv4.NewDiscovery(c.mac[:], append(with, dhcpv4.WithBroadcast(true))...)
	if err != nil {
		t.Fatal(err)
	}
	return question
}

// reserved is a host's address on the provisioning network.
func (s *site) reserved(host string) string {
	s.t.Helper()
	for _, h := range s.plan.Provisioning.Hosts {
		if h.Name == host {
			return h.Address.String()
		}
	}
	s.t.Fatalf("the plan has no host %s", host)
	return ""
}

func (w *worker) note(a answer, good bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if text := a.by + ": " + a.text(); good {
		w.offers = append(w.offers, a)
	} else if !slices.Contains(w.strange, text) {
		w.strange = append(w.strange, text)
	}
}

// answers are those of the plan after an instant.
func (w *worker) answers(after time.Time) []answer {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.offers), func(a answer) bool { return a.at.Before(after) })
}

// last is when the worker was answered last.
func (w *worker) last() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.offers) == 0 {
		return time.Time{}
	}
	return w.offers[len(w.offers)-1].at
}

func (w *worker) answeredAfter(at time.Time) bool { return w.last().After(at) }

// silence is the longest time without an answer after an instant.
func (w *worker) silence(after time.Time) (longest time.Duration) {
	before := after
	for _, a := range w.answers(after) {
		longest, before = max(longest, a.at.Sub(before)), a.at
	}
	return longest
}

// wrong are the answers that differ from those of the plan.
func (w *worker) wrong() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.strange)
}

// addresses are those that were given, each once, sorted.
func (w *worker) addresses() (all []string) {
	for _, a := range w.answers(time.Time{}) {
		all = append(all, a.YourIPAddr.String())
	}
	slices.Sort(all)
	return slices.Compact(all)
}
