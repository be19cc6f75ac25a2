//go:build remote

package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// TestLoad holds that a host reads its cluster.json once, so that the line of provenance belongs to
// the plan, and never to an end that does not come.
func TestLoad(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "cluster.json")
	text := must(t, "", "example", "cluster")
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, path string
		code       int
		said       string
	}{
		{name: "right", path: path},
		{name: "absent", path: path + "x", code: exitHost, said: "so it is not part of a cluster"},
		{name: "without an end", path: "/dev/zero", code: exitFindings, said: "/dev/zero:1:1: error: document: has more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said bytes.Buffer
			p, header, err := (&machine{cluster: tt.path, meter: newMeter("test")}).load(streams{err: &said})
			code := exitHost
			if exit, ok := err.(exitError); ok {
				code = exit.code
			}
			if tt.code == 0 {
				if err != nil || p.Cluster.Name != "prod" || header != plan.Header([]byte(text)) {
					t.Errorf("plan of %q, header %q, %v", p.Cluster.Name, header, err)
				}
				return
			}
			if err != nil {
				said.WriteString(err.Error())
			}
			if err == nil || code != tt.code || !strings.Contains(said.String(), tt.said) {
				t.Errorf("%v, exit %d, said %q; want %d and %q", err, code, said.String(), tt.code, tt.said)
			}
		})
	}
}

// TestNamedClusterIsAbsent holds that a file which -c names and which is not there is wrong usage
// with every verb (contract 1), while the host's own, which nobody named, is the host's failure.
func TestNamedClusterIsAbsent(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "cluster.json")
	for _, verb := range [][]string{
		{"bootstrap", "run", "vip"}, {"bootstrap", "run", "dns"}, {"check", "lb"}, {"monitor", "dns", "--role=worker", "--once"}, {"monitor", "lb", "--once"},
		{"monitor", "resolv"}, {"monitor", "vip", "--role=master"}, {"node-ip", "show"}, {"validate"}, {"plan"}, {"ignition", "--role=master"},
	} {
		var said bytes.Buffer
		code := run(t.Context(), append(verb, "-c", absent), streams{in: strings.NewReader(""), out: &said, err: &said})
		if code != exitUsage || !strings.Contains(said.String(), "there is no file "+absent) {
			t.Errorf("%q: exit %d: %s", verb, code, said.String())
		}
	}
	if _, _, err := (&machine{cluster: absent, named: func() bool { return false }}).load(streams{}); err == nil || errors.As(err, new(exitError)) {
		t.Errorf("the host's own is absent: %v, want an error of the host", err)
	}
}
