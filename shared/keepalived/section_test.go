package keepalived

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// section is one block of a keepalived.conf: its lines as words, and the blocks in it.
type section struct {
	title    []string // what stands before the brace
	words    [][]string
	sections []section
}

// parseConf reads what Render writes, not everything that keepalived reads.
func parseConf(t *testing.T, config []byte) section {
	t.Helper()
	stack := []section{{}}
	for line := range bytes.Lines(config) {
		text, _, _ := strings.Cut(string(line), "#")
		words := strings.Fields(text)
		switch {
		case len(words) == 0:
		case words[len(words)-1] == "{":
			stack = append(stack, section{title: words[:len(words)-1]})
		case len(words) == 1 && words[0] == "}":
			if len(stack) == 1 {
				t.Fatalf("a block ends that never began:\n%s", config)
			}
			done := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			stack[len(stack)-1].sections = append(stack[len(stack)-1].sections, done)
		default:
			stack[len(stack)-1].words = append(stack[len(stack)-1].words, words)
		}
	}
	if len(stack) != 1 {
		t.Fatalf("%d blocks do not end:\n%s", len(stack)-1, config)
	}
	return stack[0]
}

func (s section) has(keyword string) bool {
	return slices.ContainsFunc(s.words, func(words []string) bool { return words[0] == keyword }) ||
		slices.ContainsFunc(s.sections, func(b section) bool { return b.title[0] == keyword })
}

// block is the only block with that title.
func (s section) block(t *testing.T, title ...string) section {
	t.Helper()
	var found []section
	for _, b := range s.sections {
		if slices.Equal(b.title, title) {
			found = append(found, b)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d blocks %q in %q", len(found), title, s.title)
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
