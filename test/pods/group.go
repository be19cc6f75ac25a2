package pods

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/onprem-infra/onprem-infra/test/owner"
)

const (
	groups = "/sys/fs/cgroup"
	// namePrefix starts the name of every container, and so of every control group of one; its
	// owner follows.
	namePrefix = "onprem-pods."
)

// serial numbers the nodes of one process.
var serial atomic.Int64

// unique is a name that no other node on this machine has.
func unique(host string) (string, error) {
	self, err := owner.Self()
	return fmt.Sprintf("%s%s.%d.%s", namePrefix, self, serial.Add(1), host), err
}

// removeLeftovers removes the control groups of containers whose owner has exited. Their processes
// ended with the lab that they were in, and what else is left of them is on the node's disk.
func removeLeftovers() error {
	var errs []error
	for _, pattern := range []string{groups + "/" + namePrefix + "*", groups + "/*/" + namePrefix + "*"} {
		paths, err := filepath.Glob(pattern)
		errs = append(errs, err)
		for _, path := range paths {
			if owner.Dead(strings.TrimPrefix(filepath.Base(path), namePrefix)) {
				errs = append(errs, removeGroup(path))
			}
		}
	}
	return errors.Join(errs...)
}

// removeGroup removes a control group, those in it first. Another process may be faster: leftovers
// are anybody's.
func removeGroup(root string) error {
	var dirs []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err == nil && d.IsDir() {
			dirs = append(dirs, path)
		}
		return err
	})
	for _, dir := range slices.Backward(dirs) {
		if one := os.Remove(dir); !errors.Is(one, fs.ErrNotExist) {
			err = errors.Join(err, one)
		}
	}
	return err
}
