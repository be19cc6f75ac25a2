package proc

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// Version asks a program of the host for its version, `PROGRAM --version`, and returns the first
// word of the answer that begins with a digit; empty for a program that is not there.
func Version(ctx context.Context, program string) (string, error) {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("ask %s for its version: %w", program, err)
	}
	for _, word := range strings.Fields(string(out)) {
		if word[0] >= '0' && word[0] <= '9' {
			return strings.TrimRight(word, ",;)"), nil
		}
	}
	return "", fmt.Errorf("ask %s for its version: no version in %q", program,
		strings.TrimSpace(string(out)))
}
