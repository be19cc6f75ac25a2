// Package bootstrap says what is put on the bootstrap machine: the one that holds the API VIP and
// answers for the cluster's names until the control plane can.
//
// It is made to be imported by an installer. Assets turns a plan into files and units; package
// ignition puts them into an Ignition document, and Set.Tree into plain files. Nothing here or
// below touches the machine that it runs on, and an importer gets neither a container engine nor a
// Kubernetes client with it.
//
// What is there to be imported are the packages bootstrap, cluster, ignition, shared/asset,
// shared/plan, shared/role and shared/spec, and nothing else. They read and write nothing but their
// arguments and results, know no clock and keep nothing between two calls, so that any number of
// callers may use them at once, one plan or set among them too. Equal input gives equal bytes.
// Within a major version of the module their exported names and signatures stay, fields and
// functions come, and a struct is to be written with the names of its fields; the text of errors
// and findings and the files' contents may change with every version, as they are what a newer
// version mends.
package bootstrap
