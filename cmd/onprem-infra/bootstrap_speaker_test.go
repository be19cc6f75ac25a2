//go:build remote

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestRunSpeaker_Wrong holds that the program says why it cannot work, before it asks podman for anything.
func TestRunSpeaker_Wrong(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	routed := put("routed.json", announced)
	plain := put("plain.json", strings.NewReplacer("vipManagement: bgp", "", "198.51.100.", "10.1.1.").Replace(announced[:strings.Index(announced, "  bgp:")])+"\n")
	for _, tt := range []struct {
		name string
		args []string
		want string
	}{
		{"a cluster without routers", []string{"-c", plain}, "announce no VIP to routers: set vipManagement"},
		{"another VIP", []string{"-c", routed, "--assume-free", "198.51.100.6"}, `--assume-free "198.51.100.6": not an API VIP of this cluster, which has [198.51.100.5]`},
		{"no address", []string{"-c", routed, "--assume-free", "api"}, `--assume-free "api"`},
	} {
		if o := invoke(t, "", append([]string{"bootstrap", "run", "speaker"}, tt.args...)...); o.code == 0 || !strings.Contains(o.err, tt.want) {
			t.Errorf("%s: %+v", tt.name, o)
		}
	}
}
