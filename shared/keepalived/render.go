package keepalived

import (
	"bytes"
	_ "embed"
	"fmt"
	"sync"
	"text/template"

	"github.com/onprem-infra/onprem-infra/shared/comment"
)

//go:embed keepalived.conf.tmpl
var text string

var parsed = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("keepalived.conf").Parse(text))
})

// Render writes the configuration. Equal values give equal bytes.
//
// The text relies on these facts about keepalived 2.2.7 and later:
//   - router_id is set although nothing reads it: without one keepalived resolves this host's name
//     at each test and each start, and waits ten seconds and more for a name server that does not
//     answer.
//   - script_user is set even without scripts, because keepalived complains at start if its default
//     user does not exist.
//   - Gratuitous ARP, and its counterpart of IPv6, is repeated every minute: a switch that missed
//     the burst of the takeover updates its table late, not never.
//   - Two routers of one priority may become MASTER in the same instant, and clients use the one
//     that announces the address last, for seconds even if that is the one which becomes BACKUP. So
//     that one sends one more advert, at which the other announces itself again; and both announce
//     again after a second.
//   - Every instance starts as BACKUP and none has nopreempt, which would disable every move
//     that a weight causes.
//   - Unicast without a peer is a fault, also for keepalived's own test of the file. It would fall
//     back to multicast otherwise, which nodes in unicast mode do not receive.
//   - Unicast is sent with a TTL of 255, because routers in multicast mode drop every other one,
//     and some peer may be their group.
//   - A VIP has a full-length prefix, so that it adds no route to its network. An IPv4 one has the
//     label "vip", whatever the interface's name: labels have room for 15 bytes. An IPv6 one is
//     deprecated from the start: the kernel never takes it as source address.
//   - A VIP on a device of its own has the network's prefix length, as its holder reaches the
//     hosts there and has no other address; for the same reason an IPv6 one is not deprecated. It
//     has no label: dnsmasq asks the kernel for an interface's address (SIOCGIFADDR), which names
//     none whose label is another than the interface's name. Adverts are sent on the instance's
//     interface all the same. keepalived does not follow the device's state unless it
//     is tracked, and refuses to track the instance's own interface.
//   - The sum of a priority and its weights is kept within 1 to 254, and a weight of -254 would be
//     FAULT: -253 takes every priority to 1. A router that is demoted in that way advertises until
//     it receives an advert of a better one.
//   - A tracked file without a weight is tracked in reverse: 0, which is what keepalived takes from
//     a file that it cannot read, is FAULT. With a weight it adds nothing. Either way a lost file
//     costs health and never adds any.
//   - vrrp_rt_priority is not set: at each reload keepalived 2.2.7 would limit the processor time
//     without a pause (RLIMIT_RTTIME) of a real-time process again, and the kernel kills its VRRP
//     process within seconds. Its supervisor makes it real-time from outside.
//   - Changes of the priority are notified, because a supervisor reports the priority.
//   - All routers send IPv4 unicast with a TTL of 255. They send IPv6 with the kernel's hop limit
//     of 64 unless it is configured. A peer's lowest TTL also makes keepalived drop adverts of
//     other routers than its peers.
//   - A check's time limit is coreutils' timeout, as keepalived's own one takes whole seconds only.
func Render(c Config) []byte {
	c.Header = comment.Text(c.Header)
	var out bytes.Buffer
	if err := parsed().Execute(&out, c); err != nil {
		// The template calls methods that cannot fail on fields that are always there: only a wrong
		// template comes here.
		panic(fmt.Sprintf("render keepalived.conf: %v", err))
	}
	return out.Bytes()
}
