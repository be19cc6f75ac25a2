// Package poddns runs a node's DNS pod on hosts of the lab: the real monitor beside the real
// CoreDNS, as a master and as a worker have it.
package poddns
