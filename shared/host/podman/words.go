//go:build remote

package podman

import (
	"errors"
	"regexp"
)

// fresh matches what podman makes up anew at each attempt: IDs of containers and layers, and the ends of temporary files' names.
var fresh = regexp.MustCompile(`[0-9a-f]{64}|[0-9]{6,}`)

// same gives the same failure the same words, on one line: who repeats a call logs when its error changes.
func same(err error) error {
	err = oneLine(err)
	if err == nil || !fresh.MatchString(err.Error()) {
		return err
	}
	return errors.New(fresh.ReplaceAllString(err.Error(), "*"))
}
