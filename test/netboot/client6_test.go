package netboot

import (
	"cmp"
	"encoding/binary"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/insomniacslk/dhcp/dhcpv6"
	"github.com/insomniacslk/dhcp/iana"

	"github.com/onprem-infra/onprem-infra/shared/mac"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// client6 is a host as a client of DHCPv6: dnsmasq finds a client's card by neighbour discovery, so
// each card is a host of its own.
type client6 struct {
	mac  mac.MAC
	conn *net.UDPConn
}

// addClient6 adds a host with a card.
func addClient6(t *testing.T, l *lab.Lab, name string, mac mac.MAC) *client6 {
	t.Helper()
	h := add(t, l, name)
	dress(t, h, mac)
	c := &client6{mac: mac}
	local := &net.UDPAddr{IP: linkLocal(mac).AsSlice(), Port: 546, Zone: "eth0"}
	wait(t, "the link-local address of "+name, func() bool {
		err := h.Do(func() (err error) {
			c.conn, err = net.ListenUDP("udp6", local)
			return err
		})
		return err == nil
	})
	t.Cleanup(func() { c.conn.Close() })
	return c
}

// dress gives a host's link the address of a card. IPv6 is off meanwhile, and derives its own address anew: a
// link that goes down for it may lose that a second later, as the kernel tells of links late.
func dress(t *testing.T, h *lab.Host, mac mac.MAC) {
	t.Helper()
	disable := func(is string) error {
		return h.Do(func() error { return os.WriteFile("/proc/sys/net/ipv6/conf/eth0/disable_ipv6", []byte(is), 0) })
	}
	if err := cmp.Or(disable("1"), h.Link("address "+mac.String()), disable("0")); err != nil {
		t.Fatal(err)
	}
}

// linkLocal is the address that the kernel derives from a card's (RFC 4291 A).
func linkLocal(m mac.MAC) netip.Addr {
	return netip.AddrFrom16([16]byte{0: 0xfe, 1: 0x80, 8: m[0] ^ 2, 9: m[1], 10: m[2], 11: 0xff,
		12: 0xfe, 13: m[3], 14: m[4], 15: m[5]})
}

// ask sends a message to all servers and returns what they answer: so much at least, if it comes in
// time.
func (c *client6) ask(t *testing.T, m *dhcpv6.Message, want int) (answers []*dhcpv6.Message) {
	t.Helper()
	all := &net.UDPAddr{IP: net.ParseIP("ff02::1:2"), Port: 547, Zone: "eth0"}
	if _, err := c.conn.WriteToUDP(m.ToBytes(), all); err != nil {
		t.Fatal(err)
	}
	end := time.Now().Add(within(0, want))
	for buffer := make([]byte, 1<<16); ; {
		if err := c.conn.SetReadDeadline(end); err != nil {
			t.Fatal(err)
		}
		n, err := c.conn.Read(buffer)
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return answers
		}
		if err != nil {
			t.Fatal(err)
		}
		got, err := dhcpv6.MessageFromBytes(buffer[:n])
		if err != nil {
			t.Fatalf("an answer that no client reads: %v", err)
		}
		if got.TransactionID == m.TransactionID {
			answers = append(answers, got)
			end = time.Now().Add(within(len(answers), want))
		}
	}
}

// one is the only answer to a message.
func (c *client6) one(t *testing.T, m *dhcpv6.Message) *dhcpv6.Message {
	t.Helper()
	answers := c.ask(t, m, 1)
	if len(answers) != 1 {
		t.Fatalf("%d answers, want 1: %v", len(answers), answers)
	}
	return answers[0]
}

// solicit is what a stage of a boot sends: each has an identifier of its own.
func (c *client6) solicit(t *testing.T, stage byte, with ...dhcpv6.Modifier) *dhcpv6.Message {
	t.Helper()
	id := &dhcpv6.DUIDUUID{UUID: [16]byte{0: stage, 15: c.mac[5]}}
	with = append([]dhcpv6.Modifier{dhcpv6.WithClientID(id), dhcpv6.WithIAID([4]byte{3: stage}),
		dhcpv6.WithRequestedOptions(dhcpv6.OptionBootfileURL, dhcpv6.OptionDNSRecursiveNameServer,
			dhcpv6.OptionNTPServer)}, with...)
	m, err := dhcpv6.NewSolicit(c.mac[:], with...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// firmware6 are the options that UEFI sends.
func firmware6(arch uint16, class string) []dhcpv6.Modifier {
	data := binary.BigEndian.AppendUint32(nil, 343)
	data = binary.BigEndian.AppendUint16(data, uint16(len(class)))
	return []dhcpv6.Modifier{
		dhcpv6.WithArchType(iana.Arch(arch)),
		dhcpv6.WithOption(&dhcpv6.OptionGeneric{OptionCode: dhcpv6.OptionVendorClass,
			OptionData: append(data, class...)}),
	}
}

// leased are the addresses of an answer.
func leased(m *dhcpv6.Message) string {
	var all []string
	for _, ia := range m.Options.IANA() {
		for _, a := range ia.Options.Addresses() {
			all = append(all, a.IPv6Addr.String())
		}
	}
	return strings.Join(all, " ")
}
