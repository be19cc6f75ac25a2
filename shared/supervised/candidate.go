package supervised

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// candidateVersion is the latest version of CandidateFile; all versions before it are read too.
// Version 2 has Device and Bits of instances.
const candidateVersion = 2

// versionOf is the earliest version with all fields that a configuration has set. During an
// upgrade a new monitor may run before the new supervisor; the former one goes on reading what it
// knows. It refuses all of a candidate with a field that it does not know, keeps the running
// configuration, and reports the version that it lacks.
func versionOf(c keepalived.Config) int {
	if slices.ContainsFunc(c.Instances, func(i keepalived.Instance) bool {
		return i.Device != "" || i.Bits != 0
	}) {
		return 2
	}
	return 1
}

// candidate is CandidateFile. Text is the digest of CandidateText, which a monitor of the former
// release writes alone: if the two differ, the text is the newer one. The files' times do not show
// that, as a monitor does not write a text again that is in place.
type candidate struct {
	Version int               `json:"version"`
	Text    string            `json:"text"`
	Config  keepalived.Config `json:"config"`
}

// EncodeCandidate is a configuration as a monitor proposes it: CandidateFile, and CandidateText,
// which is written after it. Equal configurations give equal bytes.
func EncodeCandidate(c keepalived.Config) (file, text []byte) {
	text = keepalived.Render(c)
	file, err := json.MarshalIndent(candidate{versionOf(c), Digest(text), c}, "", "  ")
	if err != nil {
		panic("supervised: a Config of texts and numbers cannot fail to marshal: " + err.Error())
	}
	return append(file, '\n'), text
}

// DecodeCandidate reads CandidateFile, all of it or nothing.
func DecodeCandidate(file []byte) (keepalived.Config, error) {
	var c candidate
	d := json.NewDecoder(bytes.NewReader(file))
	d.DisallowUnknownFields()
	err := d.Decode(&c)
	if _, more := d.Token(); err == nil && !errors.Is(more, io.EOF) {
		err = errors.New("more follows it")
	}
	// A version of another release explains fields that are not known.
	if v, _ := head(file); (v < 1 || v > candidateVersion) && json.Valid(file) {
		err = fmt.Errorf("its version is %d, this release reads up to %d: "+
			"run keepalived's supervisor of the monitor's release", v, candidateVersion)
	} else if err == nil {
		err = keepalived.Validate(c.Config)
	}
	if err != nil {
		return keepalived.Config{}, fmt.Errorf("read the candidate configuration: %w", err)
	}
	return c.Config, nil
}

// NamesText reports whether CandidateFile and CandidateText are of one monitor, so that
// CandidateFile counts.
func NamesText(file, text []byte) bool {
	_, named := head(file)
	return named == Digest(text)
}

// head is what every version of CandidateFile has; zero values for what cannot be read.
func head(file []byte) (version int, text string) {
	var h struct {
		Version int    `json:"version"`
		Text    string `json:"text"`
	}
	if json.Unmarshal(file, &h) != nil {
		return 0, ""
	}
	return h.Version, h.Text
}
