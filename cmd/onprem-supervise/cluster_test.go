package main

import (
	"bytes"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestClusterVIPs holds that the supervisor reads what plan.Encode writes: all VIPs, of both kinds and families.
func TestClusterVIPs(t *testing.T) {
	vips := func(list ...string) (out []netip.Addr) {
		for _, text := range list {
			out = append(out, netip.MustParseAddr(text))
		}
		return out
	}
	c := spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal, APIVIPs: vips("192.0.2.5", "2001:db8::5"), IngressVIPs: vips("192.0.2.6", "2001:db8::6")}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(path, plan.Encode(p), 0o644); err != nil {
		t.Fatal(err)
	}
	o, err := options([]string{"--config", "c", "--run-dir", "d", "--cluster", path, "--", "keepalived"})
	if err != nil {
		t.Fatal(err)
	}
	if want := vips("192.0.2.5", "2001:db8::5", "192.0.2.6", "2001:db8::6"); !slices.Equal(o.VIPs, want) {
		t.Errorf("VIPs %v, want %v", o.VIPs, want)
	}
}

// TestNoClusterVIPs holds that a supervisor which cannot know its VIPs ends and says why: it could leave one behind.
func TestNoClusterVIPs(t *testing.T) {
	dir := t.TempDir()
	for text, want := range map[string]string{
		"":                                   "no such file",
		"{":                                  "unexpected end of JSON",
		`{"spec": {}}`:                       "it names none",
		`{"spec": {"apiVIPs": ["vip"]}}`:     "unable to parse IP",
		`{"spec": {"apiVIPs": "192.0.2.5"}}`: "cannot unmarshal string",
	} {
		path := filepath.Join(dir, fmt.Sprintf("%d.json", len(text)))
		if text != "" {
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		var said bytes.Buffer
		if code := run(t.Context(), []string{"--config", "c", "--run-dir", dir, "--cluster", path, "--", "keepalived"}, &said); code != 3 || !strings.Contains(said.String(), want) {
			t.Errorf("%q: exit code %d, %q; want 3, %q", text, code, said.String(), want)
		}
	}
}
