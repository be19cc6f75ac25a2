package document

import (
	"bytes"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// rowReader hands out one line a call, so that the lines read show how far the parser came.
type rowReader struct {
	rest []byte
	read int
}

func (r *rowReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	row := r.rest
	if i := bytes.IndexByte(row, '\n'); i >= 0 {
		row = row[:i+1]
	}
	n := copy(p, row)
	r.rest = r.rest[n:]
	if n == len(row) {
		r.read++
	}
	return n, nil
}

var (
	errorLine   = regexp.MustCompile(`^yaml: line (\d+): `)
	indentedTab = regexp.MustCompile(`^ *\t`)
	// Errors of the parser's second stage. It counts lines from 0, its first stage from 1.
	fromZero = regexp.MustCompile(`^did not find expected (<|node|'-'|key|',')|` +
		`^found (duplicate %|incompatible|undefined tag)`)
	// Of these it names the line where the list or map began, which may be far above the fault.
	fromAbove = regexp.MustCompile(`^did not find expected ('-'|key)|^unknown anchor`)
)

// syntax turns the parser's error into a finding; read is how many lines it took. The parser's
// words are passed on where they are fixed ones: the name of an anchor may be the beginning of a
// password without quotes.
func (r *Reader) syntax(text []byte, read int, err error) {
	why, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := errorLine.FindStringSubmatch(err.Error()); m != nil {
		line, _ = strconv.Atoi(m[1])
		if why = strings.TrimPrefix(err.Error(), m[0]); fromZero.MatchString(why) {
			line++
		}
	}
	if fromAbove.MatchString(why) {
		line = read
	}
	if strings.HasPrefix(why, "unknown anchor") {
		why = "an alias (*) without its anchor (&)"
	}
	rows := Breaks.Split(string(text), -1)
	line = max(1, min(line, len(rows)))
	for i := line - 1; i < min(line+1, len(rows)); i++ { // a tab ends the value of the line above
		if tab := indentedTab.FindString(rows[i]); tab != "" {
			r.Errorf(r.place(i+1, len(tab)),
				"a tab indents this line, where YAML allows spaces only: replace the tab by spaces")
			return
		}
	}
	at := r.place(line, 1+len(rows[line-1])-len(strings.TrimLeft(rows[line-1], " ")))
	r.Errorf(at, "is not YAML here: %s: fix this line or the one before it, and put text "+
		"with special characters in quotes", why)
}
