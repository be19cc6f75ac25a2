package protocol

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// ReleaseRequested reports whether a request to release the VIPs stands.
func ReleaseRequested(runDir string) (bool, error) {
	_, err := os.Stat(filepath.Join(runDir, supervised.LeaveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Unserved are the instances whose VIPs, by the monitor, are not served here.
func Unserved(runDir string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(runDir, supervised.UnservedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what is not served: %w", err)
	}
	names := map[string]bool{}
	for name := range strings.FieldsSeq(string(text)) {
		names[name] = true
	}
	return names, nil
}
