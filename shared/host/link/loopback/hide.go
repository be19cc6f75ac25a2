package loopback

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/vishvananda/netlink"
	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Attributes of a link's IPv4 settings (include/uapi/linux/ip.h and if_link.h of Linux). A
// container may change them by netlink, while it sees /proc/sys without the right to write.
const (
	inetConf    = 1  // IFLA_INET_CONF
	arpAnnounce = 18 // IPV4_DEVCONF_ARP_ANNOUNCE
	arpIgnore   = 19 // IPV4_DEVCONF_ARP_IGNORE
)

// Hide has the host answer ARP on a link for the addresses of that link alone, and never ask with
// another one as its own. Without it Linux answers for every address that it has on any link, and
// a host that has a VIP on its loopback interface would answer beside the one that holds it there.
// IPv6 needs nothing: neighbour discovery answers for the addresses of a link alone.
//
// Hide keeps settings that are stricter already. It needs CAP_NET_ADMIN. The settings stay for as
// long as the link does, also after the addresses have gone: a program that was killed does not
// know what they were before, and a link with them answers for all addresses of its own. If there
// is no such link, the error is fs.ErrNotExist.
func Hide(link string) error {
	var change []*nl.RtAttr
	for _, c := range []struct {
		setting string
		kind    int
		want    byte
	}{{"arp_ignore", arpIgnore, '1'}, {"arp_announce", arpAnnounce, '2'}} {
		text, err := os.ReadFile("/proc/sys/net/ipv4/conf/" + link + "/" + c.setting)
		if errors.Is(err, fs.ErrNotExist) {
			return missing(link)
		}
		if is := strings.TrimSpace(string(text)); err == nil && len(is) == 1 && is[0] >= c.want {
			continue
		}
		change = append(change, nl.NewRtAttr(c.kind, nl.Uint32Attr(uint32(c.want-'0'))))
	}
	if len(change) == 0 {
		return nil
	}
	at, err := netlink.LinkByName(link)
	var none netlink.LinkNotFoundError
	if errors.As(err, &none) {
		return missing(link)
	} else if err != nil {
		return fmt.Errorf("hide the loopback interface's addresses on %s: %w", link, err)
	}
	request := nl.NewNetlinkRequest(unix.RTM_SETLINK, unix.NLM_F_ACK)
	head := nl.NewIfInfomsg(unix.AF_UNSPEC)
	head.Index = int32(at.Attrs().Index)
	request.AddData(head)
	families := nl.NewRtAttr(unix.IFLA_AF_SPEC, nil)
	conf := families.AddRtAttr(unix.AF_INET, nil).AddRtAttr(inetConf, nil)
	for _, c := range change {
		conf.AddChild(c)
	}
	request.AddData(families)
	if _, err := request.Execute(unix.NETLINK_ROUTE, 0); errors.Is(err, unix.ENODEV) {
		return missing(link) // it has gone meanwhile
	} else if err != nil {
		return fmt.Errorf("hide the loopback interface's addresses on %s: %w", link, err)
	}
	return nil
}

func missing(link string) error {
	return fmt.Errorf("hide the loopback interface's addresses on %s: there is no such link: %w",
		link, fs.ErrNotExist)
}
