package progress

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"
)

func TestLine(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out strings.Builder
		l := Start(&out, "looking")
		l.Step("looking at %d of %d", 1, 2)
		time.Sleep(2500 * time.Millisecond)
		l.Keep("first: nothing\n")
		l.Step("%s", strings.Repeat("ä", 200))
		time.Sleep(time.Second)
		l.Done()
		drawn := strings.Split(out.String(), erase)
		want := []string{
			"", "looking (0 s)", "looking at 1 of 2 (0 s)", "looking at 1 of 2 (1 s)",
			"looking at 1 of 2 (2 s)", "first: nothing\n", "looking at 1 of 2 (2 s)",
		}
		for i, w := range want {
			if i >= len(drawn) || drawn[i] != w {
				t.Fatalf("drew %q, want %q", drawn, want)
			}
		}
		if last := drawn[len(drawn)-1]; last != "" {
			t.Errorf("%q stays", last)
		}
		for _, line := range drawn {
			if n := utf8.RuneCountInString(line); n > width {
				t.Errorf("%d columns: %q", n, line)
			}
		}
	})
}

func TestLine_Nil(*testing.T) {
	var l *Line
	l.Step("x")
	l.Keep("x")
	l.Done()
}
