// Package bootlog reads dnsmasq's log of DHCP and TFTP: which host asked for what, what it was
// given, and which files it fetched.
package bootlog

import (
	"net/netip"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/mac"
)

// Kind is what happened.
type Kind string

// The messages of DHCP and DHCPv6, by their names in the log.
const (
	Discover    Kind = "discover"
	Offer       Kind = "offer"
	Request     Kind = "request"
	Ack         Kind = "ack"
	Nak         Kind = "nak"
	Decline     Kind = "decline"
	Release     Kind = "release"
	Inform      Kind = "inform"
	Solicit     Kind = "solicit"
	Advertise   Kind = "advertise"
	Confirm     Kind = "confirm"
	Renew       Kind = "renew"
	Rebind      Kind = "rebind"
	Reply       Kind = "reply"
	InfoRequest Kind = "information-request"
)

// What follows from them, and what comes after.
const (
	// Program is the boot file or URL of the answer before.
	Program Kind = "program"
	// NoProgram is a client that boots from the network and is of an architecture for which there
	// is no boot program.
	NoProgram   Kind = "no-program"
	TFTPSent    Kind = "tftp-sent"
	TFTPFailed  Kind = "tftp-failed" // the client does not answer, or ends the transfer
	TFTPMissing Kind = "tftp-missing"
)

// messages are the log's names of messages.
var messages = map[string]Kind{
	"DHCPDISCOVER": Discover, "DHCPOFFER": Offer, "DHCPREQUEST": Request, "DHCPACK": Ack,
	"DHCPNAK": Nak, "DHCPDECLINE": Decline, "DHCPRELEASE": Release, "DHCPINFORM": Inform,
	"DHCPSOLICIT": Solicit, "DHCPADVERTISE": Advertise, "DHCPCONFIRM": Confirm,
	"DHCPRENEW": Renew, "DHCPREBIND": Rebind, "DHCPREPLY": Reply,
	"DHCPINFORMATION-REQUEST": InfoRequest,
}

// Event is one thing that the log reports. Fields that its line and the lines before do not have
// are zero.
type Event struct {
	Time      time.Time
	Kind      Kind
	Interface string
	MAC       mac.MAC
	Address   netip.Addr
	Class     string // the client's vendor class; over IPv6 dnsmasq logs a number only
	UserClass string // iPXE for iPXE
	File      string // of Program and TFTP
	// Detail is the rest of the line: a host's name, or why dnsmasq does not answer.
	Detail string
}

// Ignored reports whether dnsmasq does not answer the message: the host has no reservation.
func (e Event) Ignored() bool { return e.Detail == "ignored" }
