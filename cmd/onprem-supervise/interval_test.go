package main

import (
	"encoding/binary"
	"net/netip"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// forge has the neighbour send one advert of version 3 from its own address to the host, with the
// highest priority of a peer and an interval in centiseconds.
func forge(t *testing.T, ns netns.Namespace, vip string, interval uint16) {
	t.Helper()
	from, to := peer[0], host[0]
	if netip.MustParseAddr(vip).Is6() {
		from, to = peer[1], host[1]
	}
	forgeTo(t, ns, from, to, vip, interval)
}

func forgeTo(t *testing.T, ns netns.Namespace, source, target netip.Addr, vip string,
	interval uint16) {
	t.Helper()
	address := netip.MustParseAddr(vip)
	message := []byte{0x31, 74, 254, 1, 0, 0, 0, 0}
	binary.BigEndian.PutUint16(message[4:], interval)
	message = append(message, address.AsSlice()...)
	var to unix.Sockaddr
	family := unix.AF_INET
	if address.Is6() {
		family = unix.AF_INET6
		to = &unix.SockaddrInet6{Addr: target.As16()}
	} else {
		to = &unix.SockaddrInet4{Addr: target.As4()}
		pseudo := append(append(source.AsSlice(), target.AsSlice()...), 0, 112, 0,
			byte(len(message)))
		binary.BigEndian.PutUint16(message[6:], checksum(append(pseudo, message...)))
	}
	if err := ns.In(func() error {
		fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 112)
		if err != nil {
			return err
		}
		defer unix.Close(fd)
		if family == unix.AF_INET {
			err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, 255)
		} else if err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM,
			6); err == nil {
			err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_UNICAST_HOPS, 255)
		}
		if err != nil {
			return err
		}
		return unix.Sendto(fd, message, 0, to)
	}); err != nil {
		t.Fatal(err)
	}
}

// checksum is that of RFC 1071, of an even number of bytes.
func checksum(bytes []byte) uint16 {
	var sum uint32
	for ; len(bytes) > 1; bytes = bytes[2:] {
		sum += uint32(binary.BigEndian.Uint16(bytes))
	}
	for sum > 0xffff {
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

// lateness sums by how much this machine wakes a sleeper too late, until stop.
func lateness() (stop func() time.Duration) {
	const nap, prompt = 5 * time.Millisecond, 10 * time.Millisecond
	end, sum := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for last := time.Now(); ; {
			select {
			case <-end:
				sum <- late
				return
			case <-time.After(nap):
			}
			now := time.Now()
			late += max(0, now.Sub(last)-prompt)
			last = now
		}
	}()
	return func() time.Duration { close(end); return <-sum }
}

// TestForgedInterval holds that one advert with a peer's address and a longer interval than the
// cluster's does not silence the holder, of either family, for long: the supervisor undoes the
// adoption, within a second if no profile has the interval. What the machine was late by is added.
func TestForgedInterval(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(config(s.dir, "0.1", "192.0.2.11", "2001:db8::11"))
	s.untilMaster(10 * time.Second)
	for _, tt := range []struct {
		name, instance, vip string
		interval            uint16 // in centiseconds
		within              time.Duration
	}{
		{"the longest of IPv4", "demo_API_0", vip4, 4095, time.Second},
		{"the longest of IPv6", "demo_API_1", vip6, 4095, time.Second},
		{"another profile's of IPv4", "demo_API_0", vip4, 100, 2 * time.Second},
		{"another profile's of IPv6", "demo_API_1", vip6, 100, 2 * time.Second},
	} {
		t.Run(tt.name, func(t *testing.T) {
			// The log keeps a BACKUP that the status shows for less than half a second.
			changes := func(to string) int {
				return s.log.count("instance=" + tt.instance + " state=" + to)
			}
			silenced, back := changes("BACKUP was=MASTER"), changes("MASTER was=BACKUP")
			forge(t, l.neighbour, tt.vip, tt.interval)
			await(t, "the holder does not adopt the interval", 10*time.Second, func() bool {
				return changes("BACKUP was=MASTER") > silenced
			})
			begin, late := time.Now(), lateness()
			await(t, "the holder is silent", 10*time.Second, func() bool {
				return changes("MASTER was=BACKUP") > back
			})
			silent, added := time.Since(begin), late()
			t.Logf("silent for %s, the machine was late by %s", silent, added)
			if silent > tt.within+added {
				t.Errorf("the holder was silent for %s, want %s at most", silent, tt.within)
			}
			s.untilMaster(10 * time.Second)
			time.Sleep(time.Second) // so that the next undoing is not delayed by this one
		})
	}
}

// TestForgedInterval_Backup has the holder end without a release just after such an advert.
func TestForgedInterval_Backup(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s, holder := newRealKeepalived(t), newRealKeepalived(t)
	holder.start(l.neighbour)
	holder.propose(router(holder.dir, 11, 80, "0.1", "192.0.2.10", "2001:db8::10"))
	holder.untilMaster(10 * time.Second)
	s.start(l.host)
	s.propose(config(s.dir, "0.1", "192.0.2.11", "2001:db8::11"))
	s.untilState("demo_API_0", supervised.Backup, 10*time.Second)
	time.Sleep(500 * time.Millisecond) // it has received the holder's adverts
	holder.cmd.Process.Kill()          // and all of its process namespace
	<-holder.ended
	forge(t, l.neighbour, vip4, 4095)
	t.Logf("it took over %s after the advert", s.untilState("demo_API_0",
		supervised.Master, 2*time.Second))
}

// TestGenuineInterval has a holder with another profile's interval, as one that has missed a
// migration: no adoption is undone, and it keeps the VIPs.
func TestGenuineInterval(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s, holder := newRealKeepalived(t), newRealKeepalived(t)
	holder.start(l.neighbour)
	holder.propose(router(holder.dir, 11, 80, "1.0", "192.0.2.10", "2001:db8::10"))
	holder.untilMaster(10 * time.Second)
	s.start(l.host)
	s.propose(config(s.dir, "0.1", "192.0.2.11", "2001:db8::11"))
	time.Sleep(3 * time.Second) // at first the host may be sooner than an advert
	holds := func() bool {
		st := s.status()
		return st.Instances["demo_API_0"].State == supervised.Master ||
			st.Instances["demo_API_1"].State == supervised.Master
	}
	before := s.log.count("undo an adopted")
	for end := time.Now().Add(4 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if holds() {
			t.Fatal("the host took a VIP from a holder that advertises once a second")
		}
	}
	if s.log.count("undo an adopted") != before {
		t.Error("a genuine holder's interval was undone")
	}
}

// TestForeignInterval_OtherLink has a router with our ID on another link of the host, whose
// interval is longer, while a neighbour holds our VIPs by multicast: keepalived receives nothing of
// it, and is not reloaded.
func TestForeignInterval_OtherLink(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	other := netns.New(t)
	l.host.IP(t, "link add ens4 type veth peer name ens4 netns "+other.Path()+"\nlink set ens4 up\n"+
		"addr add 198.51.100.10/24 dev ens4\naddr add 2001:db8:4::10/64 dev ens4 nodad\n")
	other.IP(t, "link set ens4 up\naddr add 198.51.100.11/24 dev ens4\naddr add 2001:db8:4::11/64 dev ens4 nodad\n")
	s, holder := newRealKeepalived(t), newRealKeepalived(t)
	holder.start(l.neighbour)
	holder.propose(router(holder.dir, 11, 80, "0.1", "", ""))
	holder.untilMaster(10 * time.Second)
	s.start(l.host)
	s.propose(config(s.dir, "0.1", "", ""))
	for _, instance := range []string{"demo_API_0", "demo_API_1"} {
		s.untilState(instance, supervised.Backup, 10*time.Second)
	}
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		forgeTo(t, other, netip.MustParseAddr("198.51.100.11"),
			netip.MustParseAddr("198.51.100.10"), vip4, 4095)
		forgeTo(t, other, netip.MustParseAddr("2001:db8:4::11"),
			netip.MustParseAddr("2001:db8:4::10"), vip6, 4095)
	}
	if n := s.log.count("undo an adopted"); n != 0 {
		t.Errorf("%d intervals were undone", n)
	}
	forge(t, l.neighbour, vip4, 4095) // of its own link it is
	s.untilLogged("undo an adopted", 2*time.Second)
}

// TestForeignInterval_Brake has a router of the link send such adverts again and again: keepalived
// is reloaded ever more rarely, and the status reports why.
func TestForeignInterval_Brake(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(config(s.dir, "0.1", "192.0.2.11", "2001:db8::11"))
	s.untilMaster(10 * time.Second)
	for end := time.Now().Add(9 * time.Second); time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		forge(t, l.neighbour, vip4, 4095)
	}
	if n := s.log.count("reload keepalived\" room=shared/host/supervise why=\"an adopted"); n < 3 ||
		n > 5 {
		t.Errorf("%d reloads within 9 s", n)
	}
	st := s.status()
	if len(st.Troubles) != 1 || !strings.Contains(st.Troubles[0],
		"router 192.0.2.11 on link ens3") {
		t.Errorf("the status is %+v", st)
	}
}
