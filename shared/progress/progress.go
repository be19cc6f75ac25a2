// Package progress shows the current work as one line of a terminal until the work is done.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"
	"unicode/utf8"
)

// every is the time between two drawings, so that the seconds count while nothing else happens.
const every = time.Second

// width is that of the narrowest terminal: a line that wraps could not be drawn over.
const width = 79

// Line is the line. A nil one shows nothing.
type Line struct {
	w     io.Writer
	began time.Time
	stop  chan struct{}
	ended sync.WaitGroup

	mu   sync.Mutex
	text string
}

// Start shows a line until Done. Its age is drawn beside it.
func Start(w io.Writer, text string) *Line {
	l := &Line{w: w, began: time.Now(), stop: make(chan struct{}), text: text}
	l.draw()
	l.ended.Go(func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-l.stop:
				return
			case <-tick.C:
				l.draw()
			}
		}
	})
	return l
}

// Step shows the next step.
func (l *Line) Step(format string, args ...any) {
	if l == nil {
		return
	}
	l.mu.Lock()
	l.text = fmt.Sprintf(format, args...)
	l.mu.Unlock()
	l.draw()
}

// Keep writes text that stays, above the line.
func (l *Line) Keep(text string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	_, _ = io.WriteString(l.w, erase+text) // the terminal may be gone
	l.mu.Unlock()
	l.draw()
}

// Done removes the line.
func (l *Line) Done() {
	if l == nil {
		return
	}
	close(l.stop)
	l.ended.Wait()
	_, _ = io.WriteString(l.w, erase)
}

// erase goes to the first column and clears what is there.
const erase = "\r\x1b[K"

func (l *Line) draw() {
	l.mu.Lock()
	defer l.mu.Unlock()
	age := fmt.Sprintf(" (%d s)", int(time.Since(l.began)/time.Second))
	text := l.text
	if room := width - len(age); utf8.RuneCountInString(text) > room {
		text = string([]rune(text)[:room-1]) + "…"
	}
	_, _ = io.WriteString(l.w, erase+text+age)
}
