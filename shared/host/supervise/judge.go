package supervise

// step is what to do about a candidate configuration.
type step int

const (
	keep    step = iota // nothing: what is in force is what is wanted
	test                // ask keepalived what it thinks of it
	forgive             // the candidate is what is in force again: the refusal of another one is history
)

// files are digests; empty means there is none.
type files struct {
	candidate string
	inForce   string
	refused   string // the candidate that was last refused
}

// judge decides. A refused candidate is tested again when retest says so, as what was missing may
// have come: an interface, an address.
func judge(f files, retest bool) step {
	switch {
	case f.candidate == "":
		return keep
	case f.candidate == f.inForce && f.refused != "":
		return forgive
	case f.candidate == f.inForce:
		return keep
	case f.candidate == f.refused && !retest:
		return keep
	default:
		return test
	}
}
