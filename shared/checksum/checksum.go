// Package checksum is the checksum of IP, TCP, UDP, ICMP and VRRP (RFC 1071).
package checksum

import "encoding/binary"

// Sum adds the ones' complement sum of bytes to a number, such as the sum of a pseudo header. Of
// several parts of one message, only the last may have an odd length.
func Sum(start uint32, p []byte) uint16 {
	for ; len(p) > 1; p = p[2:] {
		start += uint32(binary.BigEndian.Uint16(p))
	}
	if len(p) == 1 {
		start += uint32(p[0]) << 8
	}
	for start > 0xffff {
		start = start>>16 + start&0xffff
	}
	return uint16(start)
}

// Of is the checksum of bytes whose own field for it is zero.
func Of(p []byte) uint16 { return ^Sum(0, p) }
