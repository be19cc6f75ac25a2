package supervise

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
)

// The bounds of a test.
const (
	testTime   = 10 * time.Second
	testOutput = 4096 // bytes that are kept
)

// testFile is what keepalived tests, in the run directory.
const testFile = "tested.conf"

// test returns what is wrong with a candidate, by keepalived's own test: its complaint, or nothing.
// The complaint may quote the configuration, and goes to the status and to logs, so it is without
// passwords.
func (s *supervisor) test(ctx context.Context, c candidate) string {
	if c.wrong != nil {
		return c.wrong.Error()
	}
	path, err := s.stage(c.text)
	if err != nil {
		return fmt.Sprintf("test the configuration: %v", err)
	}
	fd, err := unix.MemfdCreate("keepalived-test", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Sprintf("test the configuration: %v", err)
	}
	output := os.NewFile(uintptr(fd), "output")
	defer output.Close()
	tester, err := s.children.start(slices.Concat(s.Command, []string{"-t", "-f", path}), output)
	if err != nil {
		return fmt.Sprintf("test the configuration: %v", err)
	}
	timedOut := s.waitForTest(ctx, tester)
	if err := s.children.kill(tester); err != nil { // and what it left behind
		return fmt.Sprintf("test the configuration: %v", err)
	}
	<-tester.done
	if tester.status.ExitStatus() == 0 {
		return ""
	}
	text := make([]byte, testOutput)
	n, err := output.ReadAt(text, 0)
	if err != nil && err != io.EOF {
		return fmt.Sprintf("test the configuration: %v", err)
	}
	how := outcome(tester.status)
	if timedOut {
		how = fmt.Sprintf("the test had not ended after %s", testTime)
	}
	said := mask(strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), "?")), c.config)
	return strings.TrimSuffix(how+": "+said, ": ")
}

// stage is a file with a text for keepalived's test: the one in force if it holds that text, so
// that nothing needs to be written where there is no room.
func (s *supervisor) stage(text []byte) (path string, err error) {
	if inForce, err := os.ReadFile(s.Config); err == nil && bytes.Equal(inForce, text) {
		return s.Config, nil
	}
	path = filepath.Join(s.RunDir, testFile)
	_, err = file.WriteIfChanged(path, text, 0o644)
	return path, err
}

// waitForTest waits for the end of a test, and says whether it took too long. An election does not
// wait for it.
func (s *supervisor) waitForTest(ctx context.Context, tester *child) (timedOut bool) {
	bound := time.NewTimer(testTime)
	defer bound.Stop()
	for {
		select {
		case line := <-s.lines:
			s.heard(line)
		case <-tester.done:
			return false
		case <-ctx.Done():
			return false
		case <-bound.C:
			return true
		}
	}
}

// mask takes a configuration's passwords out of a text.
func mask(text string, c keepalived.Config) string {
	for _, i := range c.Instances {
		if i.AuthPass != "" {
			text = strings.ReplaceAll(text, string(i.AuthPass), "********")
		}
	}
	return text
}
