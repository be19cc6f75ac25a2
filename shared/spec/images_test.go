package spec

import (
	"maps"
	"strings"
	"testing"
)

func TestImages(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[string]string
		finding    string
	}{
		{"all and others", `{"keepalivedImage": "r/k@sha256:1", "haproxyImage": "r/h:1", "corednsImage": "c", "baremetalRuntimeCfgImage": "[2001:db8::1]:5000/b", "etcdImage": 7}`,
			map[string]string{KeepalivedImage: "r/k@sha256:1", HAProxyImage: "r/h:1", CoreDNSImage: "c", RuntimeCfgImage: "[2001:db8::1]:5000/b"}, ""},
		{"none", `{}`, map[string]string{}, ""},
		{"wrong type", `{"keepalivedImage": ["r"]}`, nil, `i:1:21: error: keepalivedImage: want a string, got a list: write a string here`},
		{"number", `{"keepalivedImage": 1}`, nil, `i:1:21: error: keepalivedImage: want a string, got a number: put it in quotes`},
		{"empty value", `{"keepalivedImage": ""}`, nil, `i:1:21: error: keepalivedImage: "" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"an option", `{"keepalivedImage": "--privileged"}`, nil, `i:1:21: error: keepalivedImage: "--privileged" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"a specifier", `{"keepalivedImage": "a%n"}`, nil, `i:1:21: error: keepalivedImage: "a%n" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"a list", `["r"]`, nil, `i:1:1: error: document: want a map, got a list: write a map here`},
		{"twice", "{\"keepalivedImage\": \"r\",\n \"keepalivedImage\": \"s\"}", nil, `i:2:2: error: keepalivedImage: stands here and at line 1, column 2: remove one of the two`},
		{"empty", "", nil, `i:1:1: error: document: is empty: write a JSON object of image references; "onprem-infra example" prints one`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			images, findings := ParseImages("i", []byte(tt.text))
			hold(t, tt.text, findings)
			if got := strings.TrimSuffix(lines(findings), "\n"); got != tt.finding {
				t.Errorf("got\n%s\nwant\n%s", got, tt.finding)
			}
			if !maps.Equal(images, tt.want) {
				t.Errorf("got %v, want %v", images, tt.want)
			}
		})
	}
}
