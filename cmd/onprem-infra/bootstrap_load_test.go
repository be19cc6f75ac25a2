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

// TestLoad holds that a host reads its cluster.json once, so that the header line belongs to the
// plan, and that the size of the file is limited.
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
		output     string
	}{
		{name: "right", path: path},
		{name: "absent", path: path + "x", code: exitHost, output: "so it is not part of a cluster"},
		{name: "without an end", path: "/dev/zero", code: exitFindings, output: "/dev/zero:1:1: error: document: has more than 1048576 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var output bytes.Buffer
			p, header, err := (&machine{cluster: tt.path, meter: newMeter("test")}).load(streams{err: &output})
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
				output.WriteString(err.Error())
			}
			if err == nil || code != tt.code || !strings.Contains(output.String(), tt.output) {
				t.Errorf("%v, exit %d, output %q; want %d and %q", err, code, output.String(), tt.code, tt.output)
			}
		})
	}
}

// TestNamedClusterIsAbsent holds that a missing file named by -c is wrong usage with every verb
// (contract 1), while the host's own missing file is a failure of the host.
func TestNamedClusterIsAbsent(t *testing.T) {
	absent := filepath.Join(t.TempDir(), "cluster.json")
	for _, verb := range [][]string{
		{"bootstrap", "run", "vip"}, {"bootstrap", "run", "dns"}, {"check", "lb"}, {"monitor", "dns", "--role=worker", "--once"}, {"monitor", "lb", "--once"},
		{"monitor", "resolv"}, {"monitor", "vip", "--role=master"}, {"node-ip", "show"}, {"validate"}, {"plan"}, {"ignition", "--role=master"},
	} {
		var output bytes.Buffer
		code := run(t.Context(), append(verb, "-c", absent), streams{in: strings.NewReader(""), out: &output, err: &output})
		if code != exitUsage || !strings.Contains(output.String(), "there is no file "+absent) {
			t.Errorf("%q: exit %d: %s", verb, code, output.String())
		}
	}
	if _, _, err := (&machine{cluster: absent, named: func() bool { return false }}).load(streams{}); err == nil || errors.As(err, new(exitError)) {
		t.Errorf("the host's own is absent: %v, want an error of the host", err)
	}
}
