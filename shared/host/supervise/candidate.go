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
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The bounds of a test.
const (
	testTime   = 10 * time.Second
	testOutput = 4096 // bytes that are kept
)

// testFile is what keepalived tests, in the run directory.
const testFile = "tested.conf"

// consider puts the candidate in force when keepalived accepts it. Without one, the configuration
// of an earlier run is adopted.
func (s *supervisor) consider(ctx context.Context) error {
	c, err := s.proposal.read(s.RunDir)
	if err != nil {
		return err
	}
	refused := ""
	if s.status.Refused != nil {
		refused = s.status.Refused.Candidate
	}
	is := files{candidate: c.digest, inForce: s.inForce, refused: refused}
	switch judge(is, !time.Now().Before(s.retestAt)) {
	case test:
		err = s.try(ctx, c)
	case forgive:
		s.status.Refused = nil
	}
	if err != nil || ctx.Err() != nil || s.inForce != "" || s.adopted {
		return err
	}
	err = s.adopt(ctx)
	s.adopted = err == nil
	return err
}

// try tests a candidate. It may be replaced at any time: the verdict counts only when it is still
// the same. A good one that cannot be put in force is refused too: the configuration in force
// holds the VIP, and the next test may find room.
func (s *supervisor) try(ctx context.Context, c candidate) error {
	complaint := s.test(ctx, c)
	if ctx.Err() != nil {
		return nil
	}
	if again, err := s.proposal.read(s.RunDir); err != nil || again.digest != c.digest {
		return err // its watcher wakes the loop
	}
	if complaint == "" {
		if _, err := file.WriteIfChanged(s.Config, c.text, 0o644); err != nil {
			complaint = fmt.Sprintf("put the configuration in force: %v", err)
		}
	}
	if complaint != "" {
		s.refuse(c.digest, complaint)
		return nil
	}
	s.Log.Info("accept configuration", "file", s.Config, "sha256", c.digest)
	s.inForce, s.status.Refused = c.digest, nil
	s.setOrder(s.order.then(orderOf(c.config)))
	return nil
}

// adopt takes up the configuration of an earlier run, if it is still a good one. A router that has
// joined since then may hold the VIP: until the monitor has named the peers anew, every router's
// adverts are accepted.
func (s *supervisor) adopt(ctx context.Context) error {
	text, err := read(s.Config)
	if err != nil || text == nil {
		return err
	}
	c := parsed(text)
	complaint := s.test(ctx, c)
	switch {
	case ctx.Err() != nil:
	case complaint == "":
		if open := c.open(); open.digest != c.digest {
			if _, err := file.WriteIfChanged(s.Config, open.text, 0o644); err != nil {
				s.Log.Warn("accept unknown peers of the adopted configuration", "error", err)
			} else {
				c = open
			}
		}
		s.Log.Info("accept configuration", "file", s.Config, "sha256", c.digest)
		s.inForce = c.digest
		s.setOrder(orderOf(c.config))
	case s.status.Refused == nil:
		s.refuse(c.digest, complaint)
	}
	return nil
}

// setOrder takes note of what the configuration in force says.
func (s *supervisor) setOrder(o order) {
	s.order, s.warmth, s.far = o, warmth{}, farFilter{}
	s.advert.Store(int64(o.advert))
	clear(s.adoptions) // a reload follows
	s.followSlower()
}

// refuse leaves what is in force alone, and says why once.
func (s *supervisor) refuse(digest, complaint string) {
	if r := s.status.Refused; r == nil || r.Candidate != digest {
		s.Log.Warn("refuse configuration", "sha256", digest, "why", complaint)
		s.retry = backoff{failures: 1}
	}
	s.status.Refused = &supervised.Refusal{Candidate: digest, Output: complaint}
	s.retestAt = time.Now().Add(s.retry.next(0))
}

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
