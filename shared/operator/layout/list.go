package layout

import (
	"fmt"
	"strings"
)

// List joins values by commas; none stands for an empty list.
func List[T fmt.Stringer](values []T, none string) string {
	if len(values) == 0 {
		return none
	}
	words := make([]string, len(values))
	for i, v := range values {
		words[i] = v.String()
	}
	return strings.Join(words, ", ")
}
