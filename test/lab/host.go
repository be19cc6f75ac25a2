package lab

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"

	"github.com/vishvananda/netns"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// Host is one host of the lab.
type Host struct {
	Name      string
	namespace string
	addresses []netip.Prefix // from Add
	lab       *Lab
	number    int  // of its port at the switch
	line      line // the faults of its wire
}

// port is the switch's end of the host's wire.
func (h *Host) port() string { return fmt.Sprintf("port%d", h.number) }

// Path is the host's network namespace as a file.
func (h *Host) Path() string { return filepath.Join(netnsDir, h.namespace) }

// Command prepares a command inside the host's network; all else is the local host's. It has its
// own process group, so that an interrupt from the terminal reaches only the owner, which ends the
// lab in order.
func (h *Host) Command(ctx context.Context, name string, args ...string) *exec.Cmd {
	// nsenter and not `ip netns exec`, which mounts another /sys and so loses the control groups.
	cmd := exec.CommandContext(
		ctx, "nsenter", append([]string{"--net=" + h.Path(), "--", name}, args...)...,
	)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// Contained is Command with its own /run, as in a container: keepalived 2.3.2 or later locks a file
// there at its start, so one of two that share the directory may exit.
func (h *Host) Contained(ctx context.Context, name string, args ...string) *exec.Cmd {
	const script = `mount -t tmpfs tmpfs /run && exec "$0" "$@"`
	return h.Command(
		ctx, "unshare", append([]string{"--mount", "sh", "-c", script, name}, args...)...,
	)
}

// Do runs f on a thread inside the host's network. Sockets that f creates stay there; goroutines
// that it starts do not.
func (h *Host) Do(f func() error) error { return in(h.Path(), f) }

// in is Do for a network namespace.
func in(path string, f func() error) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		ns, err := netns.GetFromPath(path)
		if err != nil {
			done <- fmt.Errorf("open the network %s: %w", filepath.Base(path), err)
			return
		}
		err = netns.Set(ns)
		if err == nil {
			err = f()
		}
		// The thread is never unlocked and so ends with the goroutine: no other goroutine runs in
		// the wrong network.
		done <- errors.Join(err, ns.Close())
	}()
	return <-done
}

// Dial connects from the host. The address is numeric: a name would be resolved outside.
func (h *Host) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	if _, err := netip.ParseAddrPort(address); err != nil {
		return nil, err
	}
	var conn net.Conn
	err := h.Do(func() (err error) {
		conn, err = new(net.Dialer).DialContext(ctx, network, address)
		return err
	})
	return conn, err
}

// Listen opens a listening TCP socket on the host.
func (h *Host) Listen(address string) (net.Listener, error) {
	var listener net.Listener
	err := h.Do(func() (err error) {
		listener, err = net.Listen("tcp", address)
		return err
	})
	return listener, err
}

// ListenPacket opens a UDP socket on the host.
func (h *Host) ListenPacket(address string) (net.PacketConn, error) {
	var conn net.PacketConn
	err := h.Do(func() (err error) {
		conn, err = net.ListenPacket("udp", address)
		return err
	})
	return conn, err
}

// Link sets the host's link up or down.
func (h *Host) Link(state string) error { return ipBatch(h.namespace, "link set eth0 "+state) }

// Give adds an address to the host, as an administrator does by hand.
func (h *Host) Give(a netip.Prefix) error {
	return ipBatch(h.namespace, fmt.Sprintf("address add %s dev eth0", a))
}

// Take removes an address from the host.
func (h *Host) Take(a netip.Prefix) error {
	return ipBatch(h.namespace, fmt.Sprintf("address del %s dev eth0", a))
}

// Route sets the default gateway, also in place of one that the kernel knows from a router's
// advertisement.
func (h *Host) Route(gateway netip.Addr) error {
	return ipBatch(h.namespace, fmt.Sprintf("route replace default via %s", gateway))
}

// Off is a loss of power on the network: the link goes down, and all addresses and routes are lost.
// The caller kills the host's processes.
func (h *Host) Off() error {
	return ipBatch(h.namespace, "link set eth0 down", "address flush dev eth0")
}

// On connects the host, with the addresses of Add and nothing else.
func (h *Host) On() error {
	commands := []string{"link set lo up", "link set eth0 up"}
	for _, a := range h.addresses {
		add := fmt.Sprintf("address add %s dev eth0", a)
		if a.Addr().Is6() {
			add += " nodad"
		}
		commands = append(commands, add)
	}
	return ipBatch(h.namespace, commands...)
}

// Wire connects the host to the switch of another lab too, by a card of this name and MAC without
// an address, as a machine has that is on two networks.
func (h *Host) Wire(other *Lab, name string, card mac.MAC) error {
	port := fmt.Sprintf("%s.%s", h.port(), name)
	if err := ipBatch(other.prefix+"switch",
		fmt.Sprintf("link add %s type veth peer name %s address %s netns %s", port, name, card,
			h.namespace),
		fmt.Sprintf("link set %s master br0 up", port)); err != nil {
		return err
	}
	return ipBatch(h.namespace, fmt.Sprintf("link set %s up", name))
}

// Carrier takes the switch's end of a wire down, or up again, so that the host's card loses its
// carrier, and keeps its addresses. A card other than eth0 is one of Wire, with that lab's switch.
func (h *Host) Carrier(at *Lab, card string, up bool) error {
	port, state := h.port(), "down"
	if card != "eth0" {
		port += "." + card
	}
	if up {
		state = "up"
	}
	return ipBatch(at.prefix+"switch", fmt.Sprintf("link set %s %s", port, state))
}
