package supervise

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// The bounds of a test.
const (
	testTime   = 10 * time.Second
	testOutput = 4096 // bytes that are kept
)

// consider looks at the candidate and puts it in force when keepalived accepts it. Without one, what an earlier run put in force counts.
func (s *supervisor) consider(ctx context.Context) error {
	path := filepath.Join(s.RunDir, supervised.CandidateFile)
	text, digest, err := read(path)
	if err != nil {
		return err
	}
	refused := ""
	if s.status.Refused != nil {
		refused = s.status.Refused.Candidate
	}
	switch judge(files{candidate: digest, inForce: s.inForce, refused: refused}, !time.Now().Before(s.retestAt)) {
	case test:
		err = s.try(ctx, path, text, digest)
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

// try tests a candidate. The file may be replaced at any time: the verdict counts only when it is still the same. A good one that cannot be put
// in force is refused too: what is in force holds the VIP, and the next test may find room.
func (s *supervisor) try(ctx context.Context, path string, text []byte, digest string) error {
	complaint := s.test(ctx, path, text)
	if ctx.Err() != nil {
		return nil
	}
	if _, again, err := read(path); err != nil || again != digest {
		return err // its watcher wakes the loop
	}
	if complaint == "" {
		if _, err := file.WriteIfChanged(s.Config, text, 0o644); err != nil {
			complaint = fmt.Sprintf("put the configuration in force: %v", err)
		}
	}
	if complaint != "" {
		s.refuse(digest, complaint)
		return nil
	}
	s.Log.Info("accept configuration", "file", path, "sha256", digest)
	s.inForce, s.status.Refused = digest, nil
	s.heed(s.order.then(readOrder(text)))
	return nil
}

// adopt takes up the configuration of an earlier run, if it is still a good one. Since then somebody may have joined who holds the VIP now: until the
// monitor has named the peers anew, it hears everybody.
func (s *supervisor) adopt(ctx context.Context) error {
	text, digest, err := read(s.Config)
	if err != nil || digest == "" {
		return err
	}
	complaint := s.test(ctx, s.Config, text)
	switch {
	case ctx.Err() != nil:
	case complaint == "":
		if _, err := file.WriteIfChanged(s.Config, open(text), 0o644); err != nil {
			s.Log.Warn("hear whom an earlier run did not know", "error", err)
		} else {
			text = open(text)
			digest = supervised.Digest(text)
		}
		s.Log.Info("accept configuration", "file", s.Config, "sha256", digest)
		s.inForce = digest
		s.heed(readOrder(text))
	case s.status.Refused == nil:
		s.refuse(digest, complaint)
	}
	return nil
}

var known = regexp.MustCompile(`(?m)^\s*check_unicast_src\s*\n`)

// open is a configuration without what keeps those out whom it does not name.
func open(config []byte) []byte { return known.ReplaceAll(config, nil) }

// heed takes note of what the configuration in force says.
func (s *supervisor) heed(o order) {
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

// read gives an empty digest for a file that is not there.
func read(path string) (text []byte, digest string, err error) {
	text, err = os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", nil
	}
	if err != nil {
		return nil, "", fmt.Errorf("read configuration: %w", err)
	}
	return text, supervised.Digest(text), nil
}

// test has keepalived look at the configuration with this text, and returns its complaint or nothing. The complaint may quote the
// configuration, and goes to the status and to logs, so it is without passwords.
func (s *supervisor) test(ctx context.Context, path string, config []byte) string {
	fd, err := unix.MemfdCreate("keepalived-test", unix.MFD_CLOEXEC)
	if err != nil {
		return fmt.Sprintf("test the configuration: %v", err)
	}
	output := os.NewFile(uintptr(fd), "output")
	defer output.Close()
	tester, err := s.children.start(append(s.Command[:len(s.Command):len(s.Command)], "-t", "-f", path), output)
	if err != nil {
		return fmt.Sprintf("test the configuration: %v", err)
	}
	bound := time.NewTimer(testTime)
	defer bound.Stop()
	timedOut := false
	for waits := true; waits; {
		select {
		case line := <-s.lines: // an election does not wait for a test
			s.heard(line)
			continue
		case <-tester.done:
		case <-ctx.Done():
		case <-bound.C:
			timedOut = true
		}
		waits = false
	}
	if err := s.children.kill(tester); err != nil { // and whom it left behind
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
	said := mask(strings.TrimSpace(strings.ToValidUTF8(string(text[:n]), "?")), config)
	return strings.TrimSuffix(how+": "+said, ": ")
}

var password = regexp.MustCompile(`(?m)^\s*auth_pass\s+(\S+)`)

// mask takes a configuration's passwords out of a text.
func mask(text string, config []byte) string {
	for _, found := range password.FindAllSubmatch(config, -1) {
		text = strings.ReplaceAll(text, string(found[1]), "********")
	}
	return text
}
