package announcing

import (
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// UnknownPeers is the error for passwords of routers that no rack has.
type UnknownPeers struct{ Names []string }

func (e UnknownPeers) Error() string {
	return fmt.Sprintf("no rack of bgp.racks has a router %s: write the address or the interface "+
		"by which bgp.racks names it, or remove the line", strings.Join(e.Names, ", "))
}

// CheckPasswords checks the text of a file of passwords, see spoken.Passwords, for the routers of a
// plan. The error is an UnknownPeers if only that is wrong. No error has a password.
func CheckPasswords(p routed.Plan, text string) error {
	all, err := spoken.Passwords(text)
	if err != nil {
		return err
	}
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(all)) {
		may := func(r routed.Rack) bool { return mayHave(r, name) }
		if swapped(p, name, all[name].Reveal()) {
			unknown = append(unknown, hidden)
		} else if !slices.ContainsFunc(p.Racks, may) {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) > 0 {
		return UnknownPeers{Names: unknown}
	}
	return twice(text)
}

// twice is the error for a router with two lines. It does not name the router: what stands first
// in a line may be the password.
func twice(text string) error {
	lines, err := spoken.PasswordLines(text)
	if err != nil {
		return err
	}
	first := map[string]int{}
	for _, l := range lines {
		if first[l.Peer] != 0 {
			return fmt.Errorf("line %d: it is of the same router as line %d, and hosts take the "+
				"last one: remove one of the two", l.Number, first[l.Peer])
		}
		first[l.Peer] = l.Number
	}
	return nil
}

// hidden is in the place of a name that may be a password.
const hidden = "[hidden: its line seems to have the password first]"

// swapped reports whether a line seems to have the password first: its name is neither an address
// nor a router that a rack names, and its password is one of the two.
func swapped(p routed.Plan, name, password string) bool {
	router := func(text string) bool {
		_, err := netip.ParseAddr(text)
		return err == nil ||
			slices.ContainsFunc(p.Racks, func(r routed.Rack) bool { return namesPeer(r, text) })
	}
	return !router(name) && router(password)
}

// mayHave reports whether a host of a rack may have a session with the router of a name. Gateways
// are known on the host alone: by an address in its network, or by its interface.
func mayHave(r routed.Rack, name string) bool {
	if len(r.Peers) > 0 {
		return namesPeer(r, name)
	}
	a, err := netip.ParseAddr(name)
	return err != nil || !r.Network.IsValid() || r.Network.Contains(a)
}

// namesPeer reports whether a rack names a router of that name.
func namesPeer(r routed.Rack, name string) bool {
	return slices.ContainsFunc(r.Peers, func(p routed.Peer) bool { return p.Name() == name })
}

// PasswordsOf is the text of the file with the passwords of a description, by the addresses of
// routers; nil without one.
func PasswordsOf(r spec.Routing) []byte {
	var text []byte
	for _, a := range slices.SortedFunc(maps.Keys(r.Passwords), netip.Addr.Compare) {
		text = fmt.Appendf(text, "%s %s\n", a, r.Passwords[a].Reveal())
	}
	return text
}
