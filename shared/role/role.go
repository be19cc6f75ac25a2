// Package role names the kinds of host that onprem-infra serves and reads them from the command
// line.
package role

import (
	"fmt"
	"strings"
)

// Role is one kind of host.
type Role string

// The roles.
const (
	Bootstrap Role = "bootstrap" // the temporary machine that holds the API VIP first
	Master    Role = "master"    // a control plane node
	Worker    Role = "worker"    // a node that runs what the cluster is for
	Arbiter   Role = "arbiter"   // a small third member of a control plane of two
)

// All lists every role whose assets exist, in the order in which help texts show them.
func All() []Role { return []Role{Bootstrap, Master, Worker, Arbiter} }

// Nodes lists the roles of the cluster's own hosts.
func Nodes() []Role { return []Role{Master, Worker, Arbiter} }

// ControlPlane is the other name of Master.
const ControlPlane Role = "control-plane"

// Parse reads a role from the command line; the error names the roles there are.
func Parse(s string) (Role, error) {
	if s == string(ControlPlane) {
		return Master, nil
	}
	var names []string
	for _, r := range All() {
		if s == string(r) {
			return r, nil
		}
		names = append(names, string(r))
	}
	return "", fmt.Errorf("role %q is not one of: %s", s, strings.Join(names, ", "))
}
