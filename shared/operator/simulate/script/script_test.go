package script

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestRead holds which words of a text are read, and that an error has its line, also that of a line
// which is too long.
func TestRead(t *testing.T) {
	var got []string
	if err := Read("# none\n\n  a  b # c\nd#e\n\t# \nf", func(words []string) error {
		got = append(got, fmt.Sprint(words))
		return nil
	}); err != nil || strings.Join(got, "") != "[a b][d][f]" {
		t.Errorf("%v, %v", got, err)
	}
	refused := errors.New("refused")
	err := Read("\na\nb\n", func(words []string) error {
		if words[0] == "b" {
			return refused
		}
		return nil
	})
	if !errors.Is(err, refused) || err.Error() != "read schedule, line 3: refused" {
		t.Errorf("%v", err)
	}
	if err := Read(strings.Repeat("x", 1<<17), func([]string) error { return nil }); err == nil || !strings.HasPrefix(err.Error(), "read schedule: ") {
		t.Errorf("a line of 128 KiB: %v", err)
	}
}

func TestSeed(t *testing.T) {
	for _, tt := range []struct {
		words     string
		ok, fails bool
		seed      uint64
	}{
		{"seed 18446744073709551615", true, false, 1<<64 - 1},
		{"seed -1", true, true, 0},
		{"seed", false, false, 7},
		{"seed 1 2", false, false, 7},
		{"length 20s", false, false, 7},
	} {
		seed := uint64(7)
		if ok, err := Seed(strings.Fields(tt.words), &seed); ok != tt.ok || (err != nil) != tt.fails || seed != tt.seed {
			t.Errorf("%s: %t, %v, %d", tt.words, ok, err, seed)
		}
	}
}
