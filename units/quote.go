package units

import (
	"fmt"
	"strings"
)

// quote writes one word of a list such as Environment=, so that systemd reads back exactly s: in
// double quotes with C escapes (systemd.syntax(7)), the specifier sign doubled (systemd.unit(5)).
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c == '%':
			b.WriteString("%%")
		case c < ' ' || c == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
