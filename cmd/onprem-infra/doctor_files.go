//go:build remote

package main

import (
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap"
	"github.com/onprem-infra/onprem-infra/shared/bootfiles/item"
	"github.com/onprem-infra/onprem-infra/shared/host/artifact"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/readiness"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
)

// imageSilence is how long a server of images may take to answer.
const imageSilence = 10 * time.Second

// wantedFiles are those that the bootstrap machine fetches, as they are on this machine if it is
// that one. What is wrong with their texts is a finding of validate.
func wantedFiles(p plan.Plan, machine bool) (f readiness.Files) {
	if !bootstrap.Provisions(p) {
		return f
	}
	items, err := item.Of(p, provision.Bootstrap)
	if err != nil {
		return f
	}
	store := &artifact.Store{Silence: imageSilence}
	f.Size = store.Size
	if machine {
		f.Free = func() (uint64, error) {
			dir := layout.State // it may be a file system of its own
			if there, err := file.Exists(dir); err == nil && !there {
				dir = filepath.Dir(filepath.Dir(dir))
			}
			free, _, err := file.Room(dir)
			return free, err
		}
	}
	for _, i := range items {
		if i.Path != "" {
			f.Wanted = append(f.Wanted, wantedFile(i, machine))
		}
	}
	return f
}

func wantedFile(i item.Item, machine bool) readiness.File {
	f := readiness.File{Key: i.Name, Artifact: i.Artifact}
	if there, err := os.Stat(i.Path); machine && err == nil {
		f.Here = there.Size()
	}
	return f
}
