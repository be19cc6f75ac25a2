package spec

import (
	"maps"
	"strings"
	"testing"
)

const digest = "4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0"

func noReference(image string) string {
	return `i:1:21: error: keepalivedImage: "` + image + `" is no image reference: write one such as registry.example.com/name@sha256:…`
}

func TestImages(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       map[string]string
		finding    string
	}{
		{"all and others", `{"keepalivedImage": "r/k@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0", "haproxyImage": "r/h:1", "corednsImage": "c", "baremetalRuntimeCfgImage": "[2001:db8::1]:5000/b", "etcdImage": 7}`,
			map[string]string{KeepalivedImage: "r/k@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c017679853f91648c0", HAProxyImage: "r/h:1", CoreDNSImage: "c", RuntimeCfgImage: "[2001:db8::1]:5000/b"}, ""},
		{"none", `{}`, map[string]string{}, ""},
		{"wrong type", `{"keepalivedImage": ["r"]}`, nil, `i:1:21: error: keepalivedImage: want a string, got a list: write a string here`},
		{"number", `{"keepalivedImage": 1}`, nil, `i:1:21: error: keepalivedImage: want a string, got a number: put it in quotes`},
		{"empty value", `{"keepalivedImage": ""}`, nil, `i:1:21: error: keepalivedImage: "" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"an option", `{"keepalivedImage": "--privileged"}`, nil, `i:1:21: error: keepalivedImage: "--privileged" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"a specifier", `{"keepalivedImage": "a%n"}`, nil, `i:1:21: error: keepalivedImage: "a%n" is no image reference: write one such as registry.example.com/name@sha256:…`},
		{"empty path, tag and port", `{"keepalivedImage": "a//b::"}`, nil, noReference("a//b::")},
		{"digest that is none", `{"keepalivedImage": "x@sha256:zz"}`, nil, noReference("x@sha256:zz")},
		{"digest too short", `{"keepalivedImage": "x@sha256:0123"}`, nil, noReference("x@sha256:0123")},
		{"path in upper case", `{"keepalivedImage": "Registry.Example.com/A:tag"}`, nil, noReference("Registry.Example.com/A:tag")},
		{"tag of 129 characters", `{"keepalivedImage": "a:` + strings.Repeat("b", 129) + `"}`, nil, noReference("a:" + strings.Repeat("b", 58) + "…")},
		{"tag of 128 characters", `{"keepalivedImage": "a:` + strings.Repeat("b", 128) + `"}`, map[string]string{KeepalivedImage: "a:" + strings.Repeat("b", 128)}, ""},
		{"name of 256 characters", `{"keepalivedImage": "r:5000/` + strings.Repeat("b", 249) + `:1"}`, nil,
			`i:1:21: error: keepalivedImage: "r:5000/` + strings.Repeat("b", 53) + `…" has a name of 256 characters and container engines read 255: shorten it`},
		{"name of 255 characters", `{"keepalivedImage": "r:5000/` + strings.Repeat("b", 248) + `@sha256:` + digest + `"}`,
			map[string]string{KeepalivedImage: "r:5000/" + strings.Repeat("b", 248) + "@sha256:" + digest}, ""},
		{"tag alone", `{"keepalivedImage": ":tag"}`, nil, noReference(":tag")},
		{"slash at the end", `{"keepalivedImage": "registry.example.com/"}`, nil, noReference("registry.example.com/")},
		{"tag after the digest", `{"keepalivedImage": "a@sha256:` + digest + `:tag"}`, nil, noReference("a@sha256:4f881a1a3db524da61c27dd0708e61439261cc0a3ff518c0176…")},
		{"local", `{"keepalivedImage": "localhost/keepalived:chain", "corednsImage": "localhost/onprem-infra:v1-dirty"}`,
			map[string]string{KeepalivedImage: "localhost/keepalived:chain", CoreDNSImage: "localhost/onprem-infra:v1-dirty"}, ""},
		{"host in upper case, port, separators", `{"keepalivedImage": "Registry.example.com:5000/a_b/c__d/e--f.g@sha256:` + digest + `"}`,
			map[string]string{KeepalivedImage: "Registry.example.com:5000/a_b/c__d/e--f.g@sha256:" + digest}, ""},
		{"tag and digest", `{"keepalivedImage": "a/b:V1.0_x@sha256:` + digest + `"}`, map[string]string{KeepalivedImage: "a/b:V1.0_x@sha256:" + digest}, ""},
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
