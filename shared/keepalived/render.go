package keepalived

import (
	"bytes"
	_ "embed"
	"fmt"
	"strings"
	"sync"
	"text/template"
	"unicode"
)

//go:embed keepalived.conf.tmpl
var text string

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("keepalived.conf").Parse(text))
})

// Render writes the configuration. Equal values give equal bytes.
//
// What the text relies on, of keepalived 2.2.7 and later:
//   - router_id is named although nothing reads it: without one keepalived looks up this host's
//     name at each test and each start, and waits ten seconds and more for a silent name server.
//   - script_user is named even without scripts, because keepalived complains at start when its
//     default user does not exist.
//   - Gratuitous ARP, and its counterpart of IPv6, is repeated every minute: a switch that missed
//     the burst of the takeover learns late, not never.
//   - Two routers of one priority may become MASTER in the same instant, and whoever announces the
//     address last is believed: for seconds, if that is
//     the one who gives way. So he sends one more advert, at which the other announces himself anew; and everybody does so again after a second.
//   - Every instance starts as BACKUP and none has nopreempt, which would switch off every move
//     that a weight asks for.
//   - Unicast without a peer is a fault, and keepalived's own test of the file says so. It would
//     fall back to multicast otherwise, where nodes
//     in unicast mode do not hear it.
//   - Unicast is sent with a TTL of 255, because routers in multicast mode drop every other one,
//     and some peer may be their group.
//   - A VIP has a full-length prefix, so that it adds no route to its network. An IPv4 one carries
//     the label "vip", whatever the interface is
//     called: labels have room for 15 bytes. An IPv6 one is deprecated from the start: the kernel takes it as source address for nothing.
//   - The sum of a priority and its weights is kept within 1 to 254, and a weight of -254 would be
//     FAULT: -253 takes every priority to 1. A router
//     that leaves in that way goes on announcing itself until it hears a better one.
//   - A tracked file without a weight is tracked in reverse: 0, which is what keepalived takes from
//     a file that it cannot read, is FAULT. With a
//     weight it adds nothing. Either way a file that is lost costs health and never lends any.
//   - vrrp_rt_priority is not here: at each reload keepalived 2.2.7 takes all processor time
//     without a pause (RLIMIT_RTTIME) from who has it, and the
//     kernel kills its VRRP process within seconds. Its supervisor makes it real-time from outside.
//   - Changes of the priority are notified, as a supervisor reports it.
//   - IPv4 unicast is sent with a TTL of 255 by everybody, IPv6 with the kernel's hop limit of 64
//     by those who do not ask for more. A peer's lowest
//     TTL also has keepalived drop what comes from others than its peers.
//   - A check's time limit is coreutils' timeout, as keepalived's own one takes whole seconds only.
func Render(c Config) []byte {
	return execute(parsed(), c)
}

func execute(t *template.Template, c Config) []byte {
	c.Header = strings.Map(printable, c.Header)
	var out bytes.Buffer
	if err := t.Execute(&out, c); err != nil {
		// The template calls methods that cannot fail on fields that are always there: only a wrong
		// template comes here.
		panic(fmt.Sprintf("render keepalived.conf: %v", err))
	}
	return out.Bytes()
}

// printable drops what would end a comment.
func printable(r rune) rune {
	if unicode.IsControl(r) {
		return -1
	}
	return r
}
