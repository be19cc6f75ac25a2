package frr

import (
	"fmt"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/secret"
)

// Line is one command of a configuration.
type Line struct {
	Text   string
	Secret secret.Text // the last word, if that is one
	// Key is the setting, of which a section has one line at most. If Text begins with it, a new
	// value replaces the former one; if not, the former line has to be undone first.
	Key string
	// No undoes the line; empty for "no" and its text.
	No string
	// Then are commands that follow the line each time it is made, and are no part of the text.
	Then []string
}

// Section is a part of a configuration: lines that have a meaning in one place.
type Section struct {
	Name  string   // identifies the section in other configurations too
	Enter []string // the commands that lead there from the configuration's top; none for the top
	Lines []Line
	Gone  string // the command that removes the section as a whole, at the top; empty for none
}

// String is the line for people: without its secret.
func (l Line) String() string {
	if l.Secret.Empty() {
		return l.Text
	}
	return l.Text + " " + l.Secret.String()
}

func (l Line) reveal() string {
	if l.Secret.Empty() {
		return l.Text
	}
	return l.Text + " " + l.Secret.Reveal()
}

// undo is the command that removes the line. No secret is needed for that.
func (l Line) undo() string {
	if l.No != "" {
		return l.No
	}
	return "no " + l.Text
}

// line is a line of a setting with a value.
func line(key string, value ...any) Line {
	text := key
	for _, v := range value {
		text += " " + fmt.Sprint(v)
	}
	return Line{Text: text, Key: key}
}

// Render is the configuration of all daemons as text, as FRR itself writes such, without secrets.
// Equal values give equal bytes.
func Render(c Config) []byte {
	var text strings.Builder
	for _, d := range Daemons() {
		fmt.Fprintf(&text, "! %s\n", d)
		for _, s := range c.Sections(d) {
			indent := ""
			for _, enter := range s.Enter {
				fmt.Fprintf(&text, "%s%s\n", indent, enter)
				indent += " "
			}
			for _, l := range s.Lines {
				fmt.Fprintf(&text, "%s%s\n", indent, l)
			}
			for range s.Enter {
				indent = indent[1:]
				fmt.Fprintf(&text, "%sexit\n", indent)
			}
		}
	}
	return []byte(text.String())
}
