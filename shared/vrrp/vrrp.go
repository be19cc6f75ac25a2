// Package vrrp is the numbers of a cluster's VRRP policy, and which values of each are valid:
// virtual router IDs, base priorities, the weights of health checks, and the timing profiles.
// Whether a policy as a whole elects the right holder is shown by package proof.
package vrrp

import (
	"fmt"
	"strings"
)

// ID is a virtual router ID (VRID), 1 to 255 (RFC 5798 5.2.3).
type ID uint8

// Priority is what a router announces, 1 to 254; 255 means address owner and 0 releases the VIP
// (RFC 5798 5.2.4).
type Priority uint8

// The priorities that a router which does not own the address may announce.
const (
	MinPriority Priority = 1
	MaxPriority Priority = 254
)

// Version is the protocol version: 2 (RFC 3768, IPv4 only, may carry a password) or 3 (RFC 5798).
type Version uint8

// The protocol versions.
const (
	V2 Version = 2
	V3 Version = 3
)

// Kind is which of a cluster's VIPs a virtual router carries.
type Kind string

// The kinds of VIP.
const (
	API     Kind = "api"
	Ingress Kind = "ingress"
	DNS     Kind = "dns" // where a cluster has one

	// Provisioning is the address from which bare hosts are installed, where the nodes share it.
	Provisioning Kind = "provisioning"
)

// CheckName names a health check in a configuration: lower-case letters, digits and underscores.
type CheckName string

// InstanceName names a VRRP instance: letters, digits, hyphens and underscores.
type InstanceName string

// Name is the name of the instance of a cluster's VIP, as OpenShift's nodes of today have it. i
// counts the VIPs of a kind from 0.
func Name(cluster string, kind Kind, i int) InstanceName {
	return InstanceName(fmt.Sprintf("%s_%s_%d", cluster, strings.ToUpper(string(kind)), i))
}

// AuthPass is a VRRPv2 password of at most 8 bytes. It travels in clear text.
type AuthPass string
