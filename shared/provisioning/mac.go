package provisioning

import (
	"bytes"
	"fmt"
	"net"
	"strings"
)

// MAC is the hardware address of a network card. Two texts of one address are one value.
type MAC [6]byte

// ParseMAC reads a hardware address: six pairs of digits, with colons or dashes, in either case.
func ParseMAC(text string) (MAC, error) {
	parsed, err := net.ParseMAC(text)
	if err != nil || len(parsed) != len(MAC{}) {
		return MAC{}, fmt.Errorf("%q is not a MAC address: write it as 52:54:00:12:34:56", text)
	}
	m := MAC(parsed)
	if !m.card() {
		return MAC{}, fmt.Errorf("%q is not the MAC address of a network card: "+
			"specify the one that the firmware or the switch shows", text)
	}
	return m, nil
}

// card reports whether a network card can have the address: neither none nor a group of cards.
func (m MAC) card() bool { return m != MAC{} && m[0]&1 == 0 }

// String has colons and lower case, as dnsmasq writes it.
func (m MAC) String() string { return net.HardwareAddr(m[:]).String() }

// hyphens is how iPXE's ${mac:hexhyp} writes it.
func (m MAC) hyphens() string { return strings.ReplaceAll(m.String(), ":", "-") }

// Compare orders hardware addresses by their bytes.
func (m MAC) Compare(other MAC) int { return bytes.Compare(m[:], other[:]) }
