// Package netboot has real dnsmasq answer network boot clients of every architecture, in both
// families, by the configuration that the project renders. What clients decode is compared, and not
// the text of the configuration.
package netboot
