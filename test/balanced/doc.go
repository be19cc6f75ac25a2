// Package balanced has three nodes announce the API VIP in a routed network, each with the pods that we
// render: HAProxy with its monitor, FRR with its parent, and the monitor of VIPs. Clients are behind the
// spine. What ends is what serves: HAProxy, or the API server with it. API servers are those of package
// podlb, which know readiness and TLS, and a FAKE API names the nodes.
package balanced
