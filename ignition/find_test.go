package ignition

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/asset"
)

func TestFind(t *testing.T) {
	document, err := Encode(set(t, []asset.File{{Path: "/etc/a", Mode: 0o600, Contents: []byte{
		0, 0xff, '\n',
	}}, {Path: "/etc/b", Mode: 0o600}}, nil))
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"/etc/a": "\x00\xff\n", "/etc/b": ""} {
		if got, found, err := Find(document, path); string(got) != want || !found || err != nil {
			t.Errorf("%s holds %q, %t, %v", path, got, found, err)
		}
	}
	for _, nothing := range []string{
		string(document), "", "a", `[]`, `{"kind":"List"}`, `{"storage":7}`,
	} {
		if got, found, err := Find([]byte(nothing), "/etc/c"); got != nil || found || err != nil {
			t.Errorf("%.20q holds %q, %t, %v", nothing, got, found, err)
		}
	}
	at := func(contents string) string {
		return `{"ignition":{"version":"3.2.0"},"storage":{"files":[{"path":"/etc/a","contents":` + contents + `}]}}`
	}
	for what, document := range map[string]string{
		"compressed":    at(`{"source":"data:;base64,AAAA","compression":"gzip"}`),
		"elsewhere":     at(`{"source":"https://example.com/a"}`),
		"without any":   at(`{}`),
		"not in base64": at(`{"source":"data:;base64,!"}`),
	} {
		if got, found, err := Find([]byte(document), "/etc/a"); got != nil || found || err == nil ||
			!strings.HasPrefix(err.Error(), "read ") {
			t.Errorf("%s holds %q, %t, %v", what, got, found, err)
		}
	}
}
