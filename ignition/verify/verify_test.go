package verify

import (
	"strings"
	"testing"
)

func TestDocument(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"a pointer", `{"ignition":{"version":"3.2.0","config":{"merge":[{"source":"https://192.0.2.5:22623/config/master"}]}}}`, ""},
		{"the oldest version", `{"ignition":{"version":"3.0.0"}}`, ""},
		{"the newest version", `{"ignition":{"version":"3.5.0"}}`, ""},
		{"a field of no version is a remark of Ignition's alone", `{"ignition":{"version":"3.2.0"},"other":1}`, ""},
		{"empty", "", "it is empty"},
		{"version 2", `{"ignition":{"version":"2.2.0"}}`, "its version is not one of"},
		{"an unstable version", `{"ignition":{"version":"3.6.0-experimental"}}`, "its version is not one of"},
		{"no version", `{}`, "it is refused"},
		{"YAML", "ignition: {version: 3.2.0}", "it is refused"},
		{"cut off", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/p4ss","contents":{"sou`, "it is refused"},
		{"a relative path", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"p4ss"}]}}`, "at $.storage.files.0.path (line 1, column "},
		{"a URL that is none", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","contents":{"source":"ftp2://u:p4ss@h/"}}]}}`, "at $.storage.files.0"},
		{"a text for a number", `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/a","mode":"p4ss"}]}}`, "it is refused"},
		{"many faults", `{"ignition":{"version":"3.2.0"},"storage":{"files":[` + strings.Repeat(`{"path":"p4ss"},`, 9) + `{"path":"x"}]}}`, " and "},
	} {
		err := Document([]byte(tt.text))
		if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
		if err != nil && (strings.Contains(err.Error(), "p4ss") || len(err.Error()) > 600) {
			t.Errorf("%s: it repeats the document: %v", tt.name, err)
		}
	}
}

// FuzzDocument holds for any text: no panic, and no word of the text in the error.
func FuzzDocument(f *testing.F) {
	f.Add([]byte(`{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"QQQQ"}]}}`))
	f.Add([]byte(`{"ignition":{"version":"3.5.0","config":{"merge":[{"source":"QQQQ"}]}}}`))
	f.Add([]byte(`{"ignition":{"version":"QQQQ"}}`))
	f.Add([]byte("\x00"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if err := Document(text); err != nil && strings.Contains(err.Error(), "QQQQ") {
			t.Errorf("it repeats the document: %v", err)
		}
	})
}
