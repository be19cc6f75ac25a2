package openshift

import (
	"fmt"
	"strings"
)

// Text is a stand-in for the unit, with its dependencies and condition and a program that exits.
func (u Unit) Text() string {
	var b strings.Builder
	b.WriteString("[Unit]\n")
	for _, key := range []struct{ name, value string }{
		{"After", u.After}, {"Before", u.Before}, {"Wants", u.Wants}, {"Requires", u.Requires},
		{"PartOf", u.PartOf},
	} {
		if key.value != "" {
			fmt.Fprintf(&b, "%s=%s\n", key.name, key.value)
		}
	}
	if u.When != "" {
		b.WriteString(u.When + "\n")
	}
	if u.DropIn {
		return b.String()
	}
	switch {
	case strings.HasSuffix(u.Name, ".service"):
		b.WriteString("[Service]\nType=oneshot\n")
		if u.Stays {
			b.WriteString("RemainAfterExit=yes\n")
		}
		b.WriteString("ExecStart=/bin/true\n")
	case strings.HasSuffix(u.Name, ".path"):
		b.WriteString("[Path]\nPathModified=/run/NetworkManager/resolv.conf\n")
	}
	if u.WantedBy+u.RequiredBy != "" {
		fmt.Fprintf(&b, "[Install]\nWantedBy=%s\nRequiredBy=%s\n", u.WantedBy, u.RequiredBy)
	}
	return b.String()
}

// Enabled reports whether the operator or the system enables the unit.
func (u Unit) Enabled() bool { return u.WantedBy+u.RequiredBy != "" }
