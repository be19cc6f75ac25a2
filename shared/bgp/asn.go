// Package bgp has the rules by which hosts announce VIPs to their routers by BGP: numbers of
// autonomous systems, timers, and the length of the AS path that each host announces.
package bgp

import (
	"fmt"
	"strconv"
	"strings"
)

// ASN is the number of an autonomous system (RFC 6793: four bytes). 0 is none.
type ASN uint32

// ParseASN reads a number as 64512, or in two halves as 1.10 (RFC 5396: asplain, asdot). It takes
// reserved numbers too, see Reserved.
func ParseASN(text string) (ASN, error) {
	high, low, dotted := strings.Cut(text, ".")
	if !dotted {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil {
			return 0, fmt.Errorf("%q is no number of an autonomous system: write one from 1 to "+
				"4294967294, such as 64512", text)
		}
		return ASN(n), nil
	}
	h, errHigh := strconv.ParseUint(high, 10, 16)
	l, errLow := strconv.ParseUint(low, 10, 16)
	if errHigh != nil || errLow != nil {
		return 0, fmt.Errorf("%q is no number of an autonomous system: each half is from 0 to "+
			"65535, as in 64086.59904", text)
	}
	return ASN(h<<16 | l), nil
}

// Reserved is why no router may have the number; empty if one may.
func (a ASN) Reserved() string {
	switch a {
	case 0:
		return "0 is no autonomous system (RFC 7607)"
	case 23456:
		return "23456 stands for numbers of four bytes on routers that know two (RFC 6793)"
	case 65535, 4294967295:
		return fmt.Sprintf("%d is the last number, which is reserved (RFC 7300)", a)
	}
	return ""
}

// Private reports whether the number is for use inside of one organisation (RFC 6996).
func (a ASN) Private() bool {
	return a >= 64512 && a <= 65534 || a >= 4200000000 && a <= 4294967294
}

// Documented reports whether the number is one of examples in documents (RFC 5398).
func (a ASN) Documented() bool {
	return a >= 64496 && a <= 64511 || a >= 65536 && a <= 65551
}

// Unassigned reports whether IANA keeps the number back, so that it is no network's (its registry
// of numbers of autonomous systems).
func (a ASN) Unassigned() bool { return a >= 65552 && a <= 131071 }
