package notice

import (
	"strings"
	"time"
)

// Way is the annotation of a node's own Node object that says how the node speaks VRRP. The node
// itself writes it, with its kubelet's credentials.
const Way = "onprem-infra.io/vrrp"

// Intent is what a node says of how it speaks VRRP. The zero Intent says nothing.
type Intent struct {
	Speaks string    // how it speaks now, such as "compat/unicast"
	Knows  string    // how it is going to speak; empty when it speaks as it should
	At     time.Time // when it would begin to, a whole second; zero while something is missing
}

// The words between the parts.
const (
	knows = " knows "
	from  = " from "
)

// Equal compares all of two words.
func (w Intent) Equal(o Intent) bool {
	return w.Speaks == o.Speaks && w.Knows == o.Knows && w.At.Equal(o.At)
}

// EncodeIntent makes the annotation's value.
func EncodeIntent(w Intent) string {
	text := w.Speaks
	if w.Knows != "" {
		text += knows + w.Knows
	}
	if !w.At.IsZero() {
		text += from + w.At.UTC().Format(time.RFC3339)
	}
	return text
}

// ReadIntent reads what EncodeIntent made; every other text says nothing.
func ReadIntent(text string) Intent {
	var w Intent
	rest, at, dated := strings.Cut(text, from)
	if dated {
		var err error
		if w.At, err = time.Parse(time.RFC3339, at); err != nil {
			return Intent{}
		}
		w.At = w.At.UTC()
	}
	w.Speaks, w.Knows, _ = strings.Cut(rest, knows)
	if EncodeIntent(w) != text || !plainWay(w.Speaks) || w.Knows != "" && !plainWay(w.Knows) || dated && w.Knows == "" {
		return Intent{}
	}
	return w
}

// plainWay says whether a text can be the name of a way: a timing profile and a mode.
func plainWay(text string) bool {
	timing, mode, ok := strings.Cut(text, "/")
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	return ok && timing != "" && mode != "" && len(text) <= 64 && strings.Trim(timing, letters) == "" && strings.Trim(mode, letters) == ""
}
