package wire

import (
	"github.com/miekg/dns"
)

const (
	// TopBit of a record's class means that it replaces all others of its name and type
	// (cache-flush). Of a question's class it means that a unicast answer is welcome.
	TopBit = 1 << 15
	// MaxBytes fits into an Ethernet frame after the headers of IPv6 and UDP.
	MaxBytes = 1440
)

// Message is a received packet, without records of other classes.
type Message struct {
	*dns.Msg
	Answers   []Record // of a query: the known answers; of a response: all of its records
	Authority []dns.RR
}

// Record is a record from a packet. Flush is the cache-flush bit, which its class no longer has.
type Record struct {
	dns.RR
	Flush bool
}

// Parse reads a packet of multicast DNS; ok is false for one to ignore (RFC 6762 18).
func Parse(data []byte) (m Message, ok bool) {
	m.Msg = new(dns.Msg)
	if err := m.Unpack(data); err != nil || m.Opcode != dns.OpcodeQuery ||
		m.Rcode != dns.RcodeSuccess {
		return Message{}, false
	}
	sections := [][]dns.RR{m.Answer}
	if m.Response {
		sections = append(sections, m.Extra)
	}
	for _, section := range sections {
		for _, rr := range section {
			if h := rr.Header(); h.Rrtype != dns.TypeOPT && h.Class&^TopBit == dns.ClassINET {
				flush := h.Class&TopBit != 0
				h.Class &^= TopBit
				m.Answers = append(m.Answers, Record{RR: rr, Flush: flush})
			}
		}
	}
	for _, rr := range m.Ns {
		if h := rr.Header(); h.Class&^TopBit == dns.ClassINET {
			h.Class &^= TopBit
			m.Authority = append(m.Authority, rr)
		}
	}
	return m, true
}

// Responses packs answers into as few packets as possible, and adds additional records to the last
// one as far as they fit.
func Responses(answers, beside []dns.RR) (packets [][]byte) {
	for len(answers) > 0 {
		n := len(answers)
		for n > 1 && Response(answers[:n], nil).Len() > MaxBytes {
			n--
		}
		m := Response(answers[:n], nil)
		if answers = answers[n:]; len(answers) == 0 {
			for _, rr := range beside {
				if m.Extra = append(m.Extra, rr); m.Len() > MaxBytes {
					m.Extra = m.Extra[:len(m.Extra)-1]
				}
			}
		}
		packets = Pack(packets, m)
	}
	return packets
}

func Response(answers, beside []dns.RR) *dns.Msg {
	m := &dns.Msg{Answer: answers, Extra: beside, Compress: true}
	m.Response, m.Authoritative = true, true
	return m
}

// Fit drops records from the end of a message until it fits into one packet.
func Fit(m *dns.Msg) {
	for _, section := range []*[]dns.RR{&m.Extra, &m.Answer} {
		for len(*section) > 0 && m.Len() > MaxBytes {
			*section = (*section)[:len(*section)-1]
		}
	}
}

// Pack appends a message as a packet. It never fails for our messages: their names were parsed or
// escaped by us.
func Pack(packets [][]byte, m *dns.Msg) [][]byte {
	data, err := m.Pack()
	if err != nil {
		return packets
	}
	return append(packets, data)
}

// ToGroups addresses packets to the multicast groups.
func ToGroups(packets [][]byte) (out []Outgoing) {
	for _, p := range packets {
		out = append(out, Outgoing{Data: p})
	}
	return out
}
