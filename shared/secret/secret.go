// Package secret holds texts that no output may have: they are not printed and cannot be encoded.
package secret

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"unicode"
)

// Text is a secret, such as a password. It prints as a fixed word and refuses to be encoded, so
// that a structure which holds one can be logged, and a document made of it by mistake is an error.
//
// The text is behind a pointer: package fmt does not call the methods of a value in an unexported
// field of another type, and prints a pointer there as a number.
type Text struct{ text *string }

// New is a secret of a text.
func New(text string) Text { return Text{text: &text} }

// Reveal is the text itself. test/laws_secret_test.go lists the files that may call it.
func (t Text) Reveal() string {
	if t.text == nil {
		return ""
	}
	return *t.text
}

// Empty reports whether there is nothing to hide.
func (t Text) Empty() bool { return t.text == nil || *t.text == "" }

// Word reports whether a secret is one word: it has no blank and no control character, by which a
// line of a file or of a command would end within it.
func (t Text) Word() bool {
	return !t.Empty() && !strings.ContainsFunc(t.Reveal(), func(c rune) bool {
		return unicode.IsSpace(c) || unicode.IsControl(c)
	})
}

// hidden stands for every secret, whatever its length.
const hidden = "[hidden]"

// Format prints a secret under any verb.
func (t Text) Format(f fmt.State, _ rune) { _, _ = io.WriteString(f, hidden) }

// String is the fixed word.
func (t Text) String() string { return hidden }

// GoString is the fixed word.
func (t Text) GoString() string { return hidden }

// LogValue is the fixed word.
func (t Text) LogValue() slog.Value { return slog.StringValue(hidden) }

var errEncoded = errors.New("encode a secret: a secret has no place in a document: leave it out")

// MarshalJSON is an error.
func (t Text) MarshalJSON() ([]byte, error) { return nil, errEncoded }

// MarshalText is an error.
func (t Text) MarshalText() ([]byte, error) { return nil, errEncoded }

// MarshalBinary is an error.
func (t Text) MarshalBinary() ([]byte, error) { return nil, errEncoded }

// MarshalYAML is an error.
func (t Text) MarshalYAML() (any, error) { return nil, errEncoded }
