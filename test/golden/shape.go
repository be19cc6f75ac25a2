package golden

import (
	"bytes"
	"fmt"
	"strings"
)

// Shape is what no value may change about a configuration file: the first word and the number of
// words of every line, and whether it opens a block; of a comment, that it is one.
func Shape(file []byte) []string {
	var shape []string
	for line := range bytes.Lines(file) {
		words := strings.Fields(string(line))
		switch {
		case bytes.HasPrefix(line, []byte("#")):
			shape = append(shape, "#")
		case len(words) == 0:
			shape = append(shape, "")
		default:
			shape = append(shape, fmt.Sprintf("%s %d %t", words[0], len(words), words[len(words)-1] == "{"))
		}
	}
	return shape
}
