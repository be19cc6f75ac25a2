// Package vrrp holds the numbers of the Virtual Router Redundancy Protocol as this project uses it: virtual router IDs, priorities, the
// weights of health checks, timing, and the proof that together they elect the right holder.
package vrrp

import "time"

// ID is a virtual router ID (VRID), 1 to 255 (RFC 5798 5.2.3).
type ID uint8

// Priority is what a router announces, 1 to 254; 255 means address owner and 0 is the farewell (RFC 5798 5.2.4).
type Priority uint8

// Version is the protocol version: 2 (RFC 3768, IPv4 only, may carry a password) or 3 (RFC 5798).
type Version uint8

// The protocol versions.
const (
	V2 Version = 2
	V3 Version = 3
)

// CheckName names a health check in a configuration: lower-case letters, digits and underscores.
type CheckName string

// InstanceName names a VRRP instance: letters, digits, hyphens and underscores.
type InstanceName string

// AuthPass is a VRRPv2 password of at most 8 bytes. It travels in clear text.
type AuthPass string

// Timing is what the elections of one cluster run on.
type Timing struct {
	Profile string
	Advert  time.Duration
}

// Weight is what a passing check adds to a node's priority. Fault marks a check whose failure takes the node out of the election instead.
type Weight struct {
	Check CheckName `json:"check"`
	Adds  int       `json:"adds"`
	Fault bool      `json:"fault,omitempty"`
	Why   string    `json:"why"`
}
