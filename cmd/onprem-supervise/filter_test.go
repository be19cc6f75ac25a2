package main

import (
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// ownTable makes a table of IPv4 that only its owner may change, until the function that it returns
// is called (NFT_TABLE_F_OWNER of linux/netfilter/nf_tables.h).
func ownTable(t *testing.T, ns netns.Namespace, name string) (end func()) {
	t.Helper()
	message := func(kind int, flags uint16, family byte, resource uint16,
		attributes ...byte) (m []byte) {
		m = binary.NativeEndian.AppendUint32(m, uint32(unix.SizeofNlMsghdr+4+len(attributes)))
		m = binary.NativeEndian.AppendUint16(m, uint16(kind))
		m = binary.NativeEndian.AppendUint16(m, unix.NLM_F_REQUEST|flags)
		m = append(m, make([]byte, 8)...) // sequence and port
		m = append(m, family, 0)
		return append(binary.BigEndian.AppendUint16(m, resource), attributes...)
	}
	attribute := func(kind uint16, value []byte) (a []byte) {
		a = binary.NativeEndian.AppendUint16(a, uint16(4+len(value)))
		a = append(binary.NativeEndian.AppendUint16(a, kind), value...)
		return append(a, make([]byte, -len(a)&3)...)
	}
	const nameAttribute, flagsAttribute, owner = 1, 2, 2
	table := append(attribute(nameAttribute, append([]byte(name), 0)),
		attribute(flagsAttribute, []byte{0, 0, 0, owner})...)
	batch := message(unix.NFNL_MSG_BATCH_BEGIN, 0, 0, unix.NFNL_SUBSYS_NFTABLES)
	batch = append(batch, message(unix.NFNL_SUBSYS_NFTABLES<<8|unix.NFT_MSG_NEWTABLE,
		unix.NLM_F_CREATE|unix.NLM_F_ACK, unix.AF_INET, 0, table...)...)
	batch = append(batch, message(unix.NFNL_MSG_BATCH_END, 0, 0, unix.NFNL_SUBSYS_NFTABLES)...)
	var fd int
	answer := make([]byte, 4096)
	if err := ns.In(func() (err error) {
		if fd, err = unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC,
			unix.NETLINK_NETFILTER); err != nil {
			return err
		}
		if err = unix.Sendto(fd, batch, 0,
			&unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err == nil {
			_, _, err = unix.Recvfrom(fd, answer, 0)
		}
		return err
	}); err != nil {
		t.Fatal(err)
	}
	if code := int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); code != 0 {
		t.Fatalf("make table %s: %v", name, unix.Errno(-code))
	}
	return func() { unix.Close(fd) }
}

// TestFarAdverts_NoRules has another program own the table of the rules against adverts that have
// passed a router: the VIPs are held without the rules, and the status reports it until they are in
// place.
func TestFarAdverts_NoRules(t *testing.T) {
	t.Parallel()
	l := newLAN(t)
	end := ownTable(t, l.host, "onprem-infra-vrrp")
	s := newRealKeepalived(t)
	s.start(l.host)
	s.propose(fast(s.dir))
	s.untilMaster(10 * time.Second)
	s.until("the status has the failing task", 10*time.Second, func(st supervised.Status) bool {
		return len(st.Troubles) == 1 && strings.HasPrefix(st.Troubles[0],
			"drop adverts that have passed a router: ")
	})
	end()
	s.until("it can", 10*time.Second,
		func(st supervised.Status) bool { return len(st.Troubles) == 0 })
}
