package envelopes

import (
	"debug/elf"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// checkout is a copy of the sources, which may be no repository, with what `make build` makes of
// them.
func checkout(t *testing.T, shell func(dir, script string) string) string {
	t.Helper()
	source, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	shell(source, "if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then "+
		"git ls-files -z --cached --others --exclude-standard | xargs -0 sh -c 'for f; do [ ! -e \"$f\" ] || printf \"%s\\0\" \"$f\"; done' sh | xargs -0 cp --parents -t "+dir+
		"; else tar -c --exclude ./bin . | tar -x -C "+dir+"; fi")
	shell(dir, "make build")
	return dir
}

// TestImage builds our image twice, from sources in two places, by what `make image` says: it is
// the same image. It is small, has no shell and no library, says what it is, and lists what it is
// made of.
func TestImage(t *testing.T) {
	need.Root(t)
	var engine string // with a storage of its own for each build, or the second one would be the first one's cache
	shell := func(dir, script string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "/bin/sh", "-euc", script)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "PATH="+engine+":"+os.Getenv("PATH"), "CGO_ENABLED=0", "GOFLAGS=-buildvcs=false")
		var stderr strings.Builder
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", script, err, stderr.String())
		}
		return string(out)
	}
	var digests []string
	var dir string
	for range 2 {
		engine = podman(t)
		dir = checkout(t, shell)
		shell(dir, "make -n image SOURCE_DATE_EPOCH=1700000000 VERSION=v1.2.3 REVISION=0123abc | grep '^podman build ' >build && sh -eu build && rm build")
		digests = append(digests, strings.TrimSpace(shell(dir, "podman image inspect --format '{{.Digest}} {{.Id}} {{.Size}}' localhost/onprem-infra:v1.2.3")))
	}
	if digests[0] != digests[1] {
		t.Errorf("two builds are two images:\n%s\n%s", digests[0], digests[1])
	}
	// Room for our own code: what this finds is a library that brings a cloud's client or a database.
	const most = 84 << 20
	var size int
	if err := json.Unmarshal([]byte(strings.Fields(digests[0])[2]), &size); err != nil || size > most {
		t.Errorf("the image has %d bytes (%v), want %d at most", size, err, most)
	}
	t.Logf("the image has %.1f MB", float64(size)/1e6)
	var labels map[string]string
	if err := json.Unmarshal([]byte(shell(dir, "podman image inspect --format '{{json .Labels}}' localhost/onprem-infra:v1.2.3")), &labels); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"title": "onprem-infra", "version": "v1.2.3", "revision": "0123abc", "source": "https://github.com/onprem-infra/onprem-infra", "licenses": "Apache-2.0",
	} {
		if got := labels["org.opencontainers.image."+name]; got != want {
			t.Errorf("the label %s is %q, want %q", name, got, want)
		}
	}
	shell(dir, "c=$(podman create --network none localhost/onprem-infra:v1.2.3) && podman export $c | tar -x -C $(mkdir -p tree && echo tree) && podman rm $c")
	holds(t, dir)
}

// holds compares what is in the image with what was built.
func holds(t *testing.T, dir string) {
	t.Helper()
	var files []string
	for _, name := range []string{"usr/bin", "usr/share/onprem-infra"} {
		entries, err := os.ReadDir(filepath.Join(dir, "tree", name))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			files = append(files, name+"/"+e.Name())
			as := e.Name()
			if as == "coredns" {
				as = "onprem-coredns"
			}
			built, err := os.ReadFile(filepath.Join(dir, "bin", as))
			if err != nil {
				t.Fatal(err)
			}
			if put, err := os.ReadFile(filepath.Join(dir, "tree", name, e.Name())); err != nil || string(put) != string(built) {
				t.Errorf("%s in the image is not what was built (%v)", e.Name(), err)
			}
		}
	}
	if want := []string{"usr/bin/coredns", "usr/bin/onprem-infra", "usr/bin/onprem-speak", "usr/bin/onprem-supervise", "usr/share/onprem-infra/sbom.json", "usr/share/onprem-infra/sha256"}; !slices.Equal(files, want) {
		t.Errorf("the image holds %q, want %q", files, want)
	}
	for _, name := range files[:4] {
		program, err := elf.Open(filepath.Join(dir, "tree", name))
		if err != nil {
			t.Fatal(err)
		}
		if program.Section(".interp") != nil {
			t.Errorf("%s needs a loader, and there is none", name)
		}
		_ = program.Close()
	}
	text, err := os.ReadFile(filepath.Join(dir, "tree/usr/share/onprem-infra/sbom.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"bomFormat": "CycloneDX"`, `"purl": "pkg:golang/k8s.io/client-go@v`, `"purl": "pkg:golang/github.com/coredns/coredns@v`} {
		if !strings.Contains(string(text), want) {
			t.Errorf("what the image is made of has no %s: %.300s", want, text)
		}
	}
}
