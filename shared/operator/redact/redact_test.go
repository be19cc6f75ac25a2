package redact

import (
	"strings"
	"testing"
)

func TestSecrets(t *testing.T) {
	const key = "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ\n-----END EC PRIVATE KEY-----\n"
	for _, tt := range []struct{ name, is, want, secret string }{
		{"a password in an address", "HTTP_PROXY=http://user:hunter2@proxy\n", "HTTP_PROXY=http://proxy\n", "hunter2"},
		{"only in an address", "http://user:hunter2@proxy\n", "http://user:hunter3@proxy\n", "hunter"},
		{"a password with an @", "http://user:hunter@2@proxy\n", "http://proxy\n", "2@proxy"},
		{"a variable", "API_TOKEN=hunter2\n", "API_TOKEN=\n", "hunter2"},
		{"YAML", "  password: hunter2\n", "  password: hunter3\n", "hunter"},
		{"JSON", `{"clientSecret": "hunter 2", "x": 1}`, `{"x": 1}`, "hunter 2"},
		{"keepalived", "  auth_pass hunter2\n", "  auth_pass other\n", "hunter2"},
		{"a header", "option httpchk GET / Authorization: Bearer hunter2hunter2\n", "option httpchk GET /\n", "hunter2"},
		{"registry credentials", `{"auths": {"r": {"auth": "aHVudGVyMg=="}}}`, `{}`, "aHVudGVyMg"},
		{"a key", key, "none\n", "MHcCAQ"},
		{"a key without an end", key[:40], "none\n", "MHcCAQ"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text, note := Difference("/x", []byte(tt.is), []byte(tt.want), true)
			if strings.Contains(text, tt.secret) || !strings.Contains(text, "(secret-1)") ||
				note != "" {
				t.Errorf("%s %s", text, note)
			}
		})
	}
	// A change of a secret is seen, and nothing of it.
	if text, _ := Difference("/x", []byte("password=one\nx=1\n"), []byte("password=two\nx=1\n"), true); !strings.Contains(
		text,
		"-password=(secret-1)\n+password=(secret-2)\n",
	) {
		t.Errorf("%s", text)
	}
	// What is no secret stays.
	const plain = "imagePullPolicy: IfNotPresent\nrunAsUser: 0\nautomountServiceAccountToken: " +
		"false\n"
	if text, _ := Difference("/x", []byte(plain), []byte(""), true); !strings.Contains(text,
		"-runAsUser: 0\n") ||
		!strings.Contains(text, "-imagePullPolicy: IfNotPresent\n") {
		t.Errorf("%s", text)
	}
	if text, note := Difference("/x", []byte("hunter2\n"), nil, false); text != "" ||
		!strings.Contains(note, "not shown") {
		t.Errorf("%q %q: what only root may read is shown", text, note)
	}
}

func TestText(t *testing.T) {
	text, _ := Difference("/x", []byte("a\x1b[2Jb\r\u202e\n"), []byte("c\n"), true)
	if !strings.Contains(text, `-a\x1b[2Jb\r\u202e`) || strings.ContainsAny(text, "\x1b\r\u202e") {
		t.Errorf("%q", text)
	}
	if text, note := Difference("/x", []byte("a\x00b"), []byte("c\n"), true); text != "" ||
		!strings.Contains(note, "no text: 3 bytes, and 2 in the plan") {
		t.Errorf("%q %q", text, note)
	}
	long, _ := Difference("/x", []byte(strings.Repeat("a\n", 3000)), []byte("b\n"), true)
	if n := strings.Count(long, "\n"); n != mostShown+1 || !strings.Contains(long, "more lines)") {
		t.Errorf("%d lines", n)
	}
	if text, _ := Difference("/etc/x", []byte("a\nb\nc"), []byte("a\nB\nc"), true); text != "--- /etc/x\n+++ /etc/x (plan)\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n\\ No newline at end of file\n" {
		t.Errorf("%s", text)
	}
}

// TestMessage holds that what another program reports shows no account, keeps its other words, and is
// one line that moves no cursor.
func TestMessage(t *testing.T) {
	for text, want := range map[string]string{
		"GET redfish://admin:hunter2@192.0.2.9/1: 401":      "GET redfish://(secret-1)@192.0.2.9/1: 401",
		"GET https://admin:hunt@er2@192.0.2.9/1, for a@b":   "GET https://(secret-1)@192.0.2.9/1, for a@b",
		"sent Authorization: Basic aHVudGVyMjpodW50ZXIy to": "sent Authorization: Basic (secret-1) to",
		"BMC CredentialsRef secret doesn't exist":           "BMC CredentialsRef secret doesn't exist",
		"one\n two\x1b[2J\xff":                              "one two\\x1b[2J?",
		"":                                                  "",
	} {
		if got := Message(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
