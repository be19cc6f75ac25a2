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

// counted are those of a chapter whose history has no leading zeros: W-1, W-2.
func counted(letter string, last int) []string {
	var ids []string
	for i := 1; i <= last; i++ {
		ids = append(ids, fmt.Sprintf("%s-%d", letter, i))
	}
	return ids
}
