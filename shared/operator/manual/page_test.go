package manual

import "testing"

// TestRoff holds that no text is a request to the formatter.
func TestRoff(t *testing.T) {
	for text, want := range map[string]string{
		".so /etc/passwd": `\&.so /etc/passwd`, `a\b`: `a\eb`, "--flag": `\-\-flag`, "'x'": `\(aqx\(aq`, "plain": "plain", "~`^": `\(ti\(ga\(ha`,
	} {
		if got := roff(text); got != want {
			t.Errorf("roff(%q) is %q, want %q", text, got, want)
		}
	}
}
