package notice

import (
	"encoding/base64"
	"strings"
	"testing"
)

// TestReadClientsKey holds that a Node's annotation is a key of 32 bytes or none: the value goes
// into the list of candidates, which one kubelet must not make too long.
func TestReadClientsKey(t *testing.T) {
	valid := base64.StdEncoding.EncodeToString(make([]byte, keyBytes))
	for text, want := range map[string]string{
		valid: valid, "": "", "none": "",
		base64.StdEncoding.EncodeToString(make([]byte, keyBytes-1)): "",
		base64.StdEncoding.EncodeToString(make([]byte, keyBytes+1)): "",
		valid[:20] + "\n" + valid[20:]:                              "",
		strings.Repeat(valid, 5000):                                 "",
	} {
		if got := ReadClientsKey(text); got != want {
			t.Errorf("%.60q: %q, want %q", text, got, want)
		}
	}
}
