// Package health defines what checks find, and how they are made.
package health

// API is the state of an API server as a probe found it. The difference between the last four decides
// whether a VIP stays where it is: a server that announces its shutdown will come back or hand over in
// order, one that is gone will not, and one that is not trusted may be either.
type API int

// What an API server can be.
const (
	Unknown      API = iota // not probed yet
	Ready                   // answered 200
	ShuttingDown            // answered, and named its shutdown as the reason for not being ready
	NotReady                // gave any other answer
	Untrusted               // answered with a certificate that does not count here
	Gone                    // gave none: refused, reset or timed out
)

func (a API) String() string {
	switch a {
	case Ready:
		return "ready"
	case ShuttingDown:
		return "shutting down"
	case NotReady:
		return "not ready"
	case Untrusted:
		return "not trusted"
	case Gone:
		return "gone"
	default:
		return "unknown"
	}
}
