package lab

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netns"
)

// Event is an address that was added to a host or removed, when the kernel reported it.
type Event struct {
	At    time.Time
	Added bool
}

// Watch reports every addition and removal of an address on a host until stop is called.
func (h *Host) Watch(vip netip.Addr) (events <-chan Event, stop func(), err error) {
	ns, err := netns.GetFromPath(h.Path())
	if err != nil {
		return nil, nil, fmt.Errorf("open the network of %s: %w", h.Name, err)
	}
	updates, done := make(chan netlink.AddrUpdate), make(chan struct{})
	err = netlink.AddrSubscribeWithOptions(updates, done, netlink.AddrSubscribeOptions{
		Namespace: &ns,
	})
	if err := errors.Join(err, ns.Close()); err != nil {
		return nil, nil, fmt.Errorf("watch addresses of %s: %w", h.Name, err)
	}
	out, ended := make(chan Event, 64), make(chan struct{})
	go func() {
		defer close(ended)
		for u := range updates {
			if !isAddr(&u.LinkAddress, vip) {
				continue
			}
			select {
			case out <- Event{At: time.Now(), Added: u.NewAddr}:
			case <-done:
			}
		}
	}()
	return out, func() {
		close(done)
		<-ended
	}, nil
}

func isAddr(n *net.IPNet, vip netip.Addr) bool {
	if n == nil {
		return false
	}
	a, ok := netip.AddrFromSlice(n.IP)
	return ok && a.Unmap() == vip
}
