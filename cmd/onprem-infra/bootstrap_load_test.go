//go:build remote

package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/plan"
)

// TestLoad holds that a host reads its cluster.json once, so that the line of provenance belongs to the plan, and never to an end that
// does not come.
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
		{name: "absent", path: path + "x", code: exitHost, said: "no such file"},
		{name: "without an end", path: "/dev/zero", code: exitFindings, said: "/dev/zero:1:1: error: document: has more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var said bytes.Buffer
			p, header, err := (&machine{cluster: tt.path}).load(streams{err: &said})
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
