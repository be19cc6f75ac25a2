package artifact

import (
	"strings"
	"testing"
)

var digest = strings.Repeat("0a", 32)

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		url, local        string
		compressed, qcow2 bool
	}{
		{url: "https://images.example.com/os.raw"},
		{url: "http://192.0.2.1:8080/a/os.raw.gz?token=secret", compressed: true},
		{url: "https://[2001:db8::1]/os.qcow2", qcow2: true},
		{url: "https://images.example.com/os.qcow2.gz", compressed: true, qcow2: true},
		{url: "file:///srv/os.raw", local: "/srv/os.raw"},
		{url: "file://localhost/srv/a%20b", local: "/srv/a b"},
		{url: "https://images.example.com/odd@sha256:name"},
	} {
		a, err := Parse(tt.url + "@sha256:" + strings.ToUpper(digest))
		if err != nil || a.URL != tt.url || a.SHA256 != digest || a.Local() != tt.local ||
			a.Compressed() != tt.compressed || a.QCOW2() != tt.qcow2 {
			t.Errorf("%s: %+v, local %q, compressed %v, qcow2 %v, %v", tt.url, a, a.Local(), a.Compressed(), a.QCOW2(), err)
		}
		if strings.Contains(a.Shown(), "secret") {
			t.Errorf("%s is shown with its query", a.Shown())
		}
	}
}

func TestParse_Findings(t *testing.T) {
	for text, want := range map[string]string{
		"":                           "no digest",
		"https://example.com/os.raw": "no digest",
		"https://example.com/os.raw@sha256:" + digest[1:]:                  "no SHA-256",
		"https://example.com/os.raw@sha256:" + digest + "00":               "no SHA-256",
		"https://example.com/os.raw@sha256:" + digest[2:] + "zz":           "no SHA-256",
		"ftp://example.com/os.raw@sha256:" + digest:                        "no URL of a file",
		"example.com/os.raw@sha256:" + digest:                              "no URL of a file",
		"https:os.raw@sha256:" + digest:                                    "no URL of a file",
		"https:///os.raw@sha256:" + digest:                                 "no host",
		"https://:80/os.raw@sha256:" + digest:                              "no host",
		"https://u:pw@example.com/os.raw@sha256:" + digest:                 "password",
		"https://example.com/os.raw#top@sha256:" + digest:                  "behind #",
		"https://example.com/@sha256:" + digest:                            "names no file",
		"https://example.com@sha256:" + digest:                             "names no file",
		"https://example.com/a/../os.raw@sha256:" + digest:                 "names no file",
		"https://example.com/os raw@sha256:" + digest:                      "%XX",
		"https://example.com/os\n@sha256:" + digest:                        "%XX",
		"https://example.com/%zz@sha256:" + digest:                         "no URL",
		"file://other/os.raw@sha256:" + digest:                             "this machine",
		"file:os.raw@sha256:" + digest:                                     "no URL of a file",
		"https://example.com/os.raw.xz@sha256:" + digest:                   ".xz",
		"https://e.com/" + strings.Repeat("a", 5000) + "@sha256:" + digest: "bytes",
	} {
		if a, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "pw") || a != (Artifact{}) {
			t.Errorf("%.60q: %+v, %v, want %q", text, a, err, want)
		}
	}
}

// FuzzParse holds that what is read is written as what reads as the same, and that nothing in it
// can leave its line.
func FuzzParse(f *testing.F) {
	f.Add("https://example.com/os.raw.gz?x=1@sha256:" + digest)
	f.Add("file:///srv/os.qcow2@sha256:" + digest)
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(a.String()); err != nil || again != a {
			t.Errorf("%q is %+v, and then %+v, %v", text, a, again, err)
		}
		if strings.ContainsAny(a.String(), " \n\r\x00") || len(a.SHA256) != 64 || a.Local() != "" && !strings.HasPrefix(a.Local(), "/") {
			t.Errorf("%q is %+v", text, a)
		}
	})
}
