package lldp

import (
	"context"
	"net"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/socket"
	"github.com/onprem-infra/onprem-infra/shared/lldp"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// frames are an end of a port, garbage, and an announcement: switch "leaf-1", port "p7", VLAN 100.
var frames = []string{
	"\x02\x02\x07x" + "\x04\x02\x07y" + "\x06\x02\x00\x00" + "\x00\x00",
	"garbage",
	"\x02\x03\x07sw" + "\x04\x03\x07p7" + "\x06\x02\x00\x78" + "\x0a\x06leaf-1" + "\xfe\x06\x00\x80\xc2\x01\x00\x64" + "\x00\x00",
}

// announce sends frames to LLDP's group from a link, ten times a second until ctx ends.
func announce(ctx context.Context, link string) error {
	on, err := net.InterfaceByName(link)
	if err != nil {
		return err
	}
	fd, err := socket.Open(unix.AF_PACKET, unix.SOCK_DGRAM, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	for ; ctx.Err() == nil; time.Sleep(100 * time.Millisecond) {
		for _, frame := range frames {
			to := socket.Frames(lldp.Type, on.Index)
			to.Halen = 6
			copy(to.Addr[:], nearest[:6])
			if err := unix.Sendto(fd, []byte(frame), 0, to); err != nil {
				return err
			}
		}
	}
	return nil
}

// TestWait holds that the announcement of the other end is read, that of this end is not, and that
// without one the time is kept.
func TestWait(t *testing.T) {
	ns := netns.New(t)
	ns.IP(t, "link add port type veth peer name nic\nlink set port up\nlink set nic up")
	for _, tt := range []struct {
		from string
		want bool
	}{{"port", true}, {"nic", false}} {
		ctx, end := context.WithTimeout(t.Context(), 2*time.Second)
		sent := make(chan error)
		go func() { sent <- ns.In(func() error { return announce(ctx, tt.from) }) }()
		var got *lldp.Neighbor
		begin := time.Now()
		err := ns.In(func() (err error) { got, err = Wait(ctx, "nic"); return err })
		took := time.Since(begin)
		end()
		if sending := <-sent; sending != nil {
			t.Fatal(sending)
		}
		if err != nil || (got != nil) != tt.want || took > 4*time.Second {
			t.Errorf("from %s: %+v, %v after %v", tt.from, got, err, took)
		}
		if got != nil && got.String() != `switch "leaf-1", port "p7", VLAN 100 without a tag` {
			t.Errorf("%s", got)
		}
	}
	if _, err := Wait(t.Context(), "none"); err == nil {
		t.Error("a link that does not exist is waited for")
	}
}
