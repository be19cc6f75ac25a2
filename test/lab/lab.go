// Package lab is a small Ethernet on one host: a switch and its hosts, each a network namespace.
//
// Daemons, addresses and packets are real. Labs are separate, and the next lab removes one whose
// owner was killed.
package lab

import (
	"bytes"
	"errors"
	"fmt"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/owner"
)

// Lab is one switch and the hosts on it.
type Lab struct {
	prefix string
	hosts  []*Host

	mu   sync.Mutex
	cuts []cut
}

// serial numbers the labs of one process.
var serial atomic.Int64

// Open makes a switch without hosts. It needs root and iproute2.
func Open() (*Lab, error) {
	if err := removeLeftovers(); err != nil {
		return nil, fmt.Errorf("remove what dead labs left: %w", err)
	}
	self, err := owner.Self()
	if err != nil {
		return nil, err
	}
	l := &Lab{prefix: fmt.Sprintf("%s%s.%d.", namePrefix, self, serial.Add(1))}
	if err := ip("netns", "add", l.prefix+"switch"); err != nil {
		return nil, err
	}
	if err := ipBatch(l.prefix+"switch",
		"link add br0 type bridge stp_state 0 mcast_snooping 0",
		"link set br0 up"); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// New is Open for a test: it ends with the test.
func New(t testing.TB) *Lab {
	t.Helper()
	need.Root(t)
	need.Command(t, "ip")
	need.Command(t, "nsenter")
	l, err := Open()
	if err != nil {
		t.Fatalf("open lab: %v", err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Errorf("close lab: %v", err)
		}
	})
	return l
}

// Add connects a host with these addresses to the switch; its one link is eth0. An IPv6 address is
// usable at once, without duplicate address detection.
func (l *Lab) Add(name string, addresses ...netip.Prefix) (*Host, error) {
	h := &Host{Name: name, namespace: l.prefix + name, addresses: addresses, lab: l}
	if err := ip("netns", "add", h.namespace); err != nil {
		return nil, err
	}
	l.hosts = append(l.hosts, h)
	h.number = len(l.hosts)
	if err := ipBatch(l.prefix+"switch",
		fmt.Sprintf("link add %s type veth peer name eth0 netns %s", h.port(), h.namespace),
		fmt.Sprintf("link set %s master br0 up", h.port())); err != nil {
		return nil, err
	}
	return h, h.On()
}

// Plug connects a link to the switch that open makes in the switch's own network, such as a tap.
func (l *Lab) Plug(link string, open func(link string) error) error {
	if err := in(l.wires(), func() error { return open(link) }); err != nil {
		return err
	}
	return ipBatch(l.prefix+"switch", fmt.Sprintf("link set %s master br0 up", link))
}

// Close kills every process in the lab's namespaces, and removes the namespaces.
func (l *Lab) Close() error {
	for _, h := range l.hosts {
		h.line.stop()
	}
	return removeNamespaces(l.prefix)
}

// wires is the switch's network namespace as a file.
func (l *Lab) wires() string { return filepath.Join(netnsDir, l.prefix+"switch") }

// ip runs iproute2's ip.
func ip(args ...string) error {
	out, err := exec.Command("ip", args...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("ip %s: %w: %s", strings.Join(args, " "), err, bytes.TrimSpace(out))
	}
	return nil
}

// ipBatch runs several ip commands inside a namespace with one process.
func ipBatch(namespace string, commands ...string) error {
	cmd := exec.Command("nsenter", "--net="+filepath.Join(netnsDir, namespace), "ip", "-batch", "-")
	cmd.Stdin = strings.NewReader(strings.Join(commands, "\n") + "\n")
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf(
			"ip in %s (%s): %w: %s", namespace, strings.Join(commands, "; "), err,
			bytes.TrimSpace(out),
		)
	}
	return nil
}
