package message

import (
	"encoding/hex"
	"fmt"
)

// The codes that have a meaning of their own here, and subcodes of them (RFC 4271, 4.5).
const (
	codeOpen     = 2
	codeHold     = 4
	codeState    = 5
	codeCease    = 6
	openPeerAS   = 2
	openPassword = 5
	openHold     = 6
)

// Cease ends a session without a fault.
func Cease() Notification { return Notification{Code: codeCease} }

// ParseCode reads FRR's form of a code and a subcode: two hexadecimal digits each.
func ParseCode(text string) (n Notification, ok bool) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != 2 || b[0] == 0 {
		return Notification{}, false
	}
	return Notification{Code: b[0], Subcode: b[1]}, true
}

// String is the code as documents of routers have it.
func (n Notification) String() string { return fmt.Sprintf("%d/%d", n.Code, n.Subcode) }

// meaning is what a notification means here, and what to do.
type meaning struct{ words, do string }

// meanings are those of pairs of a code and a subcode (RFC 4271, 4.5; RFC 4486; RFC 9384).
var meanings = map[[2]uint8]meaning{
	{codeOpen, 1}: {"one end has another version of BGP", ""},
	{codeOpen, openPeerAS}: {"the number of the autonomous system is another one than the other " +
		"end expects", "compare bgp.asn, and the router's asn in bgp.racks, with the router's " +
		"own configuration (its own number, and remote-as for these hosts)"},
	{codeOpen, 3}: {"the other end has the same identifier, or an invalid one",
		"give each router and each host an identifier of its own"},
	{codeOpen, openPassword}: {"the other end refuses the authentication",
		"compare the password of --bgp-passwords with the router's"},
	{codeOpen, openHold}: {"the other end refuses the hold time",
		"allow the hold time that `onprem-infra plan` prints on the router"},
	{codeOpen, 7}: {"the other end misses a capability", "have the router accept sessions of " +
		"IPv4 and IPv6 unicast routes without further capabilities"},
	{codeCease, 1}: {"the router has got more routes than it allows (maximum-prefix)",
		"allow the VIPs, and one more for each that changes"},
	{codeCease, 2}: {"the session was shut down by hand on the router",
		"enable the neighbour on the router again"},
	{codeCease, 3}: {"the router does not know this neighbour any more",
		"configure this host as its neighbour, or a range with its address"},
	{codeCease, 4}: {"the session was reset by hand on the router", ""},
	{codeCease, 5}: {"the router refuses the connection", "have the router accept sessions from " +
		"this host's address: `onprem-infra routers` prints how"},
	{codeCease, 6}: {"its configuration was changed", ""},
	{codeCease, 7}: {"there is another session from the same address (a collision): " +
		"a second BGP speaker of this host, such as the network plugin's",
		"give one of the two another address (source in bgp.racks), or other routers: a router " +
			"has one session with an address"},
	{codeCease, 8}: {"the router has not enough resources", "see the router's own log"},
	{codeCease, 10}: {"BFD reported the other end as gone", "see that UDP port 3784 passes " +
		"in both directions, and that the router does BFD with this host at its interval: many " +
		"switches allow 300 ms at least, for which bgp.timing vm is"},
}

var codes = map[uint8]meaning{
	1: {"a message was damaged", "see whether the MTU of the links agrees"},
	codeOpen: {"the other end refuses what this one stated of itself (OPEN)",
		"compare both ends' configurations"},
	3: {"a route was refused", "see the router's log"},
	codeHold: {"no message was received within the hold time", "see whether the host, the router " +
		"or a link between was overloaded or lost, and whether full packets pass (MTU)"},
	codeState: {"the ends disagree on the session's state", "see the router's log"},
	codeCease: {"the session was ended in order", ""},
}

// Words are what the notification means.
func (n Notification) Words() string { return n.meaning().words }

// Do is what to do about it; empty if there is nothing to do.
func (n Notification) Do() string { return n.meaning().do }

func (n Notification) meaning() meaning {
	if m, ok := meanings[[2]uint8{n.Code, n.Subcode}]; ok {
		return m
	}
	if m, ok := codes[n.Code]; ok {
		return m
	}
	return meaning{words: "a reason that RFC 4271 does not name"}
}
