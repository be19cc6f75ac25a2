// Package cluster says what is put on the nodes of a cluster, by role: static pods that hold the
// VIPs, balance the API and answer for the cluster's names, and the units around them.
//
// It is made to be imported by an installer, as package bootstrap is. Nothing here touches the
// machine that it runs on, and an importer gets neither Kubernetes' types nor a client with it.
package cluster
