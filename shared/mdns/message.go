package mdns

import (
	"github.com/miekg/dns"
)

const (
	// topBit of a record's class says that it replaces all others of its name and type, and of a
	// question's that the answer may come by unicast.
	topBit = 1 << 15
	// mostBytes is what fits into an Ethernet frame behind the headers of IPv6 and UDP.
	mostBytes = 1440
)

// message is a packet as it was read, without the records that say nothing to us.
type message struct {
	*dns.Msg
	answers   []heard // of a query: those that its sender knows; of a response: all of its records
	authority []dns.RR
}

// heard is a record from a packet. The bit that says so is no longer in its class.
type heard struct {
	dns.RR
	flush bool
}

// parse reads a packet of multicast DNS; ok is false for one that is to be ignored (RFC 6762 18).
func parse(data []byte) (m message, ok bool) {
	m.Msg = new(dns.Msg)
	if err := m.Unpack(data); err != nil || m.Opcode != dns.OpcodeQuery || m.Rcode != dns.RcodeSuccess {
		return message{}, false
	}
	sections := [][]dns.RR{m.Answer}
	if m.Response {
		sections = append(sections, m.Extra)
	}
	for _, section := range sections {
		for _, rr := range section {
			if h := rr.Header(); h.Rrtype != dns.TypeOPT && h.Class&^topBit == dns.ClassINET {
				flush := h.Class&topBit != 0
				h.Class &^= topBit
				m.answers = append(m.answers, heard{RR: rr, flush: flush})
			}
		}
	}
	for _, rr := range m.Ns {
		if h := rr.Header(); h.Class&^topBit == dns.ClassINET {
			h.Class &^= topBit
			m.authority = append(m.authority, rr)
		}
	}
	return m, true
}

// inPacket is a record as a response carries it.
func inPacket(o *owned, ttl uint32, flush bool) dns.RR {
	rr := dns.Copy(o.rr)
	rr.Header().Ttl = ttl
	if flush && !o.shared {
		rr.Header().Class |= topBit
	}
	return rr
}

// responses packs answers into as few packets as they fit, and what is worth knowing beside them as
// far as there is room.
func responses(answers, beside []dns.RR) (packets [][]byte) {
	for len(answers) > 0 {
		n := len(answers)
		for n > 1 && response(answers[:n], nil).Len() > mostBytes {
			n--
		}
		m := response(answers[:n], nil)
		if answers = answers[n:]; len(answers) == 0 {
			for _, rr := range beside {
				if m.Extra = append(m.Extra, rr); m.Len() > mostBytes {
					m.Extra = m.Extra[:len(m.Extra)-1]
				}
			}
		}
		packets = pack(packets, m)
	}
	return packets
}

func response(answers, beside []dns.RR) *dns.Msg {
	m := &dns.Msg{Answer: answers, Extra: beside, Compress: true}
	m.Response, m.Authoritative = true, true
	return m
}

// pack appends a message as a packet. All of its names have been read or made by us, so that there
// is none which cannot be written.
func pack(packets [][]byte, m *dns.Msg) [][]byte {
	data, err := m.Pack()
	if err != nil {
		return packets
	}
	return append(packets, data)
}

// toAll are packets for the groups.
func toAll(packets [][]byte) (out []Outgoing) {
	for _, p := range packets {
		out = append(out, Outgoing{Data: p})
	}
	return out
}
