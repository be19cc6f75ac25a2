package addr

import (
	"net/netip"
	"strconv"
	"strings"
)

// nic builds a link that is up. Each address is written as "192.0.2.10/24" and, after it, any of
// deprecated, tentative, duplicate, secondary and a label.
func nic(index int, name string, addresses ...string) Link {
	l := Link{Index: index, Name: name, Up: true}
	for _, text := range addresses {
		words := strings.Fields(text)
		a := Address{Prefix: netip.MustParsePrefix(words[0])}
		for _, w := range words[1:] {
			switch w {
			case "deprecated":
				a.Deprecated = true
			case "duplicate":
				a.Duplicate = true
			case "tentative":
				a.Tentative = true
			case "secondary":
				a.Secondary = true
			default:
				a.Label = w
			}
		}
		l.Addresses = append(l.Addresses, a)
	}
	return l
}

func down(l Link) Link {
	l.Up = false
	return l
}

// route builds a route from "DESTINATION [via GATEWAY] [metric N] [ra]"; the destinations default
// and default6 are the default routes.
func route(link int, text string) Route {
	r := Route{LinkIndex: link}
	words := strings.Fields(strings.NewReplacer("default6", "::/0", "default", "0.0.0.0/0").Replace(text))
	r.Destination = netip.MustParsePrefix(words[0])
	for i, w := range words[1:] {
		switch w {
		case "via":
			r.Gateway = netip.MustParseAddr(words[i+2])
		case "metric":
			r.Metric, _ = strconv.Atoi(words[i+2])
		case "ra":
			r.FromRA = true
		}
	}
	return r
}

func ips(text string) []netip.Addr {
	var out []netip.Addr
	for _, w := range strings.Fields(text) {
		out = append(out, netip.MustParseAddr(w))
	}
	return out
}

// ip is the address, or the invalid one for an empty text.
func ip(text string) netip.Addr {
	a, _ := netip.ParseAddr(text)
	return a
}
