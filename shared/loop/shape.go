package loop

import "regexp"

// shape is what stays of an error's text from one trial to the next: every word with a digit in it
// counts as the same. So ports, process and request numbers, times, temporary files and counts of
// trials make no other error, and other words do.
func shape(text string) string { return varying.ReplaceAllString(text, "#") }

// varying also joins what punctuation holds together: 1.5s, 10.0.0.1:40312, 2026-01-02T03:04:05Z
// and the groups of a UUID without a digit are one word.
var varying = regexp.MustCompile(`[[:alnum:]]*[0-9][[:alnum:]]*(?:[.:+-]+[[:alnum:]]*[0-9][[:alnum:]]*|-[0-9a-f]{4}\b)*`)
