// Package bootstrap makes the files and units of the bootstrap machine, which holds the API VIP and
// answers for the cluster's names until the control plane can.
//
// Installers can import it. Assets turns a plan into files and units; package ignition puts them
// into an Ignition document, and Set.Tree into plain files. Nothing here or below touches the local
// host, and an importer gets neither a container engine nor a Kubernetes client with it.
//
// The packages for importers are bootstrap, cluster, ignition, shared/asset, shared/plan,
// shared/role and shared/spec, and no others. They read and write only their arguments and results,
// use no clock and keep no state, so any number of callers may use them at once, with one plan or
// set too. Equal input gives equal bytes. Within a major version of the module their exported names
// and signatures stay, and fields and functions may be added: name the fields when you write a
// struct. The text of errors and findings and the contents of files may change with every version.
package bootstrap
