package plan

import (
	"strings"
	"testing"
)

// TestParse_InverseOfEncode holds that a host's file gives the plan that wrote it, and that a file
// which is wrong gives none.
func TestParse_InverseOfEncode(t *testing.T) {
	text := Encode(mustCompile(t, fullest()))
	got, err := Parse(Path, text)
	if err != nil {
		t.Fatal(err)
	}
	if again := Encode(got); string(again) != string(text) {
		t.Errorf("it gives\n%s\nwant\n%s", again, text)
	}
	wrong := strings.Replace(string(text), `"families"`, `"famlies"`, 1)
	want := "spec.famlies: there is no such field: spell it families where that is meant"
	if p, err := Parse(Path, []byte(wrong)); err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("a wrong file gives %+v, %v", p, err)
	}
}
