// Package podvip runs a node's keepalived pod on hosts of the lab: the real manifest, the real
// monitor, supervisor and keepalived.
package podvip
