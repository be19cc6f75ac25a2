package loop

import "regexp"

// shape is an error's text with every word that has a digit replaced. Errors that differ only in
// ports, PIDs, request numbers, times, temporary files or counts have the same shape.
func shape(text string) string { return varying.ReplaceAllString(text, "#") }

// varying also matches parts joined by punctuation as one word: 1.5s, 10.0.0.1:40312,
// 2026-01-02T03:04:05Z and the groups of a UUID without a digit.
var varying = regexp.MustCompile(
	`[[:alnum:]]*[0-9][[:alnum:]]*(?:[.:+-]+[[:alnum:]]*[0-9][[:alnum:]]*|-[0-9a-f]{4}\b)*`,
)
