package daemon

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/host/supervise/protocol"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// The bounds of a test.
const (
	testBound  = 10 * time.Second
	testOutput = 4096 // bytes that are kept
)

// testFile is what keepalived tests, in the run directory.
const testFile = "tested.conf"

// Test is keepalived's own test of a candidate while it runs.
type Test struct {
	*proc.Child
	Bound     time.Time // when it takes too long
	candidate protocol.Candidate
	output    *os.File
}

// StartTest begins the test of a candidate. An error means that it cannot be tested.
func (d *Daemon) StartTest(c protocol.Candidate) (*Test, error) {
	if c.Invalid != nil {
		return nil, c.Invalid
	}
	path, err := d.stage(c.Text)
	if err != nil {
		return nil, fmt.Errorf("test the configuration: %w", err)
	}
	fd, err := unix.MemfdCreate("keepalived-test", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("test the configuration: %w", err)
	}
	output := os.NewFile(uintptr(fd), "output")
	child, err := d.reaper.Start(slices.Concat(d.Command, []string{"-t", "-f", path}), output)
	if err != nil {
		output.Close()
		return nil, fmt.Errorf("test the configuration: %w", err)
	}
	return &Test{child, time.Now().Add(testBound), c, output}, nil
}

// stage is a file with a text for keepalived's test: the running configuration if that holds the
// text, so that nothing needs to be written where there is no room.
func (d *Daemon) stage(text []byte) (path string, err error) {
	if running, err := os.ReadFile(d.File); err == nil && bytes.Equal(running, text) {
		return d.File, nil
	}
	path = filepath.Join(d.RunDir, testFile)
	_, err = file.WriteIfChanged(path, text, 0o644)
	return path, err
}

// End ends a test, with all that it left behind, and returns what is wrong with the candidate;
// empty for nothing. That may quote the configuration, and goes to the status and to logs, so it is
// without passwords.
func (t *Test) End() (complaint string) {
	defer t.output.Close()
	timedOut := !t.Ended()
	if err := t.Kill(); err != nil {
		return fmt.Sprintf("test the configuration: %v", err)
	}
	<-t.Done
	if t.Succeeded() {
		return ""
	}
	text := make([]byte, testOutput)
	n, err := t.output.ReadAt(text, 0)
	if err != nil && err != io.EOF {
		return fmt.Sprintf("test the configuration: %v", err)
	}
	outcome := t.Outcome()
	if timedOut {
		outcome = fmt.Sprintf("the test had not ended after %s", testBound)
	}
	printed := mask(strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), "?")),
		t.candidate.Config)
	return strings.TrimSuffix(outcome+": "+printed, ": ")
}

func mask(text string, c keepalived.Config) string {
	for _, i := range c.Instances {
		if i.AuthPass != "" {
			text = strings.ReplaceAll(text, string(i.AuthPass), "********")
		}
	}
	return text
}
