package script

import (
	"reflect"
	"strings"
	"testing"
	"time"
)

var plain = Grammar{Kinds: []Kind{"cut", "loss"}, Hidden: []Kind{"spoil"}, Longest: time.Hour, Amounts: 1000}

// TestParse holds which words of a text are read, and that an error has its line, also that of a line
// which is too long.
func TestParse(t *testing.T) {
	marked := Grammar{Kinds: plain.Kinds, Longest: time.Hour, Marks: true, Check: func(f Fault) error {
		if f.For == 0 {
			return errEndless
		}
		return nil
	}}
	for _, tt := range []struct {
		grammar    Grammar
		text, want string // what is written then, or a part of the error
	}{
		{plain, "# none\n\n  length   20s # c\nseed 7#e\n\t# \n2s cut  a for 1500ms\n1.5s loss b 20\n", "seed 7\nlength 20s\n1.5s loss b 20\n2s cut a for 1.5s\n"},
		{plain, "length 1s\n0s spoil a/b", "seed 0\nlength 1s\n0s spoil a/b\n"},
		{marked, "seed 18446744073709551615\nx:y+1s cut a for 2s\n+3s loss b for 1s", "seed 18446744073709551615\nx:y+1s cut a for 2s\n3s loss b for 1s\n"},
		{plain, "seed 1\n", "read schedule: its length is 0s: specify one of at most 1h0m0s, as in: length 20s"},
		{plain, "length 2h", "length is 2h"},
		{plain, "length -1s", "length is -1s"},
		{plain, "length 1s\nseed -1", "read schedule, line 2: "},
		{plain, "length 1s\nseed 1 2", `line 2: time: invalid duration "seed"`},
		{plain, "\nlength 1s\n\n1s cut", `line 4: "1s cut" is not TIME KIND NAME [AMOUNT] [for TIME]`},
		{marked, "1s cut", `is not [AFTER+]TIME KIND NAME [for TIME]`},
		{marked, "length 1s", `is not [AFTER+]TIME`},
		{marked, "x+1s cut a", errEndless.Error()},
		{marked, "1s cut a 5", `"5": nothing is known of that; a line is [AFTER+]TIME`},
		{plain, "length 1s\n1s explode a", `there is no fault "explode": choose one of [cut loss]`},
		{plain, "length 1s\nsoon cut a", "line 2"},
		{plain, "length 1s\n1s loss a much", "line 2"},
		{plain, "length 1s\n1s loss a 5 for long", "line 2"},
		{plain, "length 1s\n1s loss a 5 for", "nothing is known of that"},
		{plain, "length 1s\n1s loss a 1001", "amounts are from 0 to 1000"},
		{plain, "length 1s\n1s loss a -1", "amounts are from 0 to 1000"},
		{plain, "length 1s\n-1s cut a", "times are from 0 to 1h"},
		{plain, "length 1s\n1s cut a for 2h", "times are from 0 to 1h"},
		{plain, strings.Repeat("x", 1<<17), "read schedule: "},
	} {
		s, err := tt.grammar.Parse(tt.text)
		switch {
		case err == nil && s.String() != tt.want:
			t.Errorf("%.40q was read as\n%s", tt.text, s)
		case err != nil && (!strings.Contains(err.Error(), tt.want) || !reflect.DeepEqual(s, Schedule{})):
			t.Errorf("%.40q: %v, want %q", tt.text, err, tt.want)
		}
	}
}

type refusal string

func (r refusal) Error() string { return string(r) }

const errEndless refusal = "it has to end"

func FuzzParse(f *testing.F) {
	f.Add("seed 7\nlength 20s\n1.5s loss master-0 20 for 3s\n")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := plain.Parse(text)
		if err != nil {
			return
		}
		again, err := plain.Parse(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%v\n%swas read as\n%s", err, s, again)
		}
	})
}
