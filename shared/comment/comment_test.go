package comment

import "testing"

// TestText holds that no character which a daemon takes for the end of a line is left.
func TestText(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "",
		"made by onprem-infra":      "made by onprem-infra",
		"ümläut, 雪":                 "ümläut, 雪",
		"one\nbind *:22":            "onebind *:22",
		"one\r\ntwo\vthree\ffour":   "onetwothreefour",
		"\ttab\x00zero\x7fdelete":   "tabzerodelete",
		"next line\u0085, C1\u009b": "next line, C1",
	} {
		if got := Text(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}
