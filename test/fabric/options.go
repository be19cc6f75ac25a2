package fabric

import "github.com/onprem-infra/onprem-infra/shared/bgp"

// Option is how a fabric differs from the usual one.
type Option func(*options)

type options struct {
	foreign    bool     // the leaves are BIRD
	second     bool     // hosts of the first rack have a second leaf
	unnumbered bool     // hosts and leaves know each other by their link alone
	paths      int      // of each router, to one VIP
	neighbours []int    // numbers of hosts that each leaf names; none for all of its rack
	process    []string // lines of each leaf's process of BGP
	password   string   // of each leaf's sessions with hosts
	security   bool     // of the TTL in these
}

// Foreign has leaves that are BIRD 2, which shares no code with the hosts' FRR.
func Foreign() Option { return func(o *options) { o.foreign = true } }

// SecondLeaf has a third leaf, to which each host of the first rack has a wire of its own.
func SecondLeaf() Option { return func(o *options) { o.second = true } }

// Unnumbered has sessions by IPv6 addresses of the link alone (RFC 5549), which neither side is told.
// A rack has one host then.
func Unnumbered() Option { return func(o *options) { o.unnumbered = true } }

// Paths is how many ways to one VIP a router uses at once.
func Paths(n int) Option { return func(o *options) { o.paths = n } }

// Neighbours has leaves that name each host which may have a session, by the hosts' numbers.
func Neighbours(hosts ...int) Option { return func(o *options) { o.neighbours = hosts } }

// Process adds lines to each leaf's process of BGP.
func Process(lines ...string) Option {
	return func(o *options) { o.process = append(o.process, lines...) }
}

// Password has leaves with a password for sessions with hosts (RFC 2385).
func Password(word string) Option { return func(o *options) { o.password = word } }

// TTLSecurity has leaves that take no packets of hosts from further away (RFC 5082).
func TTLSecurity() Option { return func(o *options) { o.security = true } }

// asn is a leaf's number.
func asn(leaf int) bgp.ASN { return FirstASN + bgp.ASN(leaf) }
