// Package comment keeps text inside a comment of a configuration file.
package comment

import (
	"strings"
	"unicode"
)

// Text drops the control characters of a text: one of them would end the comment, and what follows
// would be configuration.
func Text(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return -1
		}
		return r
	}, text)
}
