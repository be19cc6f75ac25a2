// Package cluster says what is put on the nodes of a cluster, by role: static pods that hold the VIPs, balance the API and answer for the
// cluster's names, and the units around them.
//
// It is made to be imported by an installer, as package bootstrap is. Nothing here touches the machine that it runs on. An importer gets the
// types of Kubernetes' API with it, as the pods are made of them, and no client.
package cluster
