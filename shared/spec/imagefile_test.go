package spec

import (
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/provisioning/artifact"
)

const file = "https://mirror.example.com:8443/a/os.raw@sha256:" + digest

// TestImageFiles holds which texts name a file with its digest, what a finding about others has to
// be, and that no finding repeats a login or a token.
func TestImageFiles(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"https with a port", file, ""},
		{"http", "http://192.0.2.7/os.qcow2@sha256:" + digest, ""},
		{"IPv6", "http://[fd00::1]:6180/os.raw@sha256:" + digest, ""},
		{"the machine's own disk", "file:///var/images/os.raw@sha256:" + digest, ""},
		{"no digest", "https://mirror.example.com/os.raw", `"https://mirror.example.com/os.raw" has no digest: write @sha256:`},
		{"a digest that is too short", "https://mirror.example.com/os.raw@sha256:0123", "has no SHA-256 digest behind @sha256: write the 64 digits"},
		{"a digest in upper case", "https://mirror.example.com/os.raw@sha256:" + strings.ToUpper(digest), "has no SHA-256 digest"},
		{"another digest", "https://mirror.example.com/os.raw@sha512:" + digest, "has a login in it, or two @"},
		{"the installer's own spelling", "https://mirror.example.com/os.qcow2.gz?sha256=" + digest, "has a ? or a #"},
		{"a token", "https://mirror.example.com/os.raw?token=Pl4nted@sha256:" + digest, "has a ? or a #"},
		{"a login", "https://user:Pl4nted@mirror.example.com/os.raw@sha256:" + digest, "has a login in it, or two @"},
		{"a login without a digest", "https://user:Pl4nted@mirror.example.com/os.raw", "has a login in it, or two @"},
		{"another scheme", "ftp://mirror.example.com/os.raw@sha256:" + digest, "has no scheme http, https or file"},
		{"no scheme", "mirror.example.com/os.raw@sha256:" + digest, "has no scheme http, https or file"},
		{"a container", "registry.example.com/os@sha256:" + digest, "has no scheme http, https or file"},
		{"a file of another host", "file://host/os.raw@sha256:" + digest, "names a host"},
		{"no host", "https:///os.raw@sha256:" + digest, "has no host and port"},
		{"a port that is none", "https://mirror.example.com:70000/os.raw@sha256:" + digest, "has no host and port"},
		{"port 0", "https://mirror.example.com:0/os.raw@sha256:" + digest, "has no host and port"},
		{"no path", "https://mirror.example.com@sha256:" + digest, "has no path of a file"},
		{"a directory", "https://mirror.example.com/os/@sha256:" + digest, "has no path of a file"},
		{"a way out", "file:///var/../etc/shadow@sha256:" + digest, "has no path of a file"},
		{"a way out in digits", "file:///var/%2E%2e/etc/shadow@sha256:" + digest, "has no path of a file"},
		{"digits that are none", "https://mirror.example.com/%zz@sha256:" + digest, "has no path of a file"},
		{"a NUL in digits", "file:///var/os%00.raw@sha256:" + digest, "has no path of a file"},
		{"a space in digits", "https://mirror.example.com/a%20b.raw@sha256:" + digest, ""},
		{"brackets without an address", "http://[::g]/os.raw@sha256:" + digest, "has no host and port"},
		{"brackets with another address", "http://[1.2.3.4]/os.raw@sha256:" + digest, "has no host and port"},
		{"packed otherwise", "https://mirror.example.com/os.raw.xz@sha256:" + digest, "is packed in a way"},
		{"packed by gzip", "https://mirror.example.com/os.qcow2.gz@sha256:" + digest, ""},
		{"a space", "https://mirror.example.com/o s.raw@sha256:" + digest, "has no path of a file"},
		{"a line", "https://mirror.example.com/o\\ns.raw@sha256:" + digest, "has no path of a file"},
		{"too long", "https://mirror.example.com/" + strings.Repeat("a", 2048) + "@sha256:" + digest, "is longer than 2048 characters"},
		{"empty", "", `"" has no digest`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, key := range []string{OSImage, IronicAgentKernel, IronicAgentInitramfs} {
				text := "{\n \"" + key + "\": \"" + tt.text + "\"}"
				images, findings := ParseImages("i", []byte(text))
				hold(t, text, findings)
				if _, err := artifact.Parse(tt.text); tt.want == "" && err != nil {
					t.Errorf("the bootstrap machine does not read it: %v", err)
				}
				if tt.want == "" {
					if len(findings) > 0 || images[key] != tt.text {
						t.Errorf("%v, read %q", findings, images[key])
					}
					continue
				}
				if len(findings) != 1 || !strings.Contains(findings[0].Text, tt.want) || findings[0].Line != 2 || findings[0].Column != len(key)+6 {
					t.Errorf("%+v, want one with %q", findings, tt.want)
				}
				if strings.Contains(lines(findings), "Pl4nted") {
					t.Errorf("a finding repeats a secret: %v", findings)
				}
			}
		})
	}
	text := `{"ironicImage": "` + file + `", "ironicAgentImage": "a b"}`
	if _, findings := ParseImages("i", []byte(text)); len(findings) != 2 {
		t.Errorf("a file in place of containers: %v", findings)
	}
	if c := Check(Cluster{Images: map[string]string{OSImage: "os.raw"}}); !strings.Contains(lines(c), "spec.images.osImage: ") {
		t.Errorf("%v: want one about spec.images.osImage", c)
	}
}

// FuzzImageFile holds for any text: a finding with what to do, or the text as it is, which then has
// neither a login nor a query.
func FuzzImageFile(f *testing.F) {
	for _, text := range []string{file, "file:///a@sha256:" + digest, "http://[::1]/a@sha256:" + digest, "@sha256:", "http://u:p@h/a?b#c@sha256:" + digest} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		found := Check(Cluster{Images: map[string]string{OSImage: text}})
		wrong := strings.Contains(lines(found), "spec.images.osImage: ")
		if wrong {
			return
		}
		if url, _, _ := strings.Cut(text, "@sha256:"); strings.ContainsAny(url, "@?#") {
			t.Errorf("%q was accepted", text)
		}
		if _, err := artifact.Parse(text); err != nil {
			t.Errorf("%q was accepted, and the bootstrap machine does not read it: %v", text, err)
		}
	})
}
