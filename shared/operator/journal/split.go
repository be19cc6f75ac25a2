package journal

import (
	"bytes"
	"errors"
	"fmt"
)

// Split separates the journals of several hosts in one text. A line "==> HOST <==" begins each of
// them; name is the host of the lines before the first one, empty if there may be none.
func Split(text []byte, name string) (map[string][]byte, error) {
	journals := map[string][]byte{}
	for line := range bytes.Lines(text) {
		host, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("==> "))
		if ok && bytes.HasSuffix(host, []byte(" <==")) {
			name = string(bytes.TrimSpace(bytes.TrimSuffix(host, []byte("<=="))))
			if _, twice := journals[name]; twice {
				return nil, fmt.Errorf("standard input has two journals of host %s", name)
			}
			journals[name] = nil
			continue
		}
		if name == "" && len(bytes.TrimSpace(line)) > 0 {
			return nil, errors.New("standard input does not name the journal's host: begin it " +
				`with a line "==> HOST <==", or write HOST=-`)
		}
		journals[name] = append(journals[name], line...)
	}
	return journals, nil
}
