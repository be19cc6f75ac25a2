package main

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// TestClusterVIPs holds that the supervisor reads what plan.Encode writes: all VIPs, of both kinds
// and families.
func TestClusterVIPs(t *testing.T) {
	vips := func(list ...string) (out []netip.Addr) {
		for _, text := range list {
			out = append(out, netip.MustParseAddr(text))
		}
		return out
	}
	c := spec.Cluster{Name: "prod", BaseDomain: "example.com", Platform: spec.BareMetal,
		APIVIPs: vips("192.0.2.5", "2001:db8::5"), IngressVIPs: vips("192.0.2.6", "2001:db8::6")}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "cluster.json")
	if err := os.WriteFile(path, plan.Encode(p), 0o644); err != nil {
		t.Fatal(err)
	}
	_, from, err := options([]string{"--config", "c", "--run-dir", "d", "--cluster", path,
		"--", "keepalived"})
	if err != nil || from != path {
		t.Fatalf("the VIPs are read from %q, %v", from, err)
	}
	got, err := clusterVIPs(from)
	if want := vips("192.0.2.5", "2001:db8::5", "192.0.2.6",
		"2001:db8::6"); err != nil || !slices.Equal(got, want) {
		t.Errorf("VIPs %v, %v, want %v", got, err, want)
	}
}

// TestNoClusterVIPs holds that a supervisor which cannot know its VIPs ends and reports why: it
// could leave one behind.
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
		var printed bytes.Buffer
		if code := program.Run(t.Context(), []string{"--config", "c", "--run-dir", dir, "--cluster", path,
			"--", "keepalived"}, &printed); code != 3 || !strings.Contains(printed.String(), want) {
			t.Errorf("%q: exit code %d, %q; want 3, %q", text, code, printed.String(), want)
		}
	}
}

// TestOtherClusterVIPs holds that the supervisor ends when the cluster gets another VIP: it would
// leave behind one that it does not know. A file with the same VIPs, or with none, ends nothing.
func TestOtherClusterVIPs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cluster.json")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Rename(path+".new", path); err != nil {
			t.Fatal(err)
		}
	}
	write(`{"spec": {"apiVIPs": ["192.0.2.5"], "ingressVIPs": ["192.0.2.6"]}}`)
	were, err := clusterVIPs(path)
	if err != nil {
		t.Fatal(err)
	}
	same, end := whileSame(t.Context(), path, were, slog.New(slog.DiscardHandler))
	defer end()
	write(`{"spec": {"ingressVIPs": ["192.0.2.6"], "apiVIPs": ["192.0.2.5"]}}`)
	write(`{"spec": {`)
	select {
	case <-same.Done():
		t.Fatal("it ends for the same VIPs")
	case <-time.After(200 * time.Millisecond):
	}
	write(`{"spec": {"apiVIPs": ["192.0.2.5"], "ingressVIPs": ["192.0.2.6"], "dnsVIP": "192.0.2.7"}}`)
	select {
	case <-same.Done():
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on with VIPs that are not the cluster's")
	}
}
