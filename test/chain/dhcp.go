package chain

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Renewal is how long after each lease the machine asks for the next one.
const Renewal = 4 * time.Second

// Renewal6 is the same for IPv6: half of the lease, as dnsmasq has no setting for another time.
const Renewal6 = leaseTime / 2

// leaseTime is the shortest that dnsmasq gives.
const leaseTime = 2 * time.Minute

// DHCP is a real dnsmasq on the network. It leases one address of each family, those of the
// bootstrap machine, and announces by router advertisements that IPv6 addresses are leased here.
type DHCP struct {
	host    *lab.Host
	dir     string
	options string // the file of the other options
	cmd     *exec.Cmd
	done    chan struct{} // closed when it has ended
}

// ServeDHCP starts a DHCP server on the neighbour. It runs until Stop, and at the latest until the
// lab ends.
func (c *Chain) ServeDHCP(ctx context.Context, servers ...netip.Addr) (*DHCP, error) {
	dir := c.file("dhcp")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	d := &DHCP{host: c.Neighbour, dir: dir, options: filepath.Join(dir, "options")}
	if err := d.write(servers); err != nil {
		return nil, err
	}
	return d, d.Start(ctx)
}

// Start starts a server that has been stopped. Its leases are what they were.
func (d *DHCP) Start(ctx context.Context) error {
	log, err := os.OpenFile(filepath.Join(d.dir, "log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	minutes := fmt.Sprintf("%dm", int(leaseTime.Minutes()))
	d.cmd = d.host.Command(context.WithoutCancel(ctx), "dnsmasq", "--no-daemon", "--conf-file", "--port=0", "--no-ping", "--log-dhcp",
		"--interface=eth0", "--bind-dynamic", "--except-interface=lo", "--dhcp-authoritative",
		"--dhcp-leasefile="+filepath.Join(d.dir, "leases"), "--dhcp-optsfile="+d.options, "--enable-ra",
		fmt.Sprintf("--dhcp-range=%s,%[1]s,255.255.255.0,%s", BootstrapIP, minutes), fmt.Sprintf("--dhcp-range=%s,%[1]s,64,%s", prefix6(BootstrapIP).Addr(), minutes))
	d.cmd.Stdout, d.cmd.Stderr = log, log
	if err := d.cmd.Start(); err != nil {
		return fmt.Errorf("start dnsmasq: %w", err)
	}
	d.done = make(chan struct{})
	go func() {
		defer close(d.done)
		_ = d.cmd.Wait() // how it ended is in its log
	}()
	return nil
}

// Offer gives other name servers at the next renewal, or of none: each family's renewal of its
// own. It returns when dnsmasq has read of them.
func (d *DHCP) Offer(servers ...netip.Addr) error {
	before := d.reads()
	if err := d.write(servers); err != nil {
		return err
	}
	if err := d.cmd.Process.Signal(syscall.SIGHUP); err != nil {
		return err
	}
	for deadline := time.Now().Add(10 * time.Second); d.reads() == before; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			return errors.New("dnsmasq does not read its options again")
		}
	}
	return nil
}

// reads is how often it has read its options.
func (d *DHCP) reads() int { return strings.Count(d.Log(), " read "+d.options) }

func (d *DHCP) write(servers []netip.Addr) error {
	var lines strings.Builder
	fmt.Fprintf(&lines, "option:router,%s\noption:T1,%d\n", NeighbourIP, int(Renewal.Seconds()))
	var list, list6 string
	for _, s := range servers {
		if s.Is4() {
			list += "," + s.String()
		} else {
			list6 += fmt.Sprintf(",[%s]", s)
		}
	}
	if list != "" {
		fmt.Fprintf(&lines, "option:dns-server%s\n", list)
	}
	if list6 != "" {
		// By lease alone: what a router advertisement has announced stays true for its lifetime,
		// which is an hour.
		fmt.Fprintf(&lines, "tag:dhcpv6,option6:dns-server%s\n", list6)
	}
	return os.WriteFile(d.options, []byte(lines.String()), 0o644)
}

// Stop takes the server away.
func (d *DHCP) Stop() error {
	err := d.cmd.Process.Signal(syscall.SIGTERM)
	if errors.Is(err, os.ErrProcessDone) {
		err = nil
	}
	<-d.done
	return err
}

// Log is its output.
func (d *DHCP) Log() string {
	text, err := os.ReadFile(filepath.Join(d.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// Leases is how often it has leased the address.
func (d *DHCP) Leases() int { return strings.Count(d.Log(), " DHCPACK(") }
