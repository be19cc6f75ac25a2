// Package rundir reads and writes the files through which a host's programs and keepalived's
// supervisor communicate. Package supervised describes the files.
package rundir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Dir is the path of the directory.
type Dir string

func (d Dir) at(name ...string) string { return filepath.Join(string(d), filepath.Join(name...)) }

// StatusFile is the path of the supervisor's status.
func (d Dir) StatusFile() string { return d.at(supervised.StatusFile) }

// Status is the supervisor's last status; the zero Status before the first.
func (d Dir) Status() (supervised.Status, error) {
	text, err := os.ReadFile(d.StatusFile())
	if errors.Is(err, fs.ErrNotExist) {
		return supervised.Status{}, nil
	}
	if err != nil {
		return supervised.Status{}, err
	}
	return supervised.Decode(text)
}

// ForgetStatus removes the status of a supervisor that has exited: a killed one may have reported
// MASTER last.
func (d Dir) ForgetStatus() error { return remove(d.StatusFile()) }

// Propose writes a candidate configuration. A supervisor of this release ignores CandidateFile
// until the text that it names is written too, and so keeps the running configuration.
func (d Dir) Propose(config keepalived.Config) error {
	candidate, text := supervised.EncodeCandidate(config)
	if _, err := file.WriteIfChanged(d.at(supervised.CandidateFile), candidate, 0o644); err != nil {
		return err
	}
	_, err := file.WriteIfChanged(d.at(supervised.CandidateText), text, 0o644)
	return err
}

// Passing and Failing are the contents of a tracked file.
const (
	Passing = "1\n"
	Failing = "0\n"
)

func (d Dir) trackFile(check vrrp.CheckName, fault bool) string {
	if fault {
		return d.at(supervised.FaultDir, string(check))
	}
	return d.at(supervised.TrackDir, string(check))
}

// Track writes the state of a check; fault: the check has no weight, its failure is FAULT.
func (d Dir) Track(check vrrp.CheckName, fault, passes bool) error {
	text, path := Failing, d.trackFile(check, fault)
	if passes {
		text = Passing
	}
	// The supervisor makes the directory too, and may start later.
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	_, err := file.Update(path, []byte(text), 0o644)
	return err
}

// Passes reports whether a check's tracked file is that of one that passes.
func (d Dir) Passes(check vrrp.CheckName, fault bool) bool {
	text, err := os.ReadFile(d.trackFile(check, fault))
	return err == nil && string(text) == Passing
}

// SetUnserved passes to the supervisor the instances whose VIPs this host does not serve.
func (d Dir) SetUnserved(instances []vrrp.InstanceName) error {
	var text strings.Builder
	for _, name := range instances {
		text.WriteString(string(name) + "\n")
	}
	_, err := file.Update(d.at(supervised.UnservedFile), []byte(text.String()), 0o644)
	return err
}

// Beat writes a heartbeat, padded to the digits of the largest one: the file's length must stay.
func (d Dir) Beat(beat uint64) error {
	return file.Overwrite(d.at(supervised.HeartbeatFile), fmt.Appendf(nil, "%020d\n", beat), 0o644)
}

func remove(path string) error {
	if err := os.Remove(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
