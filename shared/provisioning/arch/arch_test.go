package arch

import "testing"

func TestString(t *testing.T) {
	for a, want := range map[Number]string{
		7: "x64 UEFI (7)", 19: "ARM 64 UEFI HTTP (19)", 41: "ARM rpiboot (41)",
		42: "unknown architecture (42)", 65535: "unknown architecture (65535)",
	} {
		if got := a.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestClient holds that each number of the registry is there, and what is not is served nothing.
func TestClient(t *testing.T) {
	for n := range Number(300) {
		p, http := n.Client()
		if n >= Known && (p != "" || http) {
			t.Errorf("%s is served", n)
		}
		if n < Known && clients[n].name == "" {
			t.Errorf("%d has no name", n)
		}
	}
}
