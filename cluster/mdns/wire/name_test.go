package wire

import (
	"strings"
	"testing"
)

// TestShorten holds the form of names that were published before (M-01).
func TestShorten(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"short", "master-0", "master-0"},
		{"just fits", strings.Repeat("a", 63), strings.Repeat("a", 63)},
		{"long", "prefix-someverylongservicenamethatwouldcauseaproblemfordns-suffix", "prefix-somevery47540ff49304816bc5054bb4f3cc9a9clemfordns-suffix"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := shorten(tt.text, maxLabel, 0); got != tt.want {
				t.Errorf("shorten(%q) = %q, want %q", tt.text, got, tt.want)
			}
		})
	}
}

// TestInstance holds that what is too long begins with the cluster's name as long as that leaves
// room, as browsers of former releases look for it, and that hosts and clusters stay apart.
func TestInstance(t *testing.T) {
	const services = "Workstation-some-very-long-name-of-a-host-that-is-one-label-"
	for size := 1; size <= maxLabel; size++ {
		cluster := strings.Repeat("c", size)
		seen := map[string]bool{}
		for _, name := range []string{cluster, strings.Repeat("c", size-1) + "d"} {
			for _, service := range []string{services + "1", services + "2", "Etcd-a"} {
				got := Instance(name, service)
				if len(got) > maxLabel || seen[got] {
					t.Errorf("%d bytes: %q has %d bytes, or is another one's", size, got, len(got))
				}
				seen[got] = true
				if whole := strings.HasPrefix(got, name+" "); !whole && !strings.HasPrefix(got, Stem(name)+" ") || !whole && size <= maxStem {
					t.Errorf("%d bytes: nobody finds %q", size, got)
				}
			}
		}
	}
	for name, want := range map[string]string{
		"ostest": "ostest Workstat62cfff980096c7eca8ea474068b82a6dt-is-one-label-1",
		"customer-foo-production-frankfurt-cluster":              "customer-foo-production-frankfurt-cluster d97130271d33565e24cc1",
		"customer-foo-production-frankfurt-cluster-of-the-north": "customer-foo-production-frankfa6b5c6f74b5d6d39 60a897e704df9508",
	} {
		if got := Instance(name, services+"1"); got != want {
			t.Errorf("%s announces %q, want %q", name, got, want)
		}
	}
}
