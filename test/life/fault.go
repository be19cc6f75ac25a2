package life

import (
	"syscall"
)

// The containers of a node's pods that faults are about.
const (
	Keepalived        = "keepalived/keepalived"
	KeepalivedMonitor = "keepalived/keepalived-monitor"
	HAProxy           = "haproxy/haproxy"
	HAProxyMonitor    = "haproxy/haproxy-monitor"
	CoreDNS           = "coredns/coredns"
	CoreDNSMonitor    = "coredns/coredns-monitor"
)

// KillVRRP kills the one process of keepalived that uses VRRP.
func (n *Node) KillVRRP() error {
	speaker, err := n.Child(Keepalived, "keepalived")
	if err != nil {
		return err
	}
	return syscall.Kill(speaker.PID, syscall.SIGKILL)
}

// KillKeepalived kills keepalived and its supervisor, all at once.
func (n *Node) KillKeepalived() error { return n.SignalAll(Keepalived, syscall.SIGKILL) }

// KillHAProxy kills all of HAProxy at once.
func (n *Node) KillHAProxy() error { return n.SignalAll(HAProxy, syscall.SIGKILL) }

// Freeze stops every process of a container, and Thaw has them go on.
func (n *Node) Freeze(container string) error { return n.SignalAll(container, syscall.SIGSTOP) }

// Thaw undoes Freeze.
func (n *Node) Thaw(container string) error { return n.SignalAll(container, syscall.SIGCONT) }
