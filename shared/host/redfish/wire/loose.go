package wire

import (
	"encoding/json"
	"strconv"
	"strings"
	"unicode"
)

// Loose is a value of a document. Another type than the standard's leaves it empty: BMCs write
// numbers as texts, texts as null, and lists as objects.
type Loose[T any] struct{ V T }

// UnmarshalJSON implements json.Unmarshaler.
func (l *Loose[T]) UnmarshalJSON(b []byte) error {
	var v T
	if json.Unmarshal(b, &v) == nil {
		l.V = v
	}
	return nil
}

// List is a list whose members of another type are left out.
type List[T any] []T

// UnmarshalJSON implements json.Unmarshaler.
func (l *List[T]) UnmarshalJSON(b []byte) error {
	var all []json.RawMessage
	if json.Unmarshal(b, &all) != nil {
		return nil
	}
	for _, raw := range all {
		var v T
		if json.Unmarshal(raw, &v) == nil {
			*l = append(*l, v)
		}
	}
	return nil
}

// longest is how much of a text is kept.
const longest = 200

// Text is a text of a BMC, fit for a terminal.
type Text string

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if json.Unmarshal(b, &s) != nil {
		var n json.Number
		if json.Unmarshal(b, &n) != nil {
			return nil
		}
		s = n.String()
	}
	*t = Text(Printable(s))
	return nil
}

// Printable is a text from outside without control characters, and not longer than a line.
func Printable(s string) string {
	s = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	if runes := []rune(s); len(runes) > longest {
		s = string(runes[:longest]) + "..."
	}
	return strings.TrimSpace(s)
}

// Number is a number, also one that is written as a text.
type Number float64

// UnmarshalJSON implements json.Unmarshaler.
func (n *Number) UnmarshalJSON(b []byte) error {
	f, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && f >= 0 && f < 1<<62 {
		*n = Number(f)
	}
	return nil
}

// Link is a reference to another document.
type Link struct {
	Path Path `json:"@odata.id"`
}

// Path is a document's path. It is no text, which would be shortened.
type Path string

// UnmarshalJSON implements json.Unmarshaler.
func (p *Path) UnmarshalJSON(b []byte) error {
	var l Loose[string]
	_ = l.UnmarshalJSON(b) // reports no error
	*p = Path(l.V)
	return nil
}
