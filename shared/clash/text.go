package clash

import (
	"fmt"
	"strings"
	"time"
)

// Reach is which adverts of others a host receives, in words.
func Reach(unicast bool) string {
	text := "receives adverts to VRRP's groups and to this host; it receives no unicast adverts " +
		"to other hosts unless a switch floods them, "
	if unicast {
		return text + "and they do not disturb this cluster, which uses unicast"
	}
	return text + "but their routers receive this cluster's adverts to the group"
}

// String is the finding in a sentence, with what to do.
func (f Finding) String() string {
	sender := f.Sender.String()
	vip := fmt.Sprintf("%s (%s)", f.VIP, f.Instance)
	interval := time.Duration(f.IntervalMs) * time.Millisecond
	adverts := fmt.Sprintf("VRRPv%d, priority %d, every %v", f.Version, f.Priority, interval)
	switch f.Kind {
	case Foreign:
		return fmt.Sprintf("%s on %s has the virtual router ID %d of %s for %s (%s): give one of "+
			"the two another ID%s", sender, f.Link, f.ID, vip, vips(f), adverts, f.free())
	case UnknownRouter:
		return fmt.Sprintf("%s on %s announces %s, and is no node of this cluster (%s): find it "+
			"by its MAC, and stop its keepalived", sender, f.Link, vip, adverts)
	case Version:
		return fmt.Sprintf("%s announces %s by VRRPv%d, unlike this host: give nodes one timing",
			sender, vip, f.Version)
	case Interval:
		return fmt.Sprintf("%s announces %s every %v, unlike this host: give nodes one timing",
			sender, vip, interval)
	case OneWay:
		return fmt.Sprintf("%s holds %s beside %s, which outranks it: it does not receive that "+
			"one's adverts; check packet filters and peers in this direction",
			sender, vip, f.Better)
	case Holders:
		return fmt.Sprintf("%s holds %s beside %s, which outranks it: it does not receive or "+
			"understand that one's adverts", sender, vip, f.Better)
	default:
		return fmt.Sprintf("%s on %s answers for %s, and does not hold it: remove the address "+
			"there", sender, f.Link, vip)
	}
}

// free names a free ID, as it is written into a cluster.yaml.
func (f Finding) free() string {
	if f.Free == 0 {
		return ""
	}
	return fmt.Sprintf(", such as %d, by vrids: {%s: %d}", f.Free, f.For, f.Free)
}

// maxNamed bounds the addresses of a foreign router in a message. Its owner knows it by them.
const maxNamed = 4

func vips(f Finding) string {
	if len(f.VIPs) == 0 {
		return "no address"
	}
	var all []string
	for _, v := range f.VIPs[:min(len(f.VIPs), maxNamed)] {
		all = append(all, v.String())
	}
	text := strings.Join(all, ", ")
	if more := len(f.VIPs) - maxNamed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// String is the host's address with its MAC, as far as they are known.
func (h Host) String() string {
	switch {
	case !h.Address.IsValid():
		return h.MAC
	case h.MAC == "":
		return h.Address.String()
	}
	return fmt.Sprintf("%s (%s)", h.Address, h.MAC)
}
