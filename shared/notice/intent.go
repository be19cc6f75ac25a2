package notice

import (
	"slices"
	"strings"
	"time"
)

// Way is the annotation of a node's own Node object that holds its Intent. The node itself writes
// it, with its kubelet's credentials.
const Way = "onprem-infra.io/vrrp"

// Intent is a node's VRRP timing and mode, and its planned change. The zero Intent is unknown.
type Intent struct {
	Speaks string    // the way now, such as "compat/unicast"
	Knows  string    // the way to come; empty if there is none
	At     time.Time // when to change, a whole second; zero while something is missing
}

// The words between the parts.
const (
	knows = " knows "
	from  = " from "
)

// Equal compares all of two intents.
func (i Intent) Equal(o Intent) bool {
	return i.Speaks == o.Speaks && i.Knows == o.Knows && i.At.Equal(o.At)
}

// EncodeIntent makes the annotation's value.
func EncodeIntent(i Intent) string {
	text := i.Speaks
	if i.Knows != "" {
		text += knows + i.Knows
	}
	if !i.At.IsZero() {
		text += from + i.At.UTC().Format(time.RFC3339)
	}
	return text
}

// ReadIntent reads what EncodeIntent made; every other text is the zero Intent.
func ReadIntent(text string) Intent {
	var i Intent
	rest, at, dated := strings.Cut(text, from)
	if dated {
		var err error
		if i.At, err = time.Parse(time.RFC3339, at); err != nil {
			return Intent{}
		}
		i.At = i.At.UTC()
	}
	i.Speaks, i.Knows, _ = strings.Cut(rest, knows)
	if EncodeIntent(i) != text || !plainWay(i.Speaks) || i.Knows != "" && !plainWay(i.Knows) ||
		dated && i.Knows == "" {
		return Intent{}
	}
	return i
}

// plainWay reports whether a text can be the name of a way: a timing profile and a mode, and what
// there is beside VRRP.
func plainWay(text string) bool {
	parts := strings.Split(text, "/")
	return (len(parts) == 2 || len(parts) == 3) && len(text) <= 64 &&
		!slices.Contains(parts, "") && strings.Trim(strings.Join(parts, ""), letters) == ""
}
