// Package mac holds the addresses of network cards. Text becomes a MAC where it is read, so that no
// two spellings of one address are ever compared.
package mac

import (
	"bytes"
	"errors"
	"fmt"
	"net"
)

// MAC is an EUI-48 address. It is comparable; the zero value is no address of a card.
type MAC [6]byte

// Errors of Parse and ParseCard.
var (
	ErrNoMAC  = errors.New("is no MAC address: write six bytes, such as 52:54:00:00:00:01")
	ErrNoCard = errors.New("is a group's address or all zeros, and no interface has it: write " +
		"the address of the one that boots")
)

// Parse reads any usual spelling: six pairs of digits with colons or dashes, three groups of four
// with dots, or twelve digits, in any case.
func Parse(text string) (MAC, error) {
	hw, err := net.ParseMAC(text)
	if err != nil || len(hw) != len(MAC{}) {
		return MAC{}, ErrNoMAC
	}
	return MAC(hw), nil
}

// ParseCard reads the address of a single network card.
func ParseCard(text string) (MAC, error) {
	m, err := Parse(text)
	if err == nil && !m.IsCard() {
		return MAC{}, ErrNoCard
	}
	return m, err
}

// IsCard reports whether a network card can have the address: it is no group's, and not all zeros.
func (m MAC) IsCard() bool { return m != MAC{} && m[0]&1 == 0 }

// String is the address in lower case with colons.
func (m MAC) String() string {
	return fmt.Sprintf("%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5])
}

// MarshalText is String.
func (m MAC) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// UnmarshalText is Parse.
func (m *MAC) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err != nil {
		return fmt.Errorf("%q %w", text, err)
	}
	*m = parsed
	return nil
}

// Compare orders addresses by their bytes.
func (m MAC) Compare(other MAC) int { return bytes.Compare(m[:], other[:]) }
