// Package envelopes has the programs that open our envelopes judge them: Ignition, systemd and
// podman read what a bootstrap machine gets.
package envelopes
