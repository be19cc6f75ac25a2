// Package message has as much of BGP's messages as it takes to ask a router whether it would have a
// session: OPEN and NOTIFICATION, with their meaning in words (RFC 4271, RFC 6793).
package message

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

// Kind is the type of a message (RFC 4271, 4.1).
type Kind uint8

// The kinds.
const (
	KindOpen         Kind = 1
	KindUpdate       Kind = 2
	KindNotification Kind = 3
	KindKeepalive    Kind = 4
)

// The sizes of a message in bytes (RFC 4271, 4.1).
const (
	header  = 19
	longest = 4096
)

// Message is one message. Open and Notification are nil for other kinds.
type Message struct {
	Kind         Kind
	Open         *Open
	Notification *Notification
}

// Open is what each end states of itself first (RFC 4271, 4.2).
type Open struct {
	ASN    bgp.ASN
	Hold   int        // seconds
	Router netip.Addr // the identifier: four bytes as an IPv4 address
}

// Notification ends a session, with the reason (RFC 4271, 4.5).
type Notification struct {
	Code, Subcode uint8
	// ASN is the number that a router refuses, with 2/2; 0 if it sends none.
	ASN bgp.ASN
}

// The parts of an OPEN's optional parameters (RFC 5492, RFC 6793, RFC 4760).
const (
	version         = 4
	parCapabilities = 2
	capFamily       = 1
	capFourBytes    = 65
	transition      = 23456 // AS_TRANS, in the place of a four-byte number (RFC 6793, 9)
)

// Encode is the message of an OPEN, with the capabilities of four-byte numbers and of unicast
// routes of both families.
func (o Open) Encode() []byte {
	capabilities := []byte{
		capFamily, 4, 0, 1, 0, 1, // IPv4, unicast
		capFamily, 4, 0, 2, 0, 1, // IPv6, unicast
		capFourBytes, 4,
	}
	capabilities = binary.BigEndian.AppendUint32(capabilities, uint32(o.ASN))
	short := uint16(transition)
	if o.ASN <= 0xffff {
		short = uint16(o.ASN)
	}
	id := o.Router.As4()
	body := []byte{version}
	body = binary.BigEndian.AppendUint16(body, short)
	body = binary.BigEndian.AppendUint16(body, uint16(o.Hold))
	body = append(body, id[:]...)
	body = append(body, byte(len(capabilities)+2), parCapabilities, byte(len(capabilities)))
	return frame(KindOpen, append(body, capabilities...))
}

// Encode is the message of a NOTIFICATION without data.
func (n Notification) Encode() []byte {
	return frame(KindNotification, []byte{n.Code, n.Subcode})
}

func frame(kind Kind, body []byte) []byte {
	out := make([]byte, 0, header+len(body))
	for range 16 {
		out = append(out, 0xff) // the marker
	}
	out = binary.BigEndian.AppendUint16(out, uint16(header+len(body)))
	return append(append(out, byte(kind)), body...)
}

// Read reads one message. The error of a stream that ends before it is io.EOF.
func Read(r io.Reader) (m Message, err error) {
	var head [header]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return m, err
	}
	for _, b := range head[:16] {
		if b != 0xff {
			return m, errors.New("it is no BGP: the marker is missing (RFC 4271, 4.1)")
		}
	}
	size := int(binary.BigEndian.Uint16(head[16:]))
	if size < header || size > longest {
		return m, fmt.Errorf("it is no BGP: a message of %d bytes (RFC 4271, 4.1)", size)
	}
	body := make([]byte, size-header)
	if _, err := io.ReadFull(r, body); err != nil {
		return m, fmt.Errorf("a message ends in its middle: %w", err)
	}
	m.Kind = Kind(head[18])
	switch m.Kind {
	case KindOpen:
		m.Open, err = readOpen(body)
	case KindNotification:
		m.Notification, err = readNotification(body)
	case KindUpdate, KindKeepalive:
	default:
		err = fmt.Errorf("a message of the unknown type %d", m.Kind)
	}
	return m, err
}

func readOpen(body []byte) (*Open, error) {
	if len(body) < 10 {
		return nil, errors.New("an OPEN is too short (RFC 4271, 4.2)")
	}
	if body[0] != version {
		return nil, fmt.Errorf("an OPEN of BGP's version %d", body[0])
	}
	o := &Open{ASN: bgp.ASN(binary.BigEndian.Uint16(body[1:])),
		Hold:   int(binary.BigEndian.Uint16(body[3:])),
		Router: netip.AddrFrom4([4]byte(body[5:9]))}
	parameters := body[10:]
	if int(body[9]) != len(parameters) {
		return o, nil // extended ones (RFC 9072): the number in them is not read
	}
	for len(parameters) >= 2 {
		kind, size := parameters[0], int(parameters[1])
		if size > len(parameters)-2 {
			return nil, errors.New("an OPEN has a parameter that is longer than itself")
		}
		if kind == parCapabilities {
			o.capabilities(parameters[2 : 2+size])
		}
		parameters = parameters[2+size:]
	}
	return o, nil
}

// capabilities sets ASN to the four-byte number, if the capabilities have one.
func (o *Open) capabilities(all []byte) {
	for len(all) >= 2 && int(all[1]) <= len(all)-2 {
		if all[0] == capFourBytes && all[1] == 4 {
			o.ASN = bgp.ASN(binary.BigEndian.Uint32(all[2:]))
		}
		all = all[2+int(all[1]):]
	}
}

func readNotification(body []byte) (*Notification, error) {
	if len(body) < 2 {
		return nil, errors.New("a NOTIFICATION is too short (RFC 4271, 4.5)")
	}
	n := &Notification{Code: body[0], Subcode: body[1]}
	if n.Code == codeOpen && n.Subcode == openPeerAS {
		switch data := body[2:]; len(data) {
		case 2:
			n.ASN = bgp.ASN(binary.BigEndian.Uint16(data))
		case 4:
			n.ASN = bgp.ASN(binary.BigEndian.Uint32(data))
		}
	}
	return n, nil
}
