// Package role names the kinds of host that onprem-infra serves and reads them from the command line.
package role

import "fmt"

// Role is one kind of host.
type Role string

// The roles whose assets exist.
const (
	Bootstrap Role = "bootstrap" // the temporary machine that holds the API VIP first
)

// All lists every role in the order in which help texts show them.
func All() []Role { return []Role{Bootstrap} }

// Parse reads a role from the command line; the error names the roles there are.
func Parse(s string) (Role, error) {
	for _, r := range All() {
		if s == string(r) {
			return r, nil
		}
	}
	return "", fmt.Errorf("role %q is not one of %v", s, All())
}
