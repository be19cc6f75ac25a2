package netns

import (
	"fmt"
	"net"
	"os"
	"slices"
	"testing"
)

// links lists the links of a namespace by name.
func links(t *testing.T, ns Namespace) []string {
	t.Helper()
	var names []string
	err := ns.In(func() error {
		all, err := net.Interfaces()
		for _, l := range all {
			names = append(names, l.Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(names)
	return names
}

// TestNamespaces connects two namespaces by a veth pair, and expects that the test's own thread
// stays in its network.
func TestNamespaces(t *testing.T) {
	own, err := os.Readlink("/proc/thread-self/ns/net")
	if err != nil {
		t.Fatal(err)
	}
	a, b := New(t), New(t)
	a.IP(t, fmt.Sprintf(
		"link add left type veth peer name right netns %s\nlink set left up\n", b.Path(),
	))
	for ns, want := range map[Namespace]string{a: "left", b: "right"} {
		if got := links(t, ns); !slices.Equal(got, []string{want, "lo"}) &&
			!slices.Equal(got, []string{"lo", want}) {
			t.Errorf("links %q, want lo and %s", got, want)
		}
	}
	if now, err := os.Readlink("/proc/thread-self/ns/net"); err != nil || now != own {
		t.Errorf("the test is in %s, %v; it began in %s", now, err, own)
	}
}
