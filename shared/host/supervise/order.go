package supervise

import (
	"bytes"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// order is what the supervisor must know of a configuration: which instance carries which VIPs, and the slowest pace of adverts.
type order struct {
	vips   map[string][]netip.Addr // by instance
	advert time.Duration
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

// defaultAdvert is keepalived's own.
const defaultAdvert = time.Second

// readOrder reads a configuration that keepalived has accepted and whose lines hold one thing each, as ours do. What it does not understand it
// leaves out.
func readOrder(config []byte) order {
	o := order{vips: map[string][]netip.Addr{}}
	instance, inside := "", false
	for line := range bytes.Lines(config) {
		words := strings.Fields(string(line))
		switch {
		case len(words) == 0:
		case words[0] == "vrrp_instance" && len(words) > 1:
			instance = words[1]
			o.vips[instance] = nil
		case words[0] == "advert_int" && len(words) > 1:
			if seconds, err := strconv.ParseFloat(words[1], 64); err == nil {
				o.advert = max(o.advert, time.Duration(seconds*float64(time.Second)))
			}
		case words[0] == "virtual_ipaddress":
			inside = instance != ""
		case words[0] == "}":
			inside = false
		case inside:
			text, _, _ := strings.Cut(words[0], "/")
			if vip, err := netip.ParseAddr(text); err == nil {
				o.vips[instance] = append(o.vips[instance], vip)
			}
		}
	}
	if o.advert == 0 {
		o.advert = defaultAdvert
	}
	return o
}
