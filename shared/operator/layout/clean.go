package layout

import (
	"strings"
	"unicode"
)

// Clean is a text from outside in one line that cannot move a terminal's cursor.
func Clean(text string) string {
	return strings.Join(strings.FieldsFunc(strings.ToValidUTF8(text, "?"), func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
}
