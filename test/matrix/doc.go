// Package matrix renders every kind of cluster there is for every kind of host, and holds what
// comes out: platform by load balancer by records by families by topology by role. The same
// clusters go through the templates for the Machine Config Operator, which must give the same
// files.
package matrix
