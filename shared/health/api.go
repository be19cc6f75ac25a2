// Package health defines what a check of a service can find, an API server's state among them, and
// how checks are made. What the doctor finds is in shared/operator.
package health

import "cmp"

// API is the state of an API server as a probe found it. The difference between the last four
// decides whether a VIP stays where it is: a server that announces its shutdown will come back or
// hand over in order, one that is gone will not, and one that is not trusted may be either.
type API int

// The states of an API server.
const (
	Unknown      API = iota // not probed yet
	Ready                   // answered 200
	ShuttingDown            // answered, and named its shutdown as the reason for not being ready
	NotReady                // gave any other answer
	Untrusted               // answered with a certificate that does not count here
	Gone                    // gave no answer: refused, reset or timed out
)

var apiNames = map[API]string{
	Ready: "ready", ShuttingDown: "shutting down", NotReady: "not ready",
	Untrusted: "not trusted", Gone: "gone",
}

func (a API) String() string { return cmp.Or(apiNames[a], "unknown") }
