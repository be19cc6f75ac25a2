package message

// Outcome is what became of a question to a router.
type Outcome string

// The outcomes, the best first.
const (
	Accepted    Outcome = "accepted"    // it accepts a session
	Connected   Outcome = "connected"   // it accepts TCP connections: no OPEN was sent
	Unlike      Outcome = "unlike"      // it accepts a session, but its AS number is another one
	Notified    Outcome = "notified"    // it ended the session with a notification
	Closed      Outcome = "closed"      // it closed the connection without a message
	NoBGP       Outcome = "no-bgp"      // what answers is no BGP
	Refused     Outcome = "refused"     // no program listens at its port: RST
	Unreachable Outcome = "unreachable" // the network answers that there is no way
	Silent      Outcome = "silent"      // nothing answers
)

// Answer is a router's answer to an OPEN.
type Answer struct {
	Outcome Outcome
	// Open is what the router states of itself; nil if it got no further.
	Open *Open
	// Notification is why it ended the session; nil if it did not.
	Notification *Notification
	Why          string // the error beneath, for people; empty for none
}
