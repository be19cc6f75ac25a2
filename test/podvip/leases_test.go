package podvip

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv4"
	"github.com/insomniacslk/dhcp/iana"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// lessee is a host that does the same with its DHCP server again and again: it extends its lease, or
// asks after a reboot, or boots.
type lessee struct {
	*card
	s       *site
	name    string
	address net.IP
	once    func(context.Context) error // all that a host does once

	questions int // of DHCP, each time

	mu     sync.Mutex
	done   []time.Time
	heard  map[string][]string // which machines gave an answer
	failed []string
}

// follow begins to do it, until the end of the test.
func (l *lessee) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	l.s.t.Cleanup(func() { cancel(); <-ended })
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			err := l.once(ctx)
			l.mu.Lock()
			if err == nil {
				l.done = append(l.done, time.Now())
			} else if ctx.Err() == nil && !slices.Contains(l.failed, err.Error()) {
				l.failed = append(l.failed, err.Error())
			}
			l.mu.Unlock()
			time.Sleep(every)
		}
	}()
}

// exchange asks until the answer of the kind comes, and keeps it.
func (l *lessee) exchange(ctx context.Context, q *dhcpv4.DHCPv4, to net.IP, want dhcpv4.MessageType) (answer, error) {
	a, err := l.card.exchange(ctx, q, to)
	// An offer that comes twice is no answer to a request: clients drop it (RFC 2131, 4.4.1).
	for err == nil && want == dhcpv4.MessageTypeAck && a.MessageType() == dhcpv4.MessageTypeOffer {
		a, err = l.card.exchange(ctx, q, to)
	}
	if err != nil {
		return a, err
	}
	text := a.text()
	l.mu.Lock()
	defer l.mu.Unlock()
	if !slices.Contains(l.heard[text], a.by) {
		l.heard[text] = append(l.heard[text], a.by)
	}
	if a.MessageType() != want || !a.YourIPAddr.Equal(l.address) {
		return a, fmt.Errorf("answered by %s: %s", a.by, text)
	}
	return a, nil
}

// lessee is a worker that has or gets the address which is reserved for it.
func (s *site) lessee(n, questions int, once func(*lessee, context.Context) error) *lessee {
	s.t.Helper()
	l := &lessee{s: s, name: fmt.Sprintf("w%d", n), questions: questions, heard: map[string][]string{}}
	l.address = net.ParseIP(s.reserved(l.name))
	l.card = s.plug(s.add(l.name, fmt.Sprintf("192.0.2.%d", 50+n)), workerCard(n))
	l.once = func(ctx context.Context) error { return once(l, ctx) }
	out, err := l.host.Command(s.t.Context(), "ip", "address", "add", l.address.String()+"/24", "dev", "eno2").CombinedOutput()
	if err != nil {
		s.t.Fatalf("%v: %s", err, out)
	}
	return l
}

// renew extends a lease as after half of its time: the server that gave it is asked, and no other
// (RFC 2131, 4.4.5).
func (l *lessee) renew(ctx context.Context) error {
	return l.extend(ctx, net.ParseIP(provisioningVIP))
}

// rebind extends a lease that is about to end: whichever server is there is asked.
func (l *lessee) rebind(ctx context.Context) error { return l.extend(ctx, net.IPv4bcast) }

func (l *lessee) extend(ctx context.Context, to net.IP) error {
	q, err := dhcpv4.New(dhcpv4.WithHwAddr(l.mac[:]), dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest), dhcpv4.WithClientIP(l.address))
	if err != nil {
		return err
	}
	_, err = l.exchange(ctx, q, to, dhcpv4.MessageTypeAck)
	return err
}

// reboot asks for the address that the host had before it was off (RFC 2131, 4.3.2: INIT-REBOOT).
func (l *lessee) reboot(ctx context.Context) error {
	q, err := dhcpv4.New(dhcpv4.WithHwAddr(l.mac[:]), dhcpv4.WithMessageType(dhcpv4.MessageTypeRequest), dhcpv4.WithBroadcast(true),
		dhcpv4.WithOption(dhcpv4.OptRequestedIPAddress(l.address)))
	if err != nil {
		return err
	}
	_, err = l.exchange(ctx, q, net.IPv4bcast, dhcpv4.MessageTypeAck)
	return err
}

// boot boots from the network as UEFI does: an offer, the address, the first block of the program.
func (l *lessee) boot(ctx context.Context) error {
	firmware := []dhcpv4.Modifier{
		dhcpv4.WithOption(dhcpv4.OptClassIdentifier("PXEClient:Arch:00007:UNDI:003016")), dhcpv4.WithOption(dhcpv4.OptClientArch(iana.EFI_BC)),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionClientNetworkInterfaceIdentifier, []byte{1, 3, 16})),
		dhcpv4.WithOption(dhcpv4.OptGeneric(dhcpv4.OptionClientMachineIdentifier, append([]byte{0}, make([]byte, 16)...))),
		dhcpv4.WithRequestedOptions(dhcpv4.OptionTFTPServerName, dhcpv4.OptionBootfileName), dhcpv4.WithBroadcast(true),
	}
	q, err := dhcpv4.NewDiscovery(l.mac[:], firmware...)
	if err != nil {
		return err
	}
	offer, err := l.exchange(ctx, q, net.IPv4bcast, dhcpv4.MessageTypeOffer)
	if err != nil {
		return err
	}
	if q, err = dhcpv4.NewRequestFromOffer(offer.DHCPv4, firmware...); err != nil {
		return err
	}
	acknowledged, err := l.exchange(ctx, q, net.IPv4bcast, dhcpv4.MessageTypeAck)
	if err != nil {
		return err
	}
	return l.fetch(ctx, net.JoinHostPort(acknowledged.ServerIPAddr.String(), "69"), acknowledged.BootFileNameOption())
}

// fetch asks by TFTP for a file, until its first block comes (RFC 1350).
func (l *lessee) fetch(ctx context.Context, server, file string) error {
	const data = 3
	for ctx.Err() == nil {
		conn, err := l.host.ListenPacket(net.JoinHostPort(l.address.String(), "0"))
		if err != nil {
			return err
		}
		to, err := net.ResolveUDPAddr("udp", server)
		if err != nil {
			return err
		}
		_, _ = conn.WriteTo([]byte("\x00\x01"+file+"\x00octet\x00"), to)
		_ = conn.SetReadDeadline(time.Now().Add(again))
		block := make([]byte, 600)
		n, from, err := conn.ReadFrom(block)
		if err == nil && n > 4 && block[1] == data {
			_, _ = conn.WriteTo([]byte{0, 4, 0, 1}, from)
		}
		_ = conn.Close()
		switch {
		case err != nil: // nobody answered in time
		case n > 4 && block[1] == data:
			return nil
		default:
			return fmt.Errorf("%s has no file %s: %q", server, file, block[:n])
		}
	}
	return errDone
}

// doneAfter reports whether the host has begun and ended what it does after an instant.
func (l *lessee) doneAfter(at time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := len(l.done)
	return n > 1 && l.done[n-2].After(at)
}

// report is what is wrong, and how often the host did it. Of each question there is one answer,
// whichever node gives it.
func (l *lessee) report() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.s.t.Logf("%s: %d times", l.name, len(l.done))
	if len(l.failed) > 0 {
		l.s.t.Errorf("%s: %q", l.name, l.failed)
	}
	if len(l.heard) != l.questions {
		l.s.t.Errorf("%s was given %d answers to %d questions: %v", l.name, len(l.heard), l.questions, l.heard)
	}
	for text, by := range l.heard {
		if len(by) < 2 {
			l.s.t.Errorf("%s: only %v gave: %s", l.name, by, text)
		}
	}
}

// udhcpc is a host with busybox's DHCP client, which sets its address.
type udhcpc struct {
	s      *site
	host   *lab.Host
	pid    int
	events string // the file with what it did, a line each
}

func (s *site) udhcpc(n int) *udhcpc {
	s.t.Helper()
	name := fmt.Sprintf("w%d", n)
	u := &udhcpc{s: s, host: s.add(name, fmt.Sprintf("192.0.2.%d", 50+n)), events: filepath.Join(s.dir, name)}
	if err := u.host.Wire(s.network, "eno2", workerCard(n)); err != nil {
		s.t.Fatal(err)
	}
	script := filepath.Join(s.dir, "udhcpc-"+name)
	text := fmt.Sprintf("#!/bin/sh\necho \"$1 $ip by $serverid\" >>%s\nPATH=$PATH:/sbin:/usr/sbin\ncase $1 in\n"+
		"deconfig) ip address flush dev eno2 ;;\nbound|renew) ip address replace $ip/$mask dev eno2 ;;\nesac\n", u.events)
	if err := os.WriteFile(script, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := u.host.Command(ctx, need.Command(s.t, "busybox"), "udhcpc", "-f", "-i", "eno2", "-t", "3", "-T", "1", "-A", "1", "-s", script)
	if err := cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	u.pid = cmd.Process.Pid
	s.t.Cleanup(func() { cancel(); _ = cmd.Wait() })
	return u
}

// did is what it did so far.
func (u *udhcpc) did() []string {
	text, err := os.ReadFile(u.events)
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// renew has it extend its lease now.
func (u *udhcpc) renew() {
	u.s.t.Helper()
	if err := syscall.Kill(u.pid, syscall.SIGUSR1); err != nil {
		u.s.t.Fatal(err)
	}
}

// TestProvisioning_Leases holds that hosts keep their addresses, and go on with their boot, when the
// node that answers them loses its power, and when Ironic moves.
func TestProvisioning_Leases(t *testing.T) {
	t.Parallel() // it waits most of the time
	leases(t, 1)
}

// TestLongLeases is the same, ten times.
func TestLongLeases(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	leases(t, 5)
}

// leases loses the holder and moves Ironic so many times each.
func leases(t *testing.T, times int) {
	need.Command(t, "busybox")
	s := openSite(t)
	observer := s.holders()
	s.startIronic(s.nodes[0].Host)
	s.startIronic(s.nodes[1].Host)
	s.until("the worker is answered", time.Minute, func() bool { return s.holder(observer) != nil && !s.worker.last().IsZero() })
	all := []*lessee{s.lessee(2, 1, (*lessee).renew), s.lessee(3, 1, (*lessee).rebind), s.lessee(4, 1, (*lessee).reboot), s.lessee(5, 2, (*lessee).boot)}
	for _, l := range all {
		l.follow()
	}
	client := s.udhcpc(6)
	s.until("udhcpc has an address", time.Minute, func() bool { return len(client.did()) == 2 })
	t.Cleanup(func() {
		for _, l := range all {
			l.report()
		}
	})
	served := func(what string, since time.Time) {
		for _, l := range all {
			s.until(l.name+" goes on after "+what, time.Minute, func() bool { return l.doneAfter(since) })
		}
	}
	extended := 0
	for range times {
		lost := s.holder(observer)
		client.renew()
		s.cables(lost.Host, "down")
		s.until("another node has the address", time.Minute, func() bool { h := s.holder(observer); return h != nil && h != lost })
		served("a power loss", time.Now())
		s.cables(lost.Host, "up")
		s.until("the node that was lost stands by", time.Minute, func() bool { return lost.status().Instances[group].State == "BACKUP" })
		extended++
		s.until("udhcpc extends its lease", 2*time.Minute, func() bool { return len(client.did()) == 2+extended })

		from := s.holder(observer)
		s.ironic[from.Host.Name]()
		client.renew()
		s.until("Ironic's other node has the address", time.Minute, func() bool { h := s.holder(observer); return h != nil && h != from })
		served("Ironic's move", time.Now())
		s.startIronic(from.Host)
		s.until("the former node stands by", time.Minute, func() bool { return from.status().Instances[group].State == "BACKUP" })
		extended++
		s.until("udhcpc extends its lease", 2*time.Minute, func() bool { return len(client.did()) == 2+extended })
	}
	address := fmt.Sprintf("%s by %s", s.reserved("w6"), provisioningVIP)
	want := append([]string{"deconfig  by ", "bound " + address}, slices.Repeat([]string{"renew " + address}, extended)...)
	if did := client.did(); !slices.Equal(did, want) {
		t.Errorf("udhcpc: %q, not %q", did, want)
	}
}
