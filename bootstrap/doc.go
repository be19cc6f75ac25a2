// Package bootstrap says what is put on the bootstrap machine: the one that holds the API VIP and answers for the cluster's names until
// the control plane can.
//
// It is made to be imported by an installer. Assets turns a plan into files and units; package ignition puts them into an Ignition
// document, and Set.Tree into plain files. Nothing here or below touches the machine that it runs on, and an importer gets neither a
// container engine nor a Kubernetes client with it.
package bootstrap
