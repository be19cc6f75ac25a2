// Package mdns is the CoreDNS plugin that answers for the hosts of a cluster by what they announce
// of themselves over multicast DNS.
package mdns

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/coredns/caddy"
	"github.com/coredns/coredns/core/dnsserver"
	"github.com/coredns/coredns/plugin"
	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/browse"
	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/shared/record"
)

// Name is the plugin's directive.
const Name = "mdns"

// leastMembers is the default number of members that etcd must have before its SRV record is
// answered: a partial list would make an etcd cluster of another size.
const leastMembers = 3

// Register adds the directive to CoreDNS.
func Register() { plugin.Register(Name, setup) }

// settings are those of one directive.
type settings struct {
	zone  string     // in lower case, with the final dot
	least int        // members before SRV is answered
	bind  netip.Addr // of the interface to listen on; the zero value for all
	wish  browse.Wish
}

func setup(c *caddy.Controller) error {
	s, err := parse(c)
	if err != nil {
		return plugin.Error(Name, err)
	}
	h := &handler{settings: s}
	c.OnStartup(func() error { h.listener.Store(listeners.take(s)); return nil })
	c.OnShutdown(func() error {
		if l := h.listener.Swap(nil); l != nil {
			listeners.leave(l)
		}
		return nil
	})
	dnsserver.GetConfig(c).AddPlugin(func(next plugin.Handler) plugin.Handler {
		h.next = next
		return h
	})
	return nil
}

// parse reads `mdns DOMAIN [MIN_SRV] [FILTER] [BIND_ADDRESS]`, the form of former plugins, and a
// block with the networks that hosts' addresses are in.
func parse(c *caddy.Controller) (settings, error) {
	types := []wire.Type{wire.Workstation, wire.Etcd}
	s := settings{least: leastMembers, wish: browse.Wish{Types: types}}
	for n := 0; c.Next(); n++ {
		if n > 0 {
			return s, plugin.ErrOnce
		}
		args := c.RemainingArgs()
		if len(args) < 1 || len(args) > 4 {
			return s, c.Errf("it is written mdns DOMAIN [MIN_SRV] [FILTER] [BIND_ADDRESS], "+
				"not with %d words", len(args))
		}
		if err := s.arguments(args); err != nil {
			return s, c.Err(err.Error())
		}
		for c.NextBlock() {
			if c.Val() != "networks" {
				return s, c.Errf("there is no option %q: use networks CIDR...", c.Val())
			}
			for _, text := range c.RemainingArgs() {
				p, err := netip.ParsePrefix(text)
				if err != nil {
					return s, c.Errf("networks: %q is no network such as 192.0.2.0/24", text)
				}
				s.wish.Networks = append(s.wish.Networks, p.Masked())
			}
		}
	}
	return s, nil
}

// arguments reads the arguments. An empty one, which a template may leave, has its default.
func (s *settings) arguments(args []string) error {
	zone, err := record.ParseName(args[0])
	if err != nil {
		return fmt.Errorf("the domain: %w", err)
	}
	s.zone = dns.Fqdn(string(zone))
	if len(args) > 1 && args[1] != "" {
		if s.least, err = strconv.Atoi(args[1]); err != nil || s.least < 0 {
			return fmt.Errorf("MIN_SRV is %q: write a whole number, 0 for no minimum", args[1])
		}
	}
	if len(args) > 2 {
		s.wish.Cluster = strings.TrimSpace(args[2])
	}
	if len(args) > 3 && args[3] != "" {
		if s.bind, err = netip.ParseAddr(args[3]); err != nil {
			return fmt.Errorf("BIND_ADDRESS is %q: write an address of this machine", args[3])
		}
	}
	return nil
}
