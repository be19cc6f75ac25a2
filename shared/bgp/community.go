package bgp

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Community is a mark on a route, to which routers apply policy (RFC 1997): two 16-bit numbers.
type Community uint32

// ParseCommunity reads two numbers as 64512:100; false if a text is none. It takes reserved ones
// too, see Reserved.
func ParseCommunity(text string) (c Community, ok bool) {
	high, low, _ := strings.Cut(text, ":")
	h, errHigh := strconv.ParseUint(high, 10, 16)
	l, errLow := strconv.ParseUint(low, 10, 16)
	return Community(h<<16 | l), errHigh == nil && errLow == nil
}

// Reserved reports whether a community has a meaning to all routers, or may get one: they keep such
// a route to themselves, or drop what it leads to. FRR has names for some, 0:0 among them. Others
// below 1:0 are reserved too (RFC 1997), but are in use: they have a route server leave out an AS.
func (c Community) Reserved() bool { return c == 0 || c>>16 == 65535 }

func (c Community) String() string { return fmt.Sprintf("%d:%d", c>>16, c&0xffff) }

// Communities are communities in the order and the spelling in which FRR has them, each once: a
// host compares what FRR has with what it should have.
func Communities(texts []string) (spelled []string) {
	var all []Community
	for _, text := range texts {
		if c, ok := ParseCommunity(text); ok {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	for _, c := range slices.Compact(all) {
		spelled = append(spelled, c.String())
	}
	return spelled
}
