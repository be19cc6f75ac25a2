// Package script reads the lines of a schedule of faults, whatever is simulated.
package script

import (
	"bufio"
	"fmt"
	"strconv"
	"strings"
)

// Read passes the words of each line. Empty lines and text after # are ignored. An error names the
// line that it is about.
func Read(text string, line func(words []string) error) error {
	lines := bufio.NewScanner(strings.NewReader(text))
	for n := 1; lines.Scan(); n++ {
		code, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(code)
		if len(words) == 0 {
			continue
		}
		if err := line(words); err != nil {
			return fmt.Errorf("read schedule, line %d: %w", n, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read schedule: %w", err)
	}
	return nil
}

// Seed reads the line of a seed; ok is false if the words are another line.
func Seed(words []string, seed *uint64) (ok bool, err error) {
	if len(words) != 2 || words[0] != "seed" {
		return false, nil
	}
	*seed, err = strconv.ParseUint(words[1], 10, 64)
	return true, err
}
