//go:build remote

package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bootfiles/item"
	"github.com/onprem-infra/onprem-infra/shared/container"
	hostartifact "github.com/onprem-infra/onprem-infra/shared/host/artifact"
)

// fakeImages is a FAKE podman: it has an image with the files of a test.
type fakeImages struct {
	files         map[string]string // by the name of what is wanted
	absent        bool
	failure       error
	pulled, asked int
}

func (f *fakeImages) HasImage(context.Context, string) (bool, error) { return !f.absent, nil }
func (f *fakeImages) Pull(_ context.Context, ref, auth string) error {
	f.pulled, f.absent = f.pulled+1, false
	if ref != "r/ironic:1" || auth != "/auth" {
		return errors.New("pulled " + ref + " by " + auth)
	}
	return nil
}
func (f *fakeImages) Extract(_ context.Context, _ string, wanted []container.Wanted, dir string) (map[string]string, error) {
	f.asked++
	found := map[string]string{}
	for _, w := range wanted {
		if text, ok := f.files[w.Name]; ok {
			found[w.Name] = filepath.Join(dir, "x"+w.Name)
			if err := os.WriteFile(found[w.Name], []byte(text), 0o600); err != nil {
				return nil, err
			}
		}
	}
	return found, f.failure
}

// TestHTTPItems_Image holds that an image is pulled if it is absent, that its files get to all of
// their places, and that they are known again, until one of them is changed.
func TestHTTPItems_Image(t *testing.T) {
	dir := t.TempDir()
	http, tftp := filepath.Join(dir, "http", "a.efi"), filepath.Join(dir, "tftp", "a.efi")
	of := item.Item{Name: "ironicImage", From: "r/ironic:1", Wanted: []item.Wanted{
		{Wanted: container.Wanted{Name: "a.efi", From: []string{"/a"}}, To: []string{http, tftp}, For: "iPXE for UEFI"},
		{Wanted: container.Wanted{Name: "b.efi", From: []string{"/b"}}, To: []string{filepath.Join(dir, "b")}, For: "iPXE for UEFI"},
	}}
	images := &fakeImages{absent: true, files: map[string]string{}}
	h := &httpItems{store: &hostartifact.Store{Records: filepath.Join(dir, "sources")}, engine: images, auth: "/auth", work: dir}
	if files, err := h.Check(of); err != nil || files != nil {
		t.Errorf("before: %+v, %v", files, err)
	}
	if _, err := h.Supply(t.Context(), of, nil); err == nil || err.Error() != "image r/ironic:1 has no file for iPXE for UEFI: choose another image" || images.pulled != 1 {
		t.Errorf("%v after %d pulls", err, images.pulled)
	}
	images.files["a.efi"] = "iPXE"
	files, err := h.Supply(t.Context(), of, nil)
	if err != nil || len(files) != 2 || files[0].Path != http || files[1].Path != tftp || files[1].Size != 4 || images.pulled != 1 {
		t.Fatalf("%+v, %v", files, err)
	}
	if again, err := h.Check(of); err != nil || !slices.Equal(again, files) || !h.Same(again) {
		t.Errorf("%+v, %v", again, err)
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".extract*")); err != nil || left != nil {
		t.Errorf("left are %v, %v", left, err)
	}
	other := of
	other.From = "r/ironic:2"
	if files, err := h.Check(other); err != nil || files != nil {
		t.Errorf("of another image: %+v, %v", files, err)
	}
	if err := os.WriteFile(tftp, []byte("eXPi"), 0o644); err != nil {
		t.Fatal(err)
	}
	if h.Same(files) {
		t.Error("a file was changed, and counts as the same")
	}
	if files, err := h.Check(of); err != nil || files != nil {
		t.Errorf("of a changed file: %+v, %v", files, err)
	}
	images.failure = errors.New("the storage is broken")
	if _, err := h.Supply(t.Context(), of, nil); err == nil || !strings.Contains(err.Error(), "storage is broken") {
		t.Errorf("%v", err)
	}
}
