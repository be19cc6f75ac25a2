// Package avahi has the real avahi-daemon judge what a node announces by multicast DNS: it finds
// and resolves our hosts, yields to them and is yielded to, and we find its; and has our CoreDNS
// answer for them.
package avahi
