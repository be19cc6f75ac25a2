package spoken

import (
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/speak"
)

// Use is what a router does with a host's path to a VIP, as far as what it reports to the host
// shows: a router reports the one path that it prefers (RFC 4271, 9.2), and not each one does so to
// hosts whose number is in that path.
type Use string

// The uses.
const (
	UseUnknown Use = "unknown" // it reports no path, or several
	UseFirst   Use = "first"   // it reports this host's own one
	UseEqual   Use = "equal"   // it reports another one of the same length, and may use both
	UseBehind  Use = "behind"  // it reports a shorter one
	// UseNone means that it reports a longer one: it does not have this host's, or refuses it.
	UseNone Use = "none"
)

// Use is what a router does with the path that this host announces to it.
func (v VIP) Use(session string) Use {
	if v.Phase != speak.Announced && v.Phase != speak.Demoted {
		return UseUnknown
	}
	if slices.Contains(v.Own, session) {
		return UseFirst
	}
	var lengths []int
	for _, o := range v.Others {
		if o.Session == session {
			lengths = append(lengths, o.Length)
		}
	}
	if len(lengths) == 0 {
		return UseUnknown
	}
	// The host's own path has its number once, and once more per grade; a path that a router
	// reports begins with the router's number.
	switch best, own := slices.Min(lengths), int(v.Grade)+2; {
	case best < own:
		return UseBehind
	case best == own:
		return UseEqual
	case len(lengths) > 1:
		return UseUnknown // it reports more than the one that it prefers (RFC 7911)
	}
	return UseNone
}
