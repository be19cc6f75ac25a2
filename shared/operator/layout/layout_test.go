package layout

import (
	"strings"
	"testing"
)

func TestOf(t *testing.T) {
	for columns, want := range map[int]Width{0: 100, 20: 60, 80: 80, 120: 120, 400: 160} {
		if got := Of(columns); got != want {
			t.Errorf("a terminal of %d columns: %d, want %d", columns, got, want)
		}
	}
}

func TestFill(t *testing.T) {
	word := strings.Repeat("x", 60)
	for _, tt := range []struct{ text, want string }{
		{"", ""},
		{"one\ntwo", "one two"},
		{"one\n\ntwo", "one\n\ntwo"},
		{word + " " + word, word + "\n" + word},
		{"one:\n  a   b\n  c\ntwo", "one:\n  a   b\n  c\ntwo"},
	} {
		if got := usual.Fill(tt.text); got != tt.want {
			t.Errorf("Fill(%q) is %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestNarrow(t *testing.T) {
	word := strings.Repeat("x", 60)
	for text, want := range map[string]string{
		"":                              "",
		"short  with  gaps\n":           "short  with  gaps\n",
		word + " " + word + "\n":        word + "\n    " + word + "\n",
		"  " + word + " " + word + "\n": "  " + word + "\n      " + word + "\n",
		"one\n" + word + " " + word:     "one\n" + word + "\n    " + word + "\n",
	} {
		if got := usual.Narrow(text); got != want {
			t.Errorf("Narrow(%q) is %q, want %q", text, got, want)
		}
	}
}

// TestClean holds that a text from outside stays in its line and moves no cursor.
func TestClean(t *testing.T) {
	for text, want := range map[string]string{"a  b\n\tc": "a b c", "\x1b[2Jx\r": "[2Jx", "é\xff": "é?", "\u202eabc": "abc", "": ""} {
		if got := Clean(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
