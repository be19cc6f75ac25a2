// Package cluster makes the files and units of a cluster's nodes, by role: static pods that hold
// the VIPs, balance the API and answer for the cluster's names, and the units around them.
//
// Installers can import it, as package bootstrap. Nothing here touches the local host, and an
// importer gets neither Kubernetes' types nor a client with it.
package cluster
