// Package lldp reads what a switch announces to a port by LLDP (IEEE 802.1AB): its name, the port,
// and the port's VLANs.
package lldp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
)

// Neighbor is the port of a switch, as the switch announces it. Texts are as they were received:
// print them quoted.
type Neighbor struct {
	Chassis     string `json:"chassis"` // a MAC, an address or a name
	System      string `json:"system,omitempty"`
	Port        string `json:"port"` // a name, a number or a MAC
	Description string `json:"description,omitempty"`
	// Announced is whether the switch announces the VLAN of untagged frames, Untagged. 0 is none.
	Announced bool     `json:"announced"`
	Untagged  uint16   `json:"untagged"`
	VLANs     []uint16 `json:"vlans,omitempty"` // those with a name
}

// Type is the type of LLDP's frames.
const Type = 0x88cc

// maxVLANs bounds the list of an announcement: a frame of 1500 bytes has no more than 200.
const maxVLANs = 200

// The types of fields.
const (
	endOf        = 0
	chassisID    = 1
	portID       = 2
	timeToLive   = 3
	portText     = 4
	systemName   = 5
	organisation = 127
)

// Those of IEEE 802.1, by their organisation and subtype.
const (
	portVLAN = "\x00\x80\xc2\x01"
	vlanName = "\x00\x80\xc2\x03"
)

// Parse reads a frame behind its Ethernet header. An announcement with a time to live of 0 is the
// last one of a port that stops: it is an error too, as nothing of it holds any longer.
func Parse(frame []byte) (n Neighbor, err error) {
	var got []int
	for {
		if len(frame) < 2 {
			return Neighbor{}, errors.New("the announcement is cut off")
		}
		head := binary.BigEndian.Uint16(frame)
		kind, length := int(head>>9), int(head&0x1ff)
		if frame = frame[2:]; length > len(frame) {
			return Neighbor{}, fmt.Errorf("a field of type %d is cut off", kind)
		}
		field := frame[:length]
		frame = frame[length:]
		if len(got) < 3 && kind != len(got)+1 {
			return Neighbor{}, fmt.Errorf("field %d has the type %d", len(got)+1, kind)
		}
		got = append(got, kind)
		if kind == endOf {
			return n, nil
		}
		if err := n.add(kind, field); err != nil {
			return Neighbor{}, err
		}
	}
}

// add reads one field. Those of an unknown type are passed over.
func (n *Neighbor) add(kind int, field []byte) error {
	switch kind {
	case chassisID, portID:
		if len(field) < 2 {
			return fmt.Errorf("a field of type %d has %d bytes", kind, len(field))
		}
		if kind == chassisID {
			n.Chassis = identity(field[0] == 4, field[0] == 5, field[1:])
		} else {
			n.Port = identity(field[0] == 3, field[0] == 4, field[1:])
		}
	case timeToLive:
		if len(field) < 2 || binary.BigEndian.Uint16(field) == 0 {
			return errors.New("the port announces that it ends")
		}
	case portText:
		n.Description = text(field)
	case systemName:
		n.System = text(field)
	case organisation:
		n.organisation(string(field))
	}
	return nil
}

func (n *Neighbor) organisation(field string) {
	if rest, ok := strings.CutPrefix(field, portVLAN); ok && len(rest) >= 2 {
		n.Announced, n.Untagged = true, binary.BigEndian.Uint16([]byte(rest))
	}
	if rest, ok := strings.CutPrefix(field, vlanName); ok && len(rest) >= 2 &&
		len(n.VLANs) < maxVLANs {
		n.VLANs = append(n.VLANs, binary.BigEndian.Uint16([]byte(rest)))
	}
}

// identity is a MAC, an address with the number of its family before it, or a text.
func identity(isMAC, isAddress bool, id []byte) string {
	if isMAC && len(id) == 6 {
		return net.HardwareAddr(id).String()
	}
	if isAddress {
		if a, ok := netip.AddrFromSlice(id[1:]); ok {
			return a.String()
		}
	}
	return text(id)
}

// text is valid UTF-8 without the zeros by which some switches end it.
func text(field []byte) string {
	return strings.ToValidUTF8(strings.TrimRight(string(field), "\x00"), "?")
}

// String is the port for people, in one line.
func (n Neighbor) String() string {
	name := n.System
	if name == "" {
		name = n.Chassis
	}
	out := fmt.Sprintf("switch %q, port %q", name, n.Port)
	if n.Description != "" && n.Description != n.Port {
		out += fmt.Sprintf(" (%q)", n.Description)
	}
	switch {
	case !n.Announced:
		return out + ", which does not announce its VLAN"
	case n.Untagged == 0:
		return out + ", no VLAN without a tag"
	}
	return fmt.Sprintf("%s, VLAN %d without a tag", out, n.Untagged)
}
