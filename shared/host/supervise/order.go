package supervise

import (
	"bytes"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/nft"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// order is what the supervisor must know of a configuration: which instance carries which VIPs, which of them have a bonus while they hold them, whom they
// speak to, and how long the others may take until one of them has taken over from a holder that has sunk below them.
type order struct {
	vips map[string][]netip.Addr // by instance
	// instances is the number of instances that keepalived reports on; vips also has former ones.
	instances int
	peers     []peer             // of all instances, each once
	alone     map[string]bool    // by instance: it knows nobody else who could hold its VIPs
	ids       map[string]vrrp.ID // by instance
	far       nft.Far            // the virtual routers that are heard by the link alone
	bonus     map[string]bool    // by instance: a tracked file says whether it holds its VIPs
	patience  time.Duration
	outlives  time.Duration // how long its VIPs may stay where nobody answers for them
	advert    time.Duration // the shortest time between two adverts

	elections map[string]election // by instance, of version 3
	tracking  map[string]tracking // by instance
}

// peer is another router that adverts go to, on a link of this host.
type peer struct {
	on      string
	address netip.Addr
}

// pace is how fast an instance's election goes. The values are keepalived's own as long as a configuration says nothing.
type pace struct {
	advert  time.Duration
	version vrrp.Version
	closed  bool         // to routers that are not among its peers
	peers   []netip.Addr // all, also a group
	source  netip.Addr   // of unicast
}

var ownPace = pace{advert: time.Second, version: vrrp.V2}

// readOrder reads a configuration that keepalived has accepted and whose lines hold one thing each, as ours do. What it does not understand it
// leaves out.
func readOrder(config []byte) order {
	paces := map[string]pace{}
	o := order{vips: map[string][]netip.Addr{}, bonus: map[string]bool{}, alone: map[string]bool{},
		ids: map[string]vrrp.ID{}, elections: map[string]election{}, tracking: readTracking(config)}
	instance, on, block, multicast := "", "", "", map[string]string{}
	for line := range bytes.Lines(config) {
		words := strings.Fields(string(line))
		switch {
		case len(words) == 0:
		case words[0] == "vrrp_instance" && len(words) > 1:
			instance, on = words[1], ""
			o.vips[instance], paces[instance] = nil, ownPace
		case words[0] == "}":
			block = ""
		case words[0] == "file" && len(words) > 1:
			if dir, name := filepath.Split(words[1]); filepath.Base(dir) == supervised.HolderDir {
				o.bonus[name] = true
			}
		case instance == "":
		case words[0] == "virtual_ipaddress" || words[0] == "unicast_peer":
			if block = words[0]; block == "unicast_peer" {
				delete(multicast, instance)
			}
		case block == "virtual_ipaddress":
			text, _, _ := strings.Cut(words[0], "/")
			if vip, err := netip.ParseAddr(text); err == nil {
				o.vips[instance] = append(o.vips[instance], vip)
			}
		case block == "unicast_peer":
			paces[instance] = o.speaksTo(instance, on, words[0], paces[instance])
		case words[0] == "interface" && len(words) > 1:
			on = words[1]
			multicast[instance] = on
		case words[0] == "virtual_router_id" && len(words) > 1:
			if id, err := strconv.ParseUint(words[1], 10, 8); err == nil {
				o.ids[instance] = vrrp.ID(id)
			}
		case words[0] == "check_unicast_src":
			p := paces[instance]
			p.closed = true
			paces[instance] = p
		case len(words) > 1:
			paces[instance] = paces[instance].read(words[0], words[1])
		}
	}
	o.goBy(paces, multicast)
	o.far = o.hopLimited(paces)
	o.far.Groups = o.groups(multicast)
	return o
}

// goBy takes what the slowest and the fastest instance need.
func (o *order) goBy(paces map[string]pace, multicast map[string]string) {
	o.instances = len(paces)
	o.patience, o.outlives, o.advert = vrrp.Patience(ownPace.version, ownPace.advert), vrrp.Outlives(ownPace.version, ownPace.advert), ownPace.advert
	if len(paces) > 0 {
		o.patience, o.outlives = 0, 0
	}
	for name, p := range paces {
		if vips := o.vips[name]; p.version == vrrp.V3 && len(vips) > 0 {
			o.elections[name] = p.election(o.ids[name], vips[0].Is4(), multicast[name])
		}
		o.patience, o.outlives = max(o.patience, vrrp.Patience(p.version, p.advert)), max(o.outlives, vrrp.Outlives(p.version, p.advert))
		o.advert = min(o.advert, p.advert)
	}
}

// speaksTo adds a peer of an instance. One that knows nobody speaks to the group.
func (o *order) speaksTo(instance, on, address string, p pace) pace {
	to, err := netip.ParseAddr(address)
	if err == nil {
		p.peers = append(p.peers, to)
	}
	switch one := (peer{on, to}); {
	case err != nil:
	case to.IsMulticast():
		o.alone[instance] = true
	case on != "" && !slices.Contains(o.peers, one):
		o.peers = append(o.peers, one)
	}
	return p
}

func (p pace) read(keyword, value string) pace {
	switch keyword {
	case "unicast_src_ip":
		if source, err := netip.ParseAddr(value); err == nil {
			p.source = source
		}
	case "advert_int":
		if seconds, err := strconv.ParseFloat(value, 64); err == nil {
			p.advert = time.Duration(seconds * float64(time.Second))
		}
	case "version":
		p.version = vrrp.V2
		if value == "3" {
			p.version = vrrp.V3
		}
	}
	return p
}

// then is the order of the next configuration. keepalived gives up the instances that it has not, and says so only after they have become the past.
func (o order) then(next order) order {
	for name, vips := range o.vips {
		if _, again := next.vips[name]; !again {
			next.vips[name] = vips
		}
	}
	return next
}
