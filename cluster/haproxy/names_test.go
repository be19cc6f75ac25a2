package haproxy

import (
	"slices"
	"strings"
	"testing"
)

// sections are the names of a configuration's sections of the kinds.
func sections(config []byte, kinds ...string) (names []string) {
	for line := range strings.Lines(string(config)) {
		words := strings.Fields(line)
		if len(words) == 2 && !strings.HasPrefix(line, " ") && slices.Contains(kinds, words[0]) {
			names = append(names, words[1])
		}
	}
	return names
}

// TestSectionNames holds that no two sections have one name, which HAProxy 3.3 and later refuse,
// and that the backends have the names that a former release's running configuration has: the
// monitor asks and changes that one until it has reloaded HAProxy.
func TestSectionNames(t *testing.T) {
	backends := []string{Masters, MastersOpen, MachineConfig, MachineConfigOpen, IronicAPI, VirtualMedia}
	for name, config := range goldens() {
		t.Run(name, func(t *testing.T) {
			text := Render(config)
			all := sections(text, "frontend", "backend", "listen")
			once := slices.Compact(slices.Sorted(slices.Values(all)))
			if len(once) != len(all) || len(all) == 0 {
				t.Errorf("%d sections have %d names: %v", len(all), len(once), all)
			}
			for _, backend := range sections(text, "backend") {
				if !slices.Contains(backends, backend) {
					t.Errorf("backend %s is none of %v", backend, backends)
				}
			}
		})
	}
	want := []string{"masters", "masters-open", "machine-config", "machine-config-open", "ironic", "virtual-media"}
	if !slices.Equal(backends, want) {
		t.Errorf("the backends are %v; a HAProxy of the former release has %v", backends, want)
	}
}

// TestBalance: without a balance directive HAProxy uses round robin until 3.2, and random from 3.3.
func TestBalance(t *testing.T) {
	for name, config := range goldens() {
		text := string(Render(config))
		_, defaults, _ := strings.Cut(text, "\ndefaults\n")
		defaults, _, _ = strings.Cut(defaults, "\n\n")
		if !strings.Contains(defaults, "\n    balance roundrobin\n") {
			t.Errorf("%s: HAProxy may balance as it likes:\n%s", name, defaults)
		}
	}
}
