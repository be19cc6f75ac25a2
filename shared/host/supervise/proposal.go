package supervise

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// candidate is a configuration that may come in force: its text, and what the text says.
type candidate struct {
	text   []byte
	digest string // of text; empty without a candidate
	config keepalived.Config
	wrong  error // why it cannot be read; digest is then of what was read
}

// proposal is what the monitor proposes, as it was last read.
type proposal struct {
	file, text []byte // CandidateFile and CandidateText
	is         candidate
}

// read reads it again, every round: files that have not changed are not decoded again.
func (p *proposal) read(runDir string) (candidate, error) {
	file, err := read(filepath.Join(runDir, supervised.CandidateFile))
	if err != nil {
		return candidate{}, err
	}
	text, err := read(filepath.Join(runDir, supervised.CandidateText))
	if err != nil {
		return candidate{}, err
	}
	if !bytes.Equal(file, p.file) || !bytes.Equal(text, p.text) {
		*p = proposal{file, text, proposed(file, text)}
	}
	return p.is, nil
}

// proposed is the newer one of two files. That is CandidateFile, except beside a CandidateText that
// it does not name: a monitor of the former release, which came back, writes CandidateText alone,
// and one of this release writes it last.
func proposed(file, text []byte) candidate {
	switch {
	case len(file) == 0 && len(text) == 0:
		return candidate{}
	case len(file) == 0 || len(text) > 0 && !supervised.NamesText(file, text):
		return parsed(text)
	}
	config, err := supervised.DecodeCandidate(file)
	if err != nil {
		known := text // a monitor knows its proposal by the digest of the text
		if len(text) == 0 {
			known = file
		}
		return candidate{digest: supervised.Digest(known), wrong: err}
	}
	return rendered(config)
}

func rendered(config keepalived.Config) candidate {
	text := keepalived.Render(config)
	return candidate{text: text, digest: supervised.Digest(text), config: config}
}

// parsed is a candidate of which only the text is known.
func parsed(text []byte) candidate {
	config, err := keepalived.Parse(text)
	return candidate{text: text, digest: supervised.Digest(text), config: config, wrong: err}
}

// open is a candidate whose instances accept adverts of routers that are not among their peers. One
// whose instances all do stays as it is, to the byte.
func (c candidate) open() candidate {
	closed := func(i keepalived.Instance) bool { return i.Known || i.Near }
	if !slices.ContainsFunc(c.config.Instances, closed) {
		return c
	}
	c.config.Instances = slices.Clone(c.config.Instances)
	for i := range c.config.Instances {
		c.config.Instances[i].Known, c.config.Instances[i].Near = false, false
	}
	return rendered(c.config)
}

// read gives nil for a file that is not there.
func read(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return text, nil
}
