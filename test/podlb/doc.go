// Package podlb proves the balancer of the control plane by running its pod: real HAProxy beside
// its monitor, the kernel's packet filter, TLS servers that are killed, stopped and drained, and
// clients that start a request every 10 ms.
package podlb
