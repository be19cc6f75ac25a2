package keepalived

import (
	"slices"
	"strconv"
	"testing"
)

// section is a block as tests look at it: whatever is missing, or there twice, fails them.
type section struct {
	words [][]string // its lines
	in    block
}

func parseConf(t *testing.T, config []byte) section {
	t.Helper()
	file, err := readBlocks(config)
	if err != nil {
		t.Fatalf("%v:\n%s", err, config)
	}
	return section{file.lines, file}
}

func (s section) has(keyword string) bool { return s.in.line(keyword) != nil || s.in.has(keyword) }

// block is the only block with that title.
func (s section) block(t *testing.T, title ...string) section {
	t.Helper()
	var found []section
	for _, b := range s.in.blocks {
		if slices.Equal(b.title, title) {
			found = append(found, section{b.lines, b})
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d blocks %q in %q", len(found), title, s.in.title)
	}
	return found[0]
}

func (s section) instance(t *testing.T, name string) section {
	t.Helper()
	return s.block(t, "vrrp_instance", name)
}

// value is the one word after the only line with the keyword.
func (s section) value(t *testing.T, keyword string) string {
	t.Helper()
	var found []string
	for _, words := range s.words {
		if words[0] == keyword {
			found = append(found, words[1:]...)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%q has %d values %q", keyword, len(found), found)
	}
	return found[0]
}

func (s section) number(t *testing.T, keyword string) int {
	t.Helper()
	n, err := strconv.Atoi(s.value(t, keyword))
	if err != nil {
		t.Fatalf("%s: %v", keyword, err)
	}
	return n
}
