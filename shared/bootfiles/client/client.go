// Package client recognizes hosts by what they ask the HTTP server for: by the addresses from which
// they and their BMCs ask, and by the scripts of iPXE, whose names have the MAC of a card.
package client

import (
	"maps"
	"net/netip"
	"path"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/bmc"
	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/access"
)

// Hosts are those of a plan. It is for one goroutine.
type Hosts struct {
	cards    map[mac.MAC]provision.Host
	reserved []provision.Host
	bmcs     map[netip.Addr]provision.Host
	// scripted are the addresses from which a script of a host was asked for last. They need not be
	// of our DHCP.
	scripted map[netip.Addr]provision.Host
}

// Of are the hosts of a plan.
func Of(hosts []provision.Host) *Hosts {
	c := &Hosts{cards: map[mac.MAC]provision.Host{}, bmcs: map[netip.Addr]provision.Host{},
		scripted: map[netip.Addr]provision.Host{}}
	for _, h := range hosts {
		c.cards[h.MAC] = h
		if h.Address.IsValid() {
			c.reserved = append(c.reserved, h)
		}
		if a, err := bmc.Parse(h.BMC); err == nil && a.IP().IsValid() {
			c.bmcs[a.IP()] = h
		}
	}
	return c
}

// Host is the host of a request, by its name and card; empty if it is not known.
//
// iPXE fetches a kernel and a ramdisk from the address from which it fetched the script. The
// ramdisk, which fetches the image, may have another one, and the address of iPXE may be another
// host's by then. As an image request means that a disk may be written, a script alone assigns no
// image to a host: if the address is reserved for another host than the script's, none counts.
func (c *Hosts) Host(a access.Access) (name string, card mac.MAC) {
	if h, known := c.cards[script(a.File)]; known {
		maps.DeleteFunc(c.scripted,
			func(_ netip.Addr, other provision.Host) bool { return other.MAC == h.MAC })
		c.scripted[a.Client] = h
		return h.Name, h.MAC
	}
	h, asked := c.at(a.Client), c.scripted[a.Client]
	switch a.Kind() {
	case access.Image:
		if asked.Name != "" && asked.Name != h.Name {
			h = provision.Host{}
		}
	case access.Kernel, access.Ramdisk, access.Broken, access.Refused:
		if asked.Name != "" {
			h = asked
		}
	}
	return h.Name, h.MAC
}

// script is the MAC in the name of a host's script, ours or Ironic's; zero for another file.
func script(file string) mac.MAC {
	dir, name := path.Split(file)
	if dir != "hosts/" && dir != "pxelinux.cfg/" {
		return mac.MAC{}
	}
	card, err := mac.Parse(strings.TrimSuffix(name, ".ipxe"))
	if err != nil {
		return mac.MAC{}
	}
	return card
}

// block is the prefix length of the block with all IPv6 addresses of a host: each stage of a boot
// has an address of its own.
const block = 124

// at is the host of an address. Over IPv6 it is the one whose block begins before the address.
func (c *Hosts) at(client netip.Addr) provision.Host {
	best := provision.Host{}
	for _, h := range c.reserved {
		switch prefix, err := h.Address.Prefix(block); {
		case h.Address == client:
			return h
		case err == nil && client.Is6() && prefix.Contains(client) &&
			h.Address.Less(client) && (best.Name == "" || best.Address.Less(h.Address)):
			best = h
		}
	}
	if best.Name == "" {
		best = c.bmcs[client]
	}
	return best
}
