package systemd

import (
	"os"
	"path/filepath"
)

// Enabled reports whether a unit wants the service and it is not masked.
func Enabled(service string) (bool, error) {
	if to, err := os.Readlink("/etc/systemd/system/" + service); err == nil && to == os.DevNull {
		return false, nil
	}
	for _, dir := range []string{"/etc", "/run", "/usr/lib"} {
		wants, err := filepath.Glob(dir + "/systemd/system/*.wants/" + service)
		if err != nil || len(wants) > 0 {
			return err == nil, err
		}
	}
	return false, nil
}
