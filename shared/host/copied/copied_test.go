package copied

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// TestExtract holds that the files that are there are found by their names, again after an attempt
// that has moved them away, and that one that is not there is no error.
func TestExtract(t *testing.T) {
	root := t.TempDir()
	c := Images{Dir: filepath.Join(root, "copied")}
	kept := filepath.Join(c.Dir, "arm64-efi/snponly.efi")
	if err := os.MkdirAll(filepath.Dir(kept), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kept, []byte("x"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, attempt := range []string{"first", "second"} {
		found, err := c.Extract(t.Context(), "r/image:1", []container.Wanted{{Name: "arm64-efi/snponly.efi"}, {Name: "absent"}}, filepath.Join(root, attempt))
		if err != nil || len(found) != 1 {
			t.Fatalf("%v, %v", found, err)
		}
		if err := os.Rename(found["arm64-efi/snponly.efi"], filepath.Join(root, "served")); err != nil {
			t.Error(err)
		}
	}
	if text, err := os.ReadFile(kept); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
}
