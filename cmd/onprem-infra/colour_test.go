package main

import (
	"bytes"
	"testing"
)

func TestHighlighted(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"OK: all is well\n", "\x1b[32mOK\x1b[0m: all is well\n"},
		{"DOWN: no host answers\n  also: DOWN here\n", "\x1b[1;31mDOWN\x1b[0m: no host answers\n  also: DOWN here\n"},
		{"reboot      FAIL  10\napi-crash   ok    20\n", "reboot      \x1b[1;31mFAIL\x1b[0m  10\napi-crash   \x1b[32mok\x1b[0m    20\n"},
		{"the holder is ok now\n", "the holder is ok now\n"},
	} {
		if got := highlighted(tt.text); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
	if text := "FAIL: 1\n"; coloured(&bytes.Buffer{}, text) != text {
		t.Error("colours in a file")
	}
}
