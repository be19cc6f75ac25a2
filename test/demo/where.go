package main

import (
	"fmt"
	"strings"
	"time"
)

// spent is how long a step took.
type spent struct {
	title string
	d     time.Duration
}

// took keeps how long a step took that began at a time.
func (s *show) took(title string, begin time.Time) {
	s.spent = append(s.spent, spent{title, time.Since(begin)})
}

// where prints where the time went, step by step.
func (s *show) where() string {
	var b strings.Builder
	var all time.Duration
	b.WriteString("Where the time went:\n")
	for _, one := range s.spent {
		all += one.d
		fmt.Fprintf(&b, "%8s  %s\n", one.d.Round(time.Second), one.title)
	}
	fmt.Fprintf(&b, "%8s  altogether\n", all.Round(time.Second))
	return b.String()
}
