package wire

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
)

// TestLoose holds what becomes of values that have another type than the standard's.
func TestLoose(t *testing.T) {
	type values struct {
		T Text
		N Number
		L List[Text]
		B Loose[bool]
		P Loose[Link]
	}
	long := strings.Repeat("x", 300)
	for document, want := range map[string]values{
		`{"T":"a","N":1.5,"L":["a","b"],"B":true,"P":{"@odata.id":"/a"}}`: {T: "a", N: 1.5,
			L: List[Text]{"a", "b"}, B: Loose[bool]{true}, P: Loose[Link]{Link{"/a"}}},
		`{"T":7,"N":"2","L":{"0":"a"},"B":"true","P":"/a"}`:   {T: "7", N: 2},
		`{"T":null,"N":null,"L":null,"B":null,"P":null}`:      {},
		`{"T":{},"N":"x","L":[1,[],"a"],"B":1,"P":[1]}`:       {L: List[Text]{"1", "", "a"}},
		`{"T":"a\u001b[31m\nb","N":-1,"P":{"@odata.id":7}}`:   {T: "a [31m b"},
		`{"T":"` + long + `","N":1e300,"P":{"@odata.id":[]}}`: {T: Text(long[:200] + "...")},
	} {
		var got values
		if err := json.Unmarshal([]byte(document), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %+v (%v), want %+v", document, got, err, want)
		}
	}
}

func TestPinOf(t *testing.T) {
	for pin, want := range map[string]string{"AB:cd": "abcd", " sha256:ab": "ab", "SHA256:AB": "ab"} {
		if got := pinOf(pin); got != want {
			t.Errorf("%q is %q, want %q", pin, got, want)
		}
	}
}
