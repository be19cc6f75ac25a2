// Package protocol is what the supervisor reads and answers: the files that the monitor writes into
// the run directory, and the order that it takes from a keepalived configuration: which VIPs, how
// long to wait.
package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Candidate is a configuration that may become the running one: its text, and what the text means.
type Candidate struct {
	Text    []byte
	Digest  string // of Text; empty without a candidate
	Config  keepalived.Config
	Invalid error // why it cannot be read; Digest is then of what was read
}

// Proposal is what the monitor proposes, as it was last read.
type Proposal struct {
	file, text []byte // CandidateFile and CandidateText
	candidate  Candidate
}

// Read reads it again, every round: files that have not changed are not decoded again.
func (p *Proposal) Read(runDir string) (Candidate, error) {
	file, err := readIfThere(filepath.Join(runDir, supervised.CandidateFile))
	if err != nil {
		return Candidate{}, err
	}
	text, err := readIfThere(filepath.Join(runDir, supervised.CandidateText))
	if err != nil {
		return Candidate{}, err
	}
	if !bytes.Equal(file, p.file) || !bytes.Equal(text, p.text) {
		*p = Proposal{file, text, newer(file, text)}
	}
	return p.candidate, nil
}

// newer is the candidate of the newer one of the two files: CandidateFile, unless it names
// another text than that of CandidateText. A monitor of the former release, which came back,
// writes CandidateText alone; one of this release writes CandidateText after CandidateFile.
func newer(file, text []byte) Candidate {
	switch {
	case len(file) == 0 && len(text) == 0:
		return Candidate{}
	case len(file) == 0 || len(text) > 0 && !supervised.NamesText(file, text):
		return parse(text)
	}
	config, err := supervised.DecodeCandidate(file)
	if err != nil {
		known := text // a monitor knows its proposal by the digest of the text
		if len(text) == 0 {
			known = file
		}
		return Candidate{Digest: supervised.Digest(known), Invalid: err}
	}
	return render(config)
}

func render(config keepalived.Config) Candidate {
	text := keepalived.Render(config)
	return Candidate{Text: text, Digest: supervised.Digest(text), Config: config}
}

func parse(text []byte) Candidate {
	config, err := keepalived.Parse(text)
	return Candidate{Text: text, Digest: supervised.Digest(text), Config: config, Invalid: err}
}

// Former is the configuration of an earlier run, which is known by its text only; ok is false
// without one.
func Former(path string) (c Candidate, ok bool, err error) {
	text, err := readIfThere(path)
	if err != nil || text == nil {
		return Candidate{}, false, err
	}
	return parse(text), true, nil
}

// Open is a candidate whose instances accept adverts of routers that are not among their peers. If
// all of them do already, its text stays the same to the byte.
func (c Candidate) Open() Candidate {
	closed := func(i keepalived.Instance) bool { return i.Known || i.Near }
	if !slices.ContainsFunc(c.Config.Instances, closed) {
		return c
	}
	c.Config.Instances = slices.Clone(c.Config.Instances)
	for i := range c.Config.Instances {
		c.Config.Instances[i].Known, c.Config.Instances[i].Near = false, false
	}
	return render(c.Config)
}

// readIfThere returns nil for a file that does not exist.
func readIfThere(path string) ([]byte, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	return text, nil
}

// ReleaseRequested reports whether a request to release the VIPs stands.
func ReleaseRequested(runDir string) (bool, error) {
	_, err := os.Stat(filepath.Join(runDir, supervised.LeaveFile))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Unserved are the instances whose VIPs are not served here according to the monitor.
func Unserved(runDir string) (map[string]bool, error) {
	text, err := os.ReadFile(filepath.Join(runDir, supervised.UnservedFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read what is not served: %w", err)
	}
	names := map[string]bool{}
	for name := range strings.FieldsSeq(string(text)) {
		names[name] = true
	}
	return names, nil
}
