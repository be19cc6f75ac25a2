package pod

import (
	"bytes"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/onprem-infra/onprem-infra/test/golden"
	"github.com/onprem-infra/onprem-infra/test/manifest"
)

// fullest is a pod with every field set.
func fullest() Static {
	conf, memory := Volume{Name: "conf", Host: "/etc/d"}, Volume{Name: "memory"}
	ask := func(failures int) *Probe {
		return &Probe{
			Host: netip.MustParseAddr("127.0.0.1"), Port: 18080, Path: "/health",
			Every: 5 * time.Second, Timeout: 2 * time.Second, Failures: failures,
		}
	}
	return Static{
		Name: "d", Namespace: "infra", App: "kni-infra-d", Processes: true,
		Annotations: map[string]string{
			"openshift.io/required-scc":               "privileged",
			"target.workload.openshift.io/management": `{"effect": "PreferredDuringScheduling"}`,
		},
		Init: []Container{{Name: "prepare", Image: "registry.example.com/own:1", Command: []string{
			"/usr/bin/own", "--once",
		},
			Mounts: []Mount{{Volume: conf, Writable: true}, {
				Volume: Volume{Name: "file", Host: "/etc/e/e.conf", File: true},
			}}}},
		Containers: []Container{
			{Name: "d", Image: "registry.example.com/d:1", Command: []string{"d", "-f", "/etc/d/d.conf"}, Capabilities: []string{"NET_RAW", "NET_ADMIN"},
				Mounts: []Mount{
					{Volume: memory, Path: "/run/d/below", Writable: true}, {Volume: conf},
					{Volume: memory, Path: "/run", Writable: true},
				},
				Ports: []Port{{Name: "dns", Number: 53, UDP: true}, {
					Name: "dns-tcp", Number: 53,
				}}, Startup: ask(60), Liveness: ask(3), Readiness: ask(1)},
			{
				Name: "d-monitor", Image: "registry.example.com/own:1",
				Command: []string{"/usr/bin/own"},
				Liveness: &Probe{
					Port: 1, Path: "/", Every: time.Second, Timeout: time.Second, Failures: 1,
				},
			},
		},
	}
}

func smallest() Static {
	return Static{Name: "d", Namespace: "infra", App: "d", Containers: []Container{
		{Name: "d", Image: "d", Command: []string{"d"}},
	}}
}

func TestRenderFullest(t *testing.T) { golden.Check(t, Render(fullest())) }

func TestRenderSmallest(t *testing.T) { golden.Check(t, Render(smallest())) }

// TestRoundTrip holds that the API understands what is written as it was meant: its own types read
// it, passing over nothing, and write the same.
func TestRoundTrip(t *testing.T) {
	for _, s := range []Static{fullest(), smallest()} {
		text := Render(s)
		if err := manifest.Exact(text); err != nil {
			t.Error(err)
		}
		if !bytes.Equal(Render(s), text) {
			t.Error("a second time it is written in another way")
		}
	}
}

// TestRender_OmitsDefaults holds that a manifest has nothing that only a server writes, or that means
// as much as its absence.
func TestRender_OmitsDefaults(t *testing.T) {
	for _, s := range []Static{fullest(), smallest()} {
		for _, word := range []string{
			"status", "null", "creationTimestamp", "{}", "[]", "privileged: ",
		} {
			if text := strings.ReplaceAll(
				string(Render(s)), "required-scc: privileged", "",
			); strings.Contains(text, word) {
				t.Errorf("%q stands in\n%s", word, text)
			}
		}
	}
}

// FuzzRender holds that no word of a pod ever becomes more than that word.
func FuzzRender(f *testing.F) {
	for _, s := range []string{
		"", "a", "1", "true", "null", "~", "x: y", "a\nb: c", "- a", "{{ .X }}", "#", "'", "\"",
		"%n", "$(reboot)", "\u2028", "\x00", "0x1", "1e3", "2001-01-01", "\x7f", "\u0085", "\ufeff",
		"\uffff", "\U0001f600", "\U0010fffe", "<<", "*a", "&a", "!!x", "|", ">",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, word string) {
		if !utf8.ValidString(word) {
			return // JSON has no such text: what stands there is replaced
		}
		s := fullest()
		s.Name, s.Namespace, s.App = word, word, word
		s.Containers[0].Image, s.Containers[0].Command = word, []string{word, word}
		text := Render(s)
		got, err := manifest.Pod(text)
		if err == nil {
			err = manifest.Exact(text)
		}
		if err != nil || got.Name != word || got.Namespace != word || got.Labels["app"] != word ||
			got.Spec.Containers[0].Image != word ||
			!slices.Equal(got.Spec.Containers[0].Command, []string{word, word}) {
			t.Errorf("%q: %.1000v", word, err)
		}
	})
}
