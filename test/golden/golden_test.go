package golden

import (
	"fmt"
	"slices"
	"testing"
)

// recorder is a test that only remembers what was wrong.
type recorder struct {
	testing.TB
	wrong []string
}

func (r *recorder) Helper() {}

func (r *recorder) Errorf(format string, args ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf(format, args...))
}

func TestCheck(t *testing.T) {
	t.Run("subtest", func(t *testing.T) {
		Check(t, []byte("as it was\n"))
		if *update {
			return // what comes now would be written
		}
		r := &recorder{TB: t}
		Check(r, []byte("as it is\n"))
		want := []string{"testdata/TestCheck-subtest.golden: got\nas it is\n\nwant\nas it was\n"}
		if !slices.Equal(r.wrong, want) {
			t.Errorf("got %q, want %q", r.wrong, want)
		}
	})
}

func TestEachLineCounts(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		data       []any
		want       []string
	}{
		{name: "every line is seen", text: "a {{ .A }}\n{{ if .B }}\nb\n{{ end }}\n", data: []any{map[string]bool{}, map[string]bool{"B": true}}},
		{name: "a branch that no data takes", text: "a\n{{ if .B -}}\nb\n{{ end -}}\n", data: []any{map[string]bool{}},
			want: []string{`without line 3 nothing changes: "b\n"`}},
		{name: "a comment", text: "a\n{{/* b */ -}}\n", data: []any{nil}, want: []string{`without line 2 nothing changes: "{{/* b */ -}}\n"`}},
		{name: "no data", text: "a\n", want: []string{`without line 1 nothing changes: "a\n"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := &recorder{TB: t}
			EachLineCounts(r, tt.text, tt.data...)
			if !slices.Equal(r.wrong, tt.want) {
				t.Errorf("got %q, want %q", r.wrong, tt.want)
			}
		})
	}
}

func TestShape(t *testing.T) {
	want := Shape([]byte("# a\n\na {\n\tb c\n}\n"))
	for _, tt := range []struct {
		name, text string
		other      bool
	}{
		{name: "other values and another comment", text: "# b c\n\na {\n\tb d\n}\n"},
		{name: "a value of two words", text: "# a\n\na {\n\tb c d\n}\n", other: true},
		{name: "a value that opens a block", text: "# a\n\na {\n\tb {\n}\n", other: true},
		{name: "another key", text: "# a\n\na {\n\tc c\n}\n", other: true},
		{name: "one more line", text: "# a\nb\n\na {\n\tb c\n}\n", other: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := Shape([]byte(tt.text)); slices.Equal(got, want) == tt.other {
				t.Errorf("got %q beside %q", got, want)
			}
		})
	}
}
