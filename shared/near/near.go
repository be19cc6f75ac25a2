// Package near finds the word that is meant by a mistyped one.
package near

import "strings"

// Word is the known word that is nearest to what was typed; empty if none is near. Case, hyphens
// and underscores do not count. At most two letters, and one in three, may be wrong, missing, too
// many or swapped, as by a slip of the hand.
func Word[W ~string](typed string, known []W) W {
	var best W
	least := min(2, len(typed)/3) + 1
	for _, k := range known {
		if d := distance(plain(typed), plain(string(k))); d < least {
			best, least = k, d
		}
	}
	return best
}

var separators = strings.NewReplacer("-", "", "_", "")

// plain is a word without what does not count.
func plain(s string) string { return separators.Replace(strings.ToLower(s)) }

// distance is how many letters of a are to be changed, added, taken away or swapped with the next
// one until it is b.
func distance(a, b string) int {
	x, y := []rune(a), []rune(b)
	var before, last []int
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := 1; i <= len(x); i++ {
		before, last, row = last, row, make([]int, len(y)+1)
		row[0] = i
		for j := 1; j <= len(y); j++ {
			change := 1
			if x[i-1] == y[j-1] {
				change = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+change)
			if i > 1 && j > 1 && x[i-1] == y[j-2] && x[i-2] == y[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
	}
	return row[len(y)]
}
