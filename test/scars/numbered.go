package scars

import "fmt"

// numbered are the IDs of a chapter that counts through: K-01, K-02.
func numbered(letter string, first, last int) []string {
	var ids []string
	for i := first; i <= last; i++ {
		ids = append(ids, fmt.Sprintf("%s-%02d", letter, i))
	}
	return ids
}
