package probe

import (
	"slices"
	"strings"
	"testing"
)

// FuzzFailing holds that a check counts as failed only if a line of its own reports it, whatever
// the answer.
func FuzzFailing(f *testing.F) {
	f.Add("[+]ping ok\n[-]shutdown failed: reason withheld\nreadyz check failed\n")
	f.Add("[-]etcd failed\r\n[-]shutdown failed\r\n")
	f.Add("[-]shutdown")
	f.Add("[-]shutdown-hooks failed\n [-]shutdown\n[+]shutdown ok\n[-] shutdown\nshutdown")
	f.Add("\x00\xff\u2028[-]shutdown failed")
	f.Add("")
	f.Fuzz(func(t *testing.T, body string) {
		body = body[:min(len(body), most)] // no more is read
		want := slices.ContainsFunc(strings.Split(body, "\n"), func(line string) bool {
			line = strings.TrimSuffix(line, "\r")
			return line == "[-]shutdown" || strings.HasPrefix(line, "[-]shutdown ")
		})
		if got := failing([]byte(body), "shutdown"); got != want {
			t.Errorf("%q: %v, want %v", body, got, want)
		}
	})
}
