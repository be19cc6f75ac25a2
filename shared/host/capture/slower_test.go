package capture

import (
	"context"
	"encoding/hex"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// TestSlower holds that of all adverts to this host those of version 3 with a longer interval are
// received, of both families, and nothing else.
func TestSlower(t *testing.T) {
	need.Root(t)
	ns := netns.New(t)
	ns.IP(t, "link set lo up\n")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	received, ended := make(chan Delivered, 100), make(chan error, 1)
	go func() {
		ended <- ns.In(func() error {
			return Slower(ctx, 100*time.Millisecond, []vrrp.ID{1, 2, 3, 4, 5, 6, 7},
				func(d Delivered) bool { received <- d; return true })
		})
	}()
	four, six := &unix.SockaddrInet4{
		Addr: [4]byte{127, 0, 0, 1},
	}, &unix.SockaddrInet6{
		Addr: [16]byte{15: 1},
	}
	adverts := []struct {
		name, message string
		to            unix.Sockaddr
	}{
		{"1: version 2", "2101640100010000c00002050000000000000000", four},
		{"2: the interval", "31020001000a0000c0000205", four},
		{"3: a longer one", "3103000100640000c0000205", four},
		{"4: the longest", "310400010fff0000c0000205", four},
		{"5: the interval of IPv6", "31056401000a000020010db8000000000000000000000005", six},
		{"6: a longer one of IPv6", "310664010064000020010db8000000000000000000000005", six},
		{"7: another type", "320700010fff0000c0000205", four},
		{"8: a longer one of another router", "310800010fff0000c0000205", four},
		{"9: a longer one of another router of IPv6",
			"310964010fff000020010db8000000000000000000000005", six},
	}
	seen := map[byte]bool{}
	for !seen[3] || !seen[4] || !seen[6] {
		for _, a := range adverts {
			if err := ns.In(func() error { return sendAdvert(a.to, a.message) }); err != nil {
				t.Fatalf("%s: %v", a.name, err)
			}
		}
		for waiting := true; waiting; {
			select {
			case a := <-received:
				if !slices.Contains([]byte{3, 4, 6}, byte(a.ID)) ||
					a.Interval <= 100*time.Millisecond ||
					a.Link != "lo" ||
					!a.To.IsLoopback() {
					t.Errorf("received %+v", a)
				}
				seen[byte(a.ID)] = true
			case <-time.After(100 * time.Millisecond):
				waiting = false
			case err := <-ended:
				t.Fatalf("received %v: %v", seen, err)
			}
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestOnlySlower holds that the kernel drops adverts of other routers, which are never read: as many
// as a host can send would leave no room for ours.
func TestOnlySlower(t *testing.T) {
	need.Root(t)
	ns := netns.New(t)
	ns.IP(t, "link set lo up\n")
	for _, tt := range []struct {
		family, at int
		to         unix.Sockaddr
		end        string
	}{
		{unix.AF_INET, 20, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, "c0000205"},
		{unix.AF_INET6, 0, &unix.SockaddrInet6{Addr: [16]byte{15: 1}},
			"20010db8000000000000000000000005"},
	} {
		if err := ns.In(func() error {
			file, err := listenSlower(tt.family,
				onlySlower(tt.family, 100*time.Millisecond, []vrrp.ID{3, 5, 7}))
			if err != nil {
				return err
			}
			defer file.Close()
			for _, id := range []string{"02", "03", "04", "05", "06", "07", "08"} {
				if err := sendAdvert(tt.to, "31"+id+"640100640000"+tt.end); err != nil {
					return err
				}
			}
			packet := make([]byte, maxPacket)
			for _, want := range []byte{3, 5, 7} {
				if err := file.SetReadDeadline(time.Now().Add(5 * time.Second)); err != nil {
					return err
				}
				if _, err := file.Read(packet); err != nil {
					return err
				}
				if got := packet[tt.at+1]; got != want {
					t.Errorf("family %d: received one with ID %d, want %d", tt.family, got, want)
				}
			}
			return nil
		}); err != nil {
			t.Errorf("family %d: %v", tt.family, err)
		}
	}
}

// TestSlower_Flood holds that an advert that counts arrives among 3,000 a second that do not.
func TestSlower_Flood(t *testing.T) {
	need.Root(t)
	ns := netns.New(t)
	ns.IP(t, "link set lo up\n")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	received, ended := make(chan struct{}, 1), make(chan error, 1)
	var others atomic.Int32
	go func() {
		ended <- ns.In(func() error {
			return Slower(ctx, 100*time.Millisecond, []vrrp.ID{3}, func(d Delivered) bool {
				if d.Priority == 1 {
					others.Add(1)
					return false
				}
				received <- struct{}{}
				return true
			})
		})
	}()
	send := func(message string, times int) {
		t.Helper()
		if err := ns.In(func() error {
			for range times {
				if err := sendAdvert(&unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}, message); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	for others.Load() == 0 {
		send("3103010100640000c0000205", 1)
		time.Sleep(10 * time.Millisecond)
	}
	for range 100 {
		time.Sleep(10 * time.Millisecond)
		send("3103010100640000c0000205", 30)
	}
	send("3103fe010fff0000c0000205", 1)
	select {
	case <-received:
	case <-time.After(5 * time.Second):
		t.Fatalf("%d adverts that do not count were read, and not the one that counts", others.Load())
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestSlower_Deadline holds that the end of the context by a deadline is no error.
func TestSlower_Deadline(t *testing.T) {
	need.Root(t)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := netns.New(t).In(func() error {
		return Slower(ctx, time.Second, []vrrp.ID{1}, func(Delivered) bool { return true })
	}); err != nil {
		t.Error(err)
	}
}

// sendAdvert sends what VRRP carries, with a right checksum.
func sendAdvert(to unix.Sockaddr, message string) error {
	data, err := hex.DecodeString(message)
	if err != nil {
		return err
	}
	family := unix.AF_INET
	if _, six := to.(*unix.SockaddrInet6); six {
		family = unix.AF_INET6
	}
	fd, err := unix.Socket(family, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 112)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	if family == unix.AF_INET6 {
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IPV6, unix.IPV6_CHECKSUM, 6)
	} else {
		var sum uint32
		for i := 0; i < len(data); i += 2 {
			sum += uint32(data[i])<<8 | uint32(data[i+1])
		}
		for sum > 0xffff {
			sum = sum>>16 + sum&0xffff
		}
		data[6], data[7] = ^byte(sum>>8), ^byte(sum)
		err = unix.SetsockoptInt(fd, unix.IPPROTO_IP, unix.IP_TTL, 255)
	}
	if err != nil {
		return err
	}
	return unix.Sendto(fd, data, 0, to)
}
