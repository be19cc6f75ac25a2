package main

import (
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/link"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// mac is the link address that a host's kernel knows of an address.
func mac(t *testing.T, ns netns.Namespace, address netip.Addr) (text string) {
	t.Helper()
	err := ns.In(func() error {
		n, err := link.Neighbour("ens3", address)
		text = n.MAC
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestBackup_KnowsItsPeers holds that a BACKUP router, which sends nothing, knows the link
// addresses of its peers, also of one that sends nothing either: when it takes over, its first
// adverts wait for no answer.
func TestBackup_KnowsItsPeers(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	third := l.client(t)
	third.IP(t, "addr add 192.0.2.12/24 dev ens3\naddr add 2001:db8::12/64 dev ens3 nodad\n")
	holder, other := newRealKeepalived(t), newRealKeepalived(t)
	// 0.3 s apart: a busy machine delays some adverts by 0.3 s, and no VIP must move by that
	holder.startRanked(l, 11, better, "0.3")
	holder.untilAt(supervised.Master, better+healthy+bonus, 10*time.Second)
	other.startRanked(l, 10, worse, "0.3")
	other.untilAt(supervised.Backup, worse+healthy, 10*time.Second)
	other.propose(strings.NewReplacer("        192.0.2.11\n",
		"        192.0.2.11\n        192.0.2.12\n", "        2001:db8::11\n",
		"        2001:db8::11\n        2001:db8::12\n").
		Replace(ranked(other.dir, 10, worse, "0.3")))
	for _, text := range []string{"192.0.2.12", "2001:db8::12"} {
		address := netip.MustParseAddr(text)
		for end := time.Now().Add(3 * time.Second); mac(t, l.host, address) == ""; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Errorf("it does not know where %s is", address)
				break
			}
		}
	}
	if n := other.takeovers(); n != 0 {
		t.Errorf("it held a VIP %d times, and this shows nothing", n)
	}
}
