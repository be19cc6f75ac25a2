package keepalived

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// block is a part of a keepalived.conf in braces: its lines as words, and the blocks in it.
type block struct {
	title  []string // the words before the brace
	lines  [][]string
	blocks []block
}

// readBlocks reads a file whose lines hold one statement each, as Render writes it.
func readBlocks(text []byte) (block, error) {
	open := []block{{}}
	for line := range bytes.Lines(text) {
		if comment := bytes.IndexAny(line, "#!"); comment >= 0 {
			line = line[:comment]
		}
		words := strings.Fields(string(line))
		last := &open[len(open)-1]
		switch {
		case len(words) == 0:
		case len(words) > 1 && words[len(words)-1] == "{":
			open = append(open, block{title: words[:len(words)-1]})
		case len(words) == 1 && words[0] == "}":
			if len(open) == 1 {
				return block{}, errors.New("a block ends that has not begun")
			}
			outer := &open[len(open)-2]
			outer.blocks = append(outer.blocks, *last)
			open = open[:len(open)-1]
		default:
			last.lines = append(last.lines, words)
		}
	}
	if len(open) > 1 {
		return block{}, fmt.Errorf("block %q does not end", open[len(open)-1].title)
	}
	return open[0], nil
}

// name is the word after a block's keyword; empty without one.
func (b block) name() string {
	if len(b.title) < 2 {
		return ""
	}
	return b.title[1]
}

// line is the last line that begins with a keyword, which keepalived uses; nil without any.
func (b block) line(keyword string) []string {
	for _, words := range slices.Backward(b.lines) {
		if words[0] == keyword {
			return words
		}
	}
	return nil
}

// value is the word after a keyword; empty without one.
func (b block) value(keyword string) string {
	if words := b.line(keyword); len(words) > 1 {
		return words[1]
	}
	return ""
}

// has reports whether a block with the keyword is in it.
func (b block) has(keyword string) bool {
	return slices.ContainsFunc(b.blocks, func(in block) bool { return in.title[0] == keyword })
}

// block is the last block with a keyword, or an empty one.
func (b block) block(keyword string) block {
	for _, in := range slices.Backward(b.blocks) {
		if in.title[0] == keyword {
			return in
		}
	}
	return block{}
}

// tracks are the tracked files that a block names, without that of Config.Leave.
func (b block) tracks() (names []vrrp.CheckName) {
	for _, words := range b.block("track_file").lines {
		if words[0] != leaveTrack {
			names = append(names, vrrp.CheckName(words[0]))
		}
	}
	return names
}
