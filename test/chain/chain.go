// Package chain is the whole way that the bootstrap phase goes, on real parts: an install-config
// becomes an Ignition document, Ignition writes it to a disk, systemd boots the disk on a switch,
// and units launch keepalived and CoreDNS through podman. Beside the machine stand a neighbour,
// which is the gateway, the name server and the client, and control plane nodes as they are today.
package chain

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// The cluster is the one that `onprem-infra example install-config` prints.
const (
	Cluster = "prod"
	Zone    = "prod.example.com"
)

// Addresses of the example's machine networks. Every host has one of each family; the cluster uses
// what its install-config specifies.
var (
	APIVIP      = netip.MustParseAddr("192.0.2.5")
	APIVIP6     = netip.MustParseAddr("2001:db8:1::5")
	IngressVIP  = netip.MustParseAddr("192.0.2.6")
	IngressVIP6 = netip.MustParseAddr("2001:db8:1::6")

	NeighbourIP = netip.MustParseAddr("192.0.2.1")
	BootstrapIP = netip.MustParseAddr("192.0.2.10")
	masterIPs   = []netip.Addr{netip.MustParseAddr("192.0.2.21"), netip.MustParseAddr("192.0.2.22")}
)

// Chain is one run.
type Chain struct {
	Machine   *vm.Machine
	VM        *vm.Running // nil until Boot
	Bootstrap *lab.Host   // the machine as the network sees it
	Neighbour *lab.Host
	Masters   []*Master
	// Timing is the profile of what Compile and Render make; empty is compat. Replicas are the
	// control plane nodes; 0 is as in the example.
	Timing   string
	Replicas int

	lab       *lab.Lab
	programs  string // where ours are built
	identity  identity
	upstreams []*nameServer
	registry  *Registry // nil unless the images come from one
}

// New lays the network and makes an empty machine. Close ends whatever a later step has begun.
func New(ctx context.Context, log *slog.Logger) (_ *Chain, err error) {
	c := &Chain{}
	defer func() {
		if err != nil {
			err = errors.Join(err, c.Close(context.WithoutCancel(ctx)))
		}
	}()
	if c.identity, err = newIdentity(); err != nil {
		return nil, err
	}
	root, err := vm.Root(ctx, log)
	if err != nil {
		return nil, err
	}
	// The lab comes first: with what is left of a dead one end the processes of its machines.
	if c.lab, err = lab.Open(); err != nil {
		return nil, err
	}
	if c.Machine, err = vm.New(root); err != nil {
		return nil, err
	}
	return c, c.network()
}

// Host plugs another host into the switch, with an address of each family.
func (c *Chain) Host(name string, ip netip.Addr) (*lab.Host, error) {
	return c.lab.Add(name, prefix(ip), prefix6(ip))
}

// network plugs the hosts in.
func (c *Chain) network() (err error) {
	if c.Neighbour, err = c.Host("neighbour", NeighbourIP); err != nil {
		return err
	}
	if c.Bootstrap, err = c.Host("bootstrap", BootstrapIP); err != nil {
		return err
	}
	for i, ip := range masterIPs {
		host, err := c.Host(fmt.Sprintf("master-%d", i), ip)
		if err != nil {
			return err
		}
		c.Masters = append(c.Masters, newMaster(host, i, c.Machine.Scratch()))
	}
	if err := c.Bootstrap.Route(NeighbourIP); err != nil {
		return err
	}
	first, err := serveNames(c.Neighbour, NeighbourIP)
	if err != nil {
		return err
	}
	c.upstreams = []*nameServer{first}
	return nil
}

// prefix is an address with the length of the machine network's prefix.
func prefix(ip netip.Addr) netip.Prefix { return netip.PrefixFrom(ip, 24) }

// IPv6Of is the IPv6 address of the host with an IPv4 address: 2001:db8:1::10 for 192.0.2.10.
func IPv6Of(ip netip.Addr) netip.Addr {
	return netip.MustParseAddr(fmt.Sprintf("2001:db8:1::%d", ip.As4()[3]))
}

// prefix6 is that with the length of the machine network's prefix.
func prefix6(ip netip.Addr) netip.Prefix { return netip.PrefixFrom(IPv6Of(ip), 64) }

// BMCIP is for a host on the switch that has BMCs: the cluster's certificate is for it too.
var BMCIP = netip.MustParseAddr("192.0.2.7")

// Certificate is the cluster's, which CA (PEM) has signed.
func (c *Chain) Certificate() (pair tls.Certificate, ca []byte, err error) {
	pair, err = tls.X509KeyPair(c.identity.cert, c.identity.key)
	return pair, c.identity.ca, err
}

// Adverts listens to the VRRP adverts on the switch.
func (c *Chain) Adverts() (*lab.Adverts, error) { return c.lab.Adverts() }

// Close stops everything and removes it.
func (c *Chain) Close(ctx context.Context) error {
	var errs []error
	for _, m := range c.Masters {
		errs = append(errs, m.Stop(ctx))
	}
	if c.VM != nil {
		errs = append(errs, c.VM.Halt(ctx))
	}
	for _, n := range c.upstreams {
		errs = append(errs, n.close())
	}
	if c.registry != nil {
		errs = append(errs, c.registry.Down())
	}
	if c.lab != nil {
		errs = append(errs, c.lab.Close())
	}
	if c.Machine != nil {
		errs = append(errs, c.Machine.Remove())
	}
	return errors.Join(errs...)
}

// Boot switches the machine on.
func (c *Chain) Boot(ctx context.Context) (err error) {
	c.VM, err = c.Machine.Boot(ctx, c.Bootstrap)
	return err
}

// CutPower takes the machine's power away, in the midst of whatever it does. Its disk is what it
// was.
func (c *Chain) CutPower() error {
	c.VM.Off()
	return c.Bootstrap.Off()
}

// RestorePower has the network as it was before CutPower, and switches the machine on.
func (c *Chain) RestorePower(ctx context.Context) error {
	if err := errors.Join(c.Bootstrap.On(), c.Bootstrap.Route(NeighbourIP)); err != nil {
		return err
	}
	return c.Boot(ctx)
}

// Client is an HTTP client on the neighbour that trusts the cluster's CA alone and opens a
// connection for each request.
func (c *Chain) Client(timeout time.Duration) *http.Client {
	return &http.Client{Timeout: timeout, Transport: &http.Transport{
		DisableKeepAlives: true,
		TLSClientConfig:   &tls.Config{RootCAs: c.identity.pool},
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			return c.Neighbour.Dial(ctx, network, address)
		},
	}}
}

// Get asks https://address/path from the neighbour.
func (c *Chain) Get(ctx context.Context, address, path string) (int, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "https://"+address+path, nil)
	if err != nil {
		return 0, err
	}
	answer, err := c.Client(2 * time.Second).Do(request)
	if err != nil {
		return 0, err
	}
	return answer.StatusCode, answer.Body.Close()
}

// Journal is the journal of units of the machine.
func (c *Chain) Journal(ctx context.Context, units ...string) string {
	if c.VM == nil {
		return "the machine does not run"
	}
	args := []string{"--no-pager", "--output=short-precise"}
	for _, u := range units {
		args = append(args, "--unit="+u)
	}
	out, err := c.VM.Run(ctx, "journalctl", args...)
	if err != nil {
		return err.Error()
	}
	return out
}

// file is a path in the scratch directory.
func (c *Chain) file(name string) string { return filepath.Join(c.Machine.Scratch(), name) }
