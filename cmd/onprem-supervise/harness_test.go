package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// beSupervisor makes the test binary the program itself.
const beSupervisor = "ONPREM_SUPERVISE_TEST"

func TestMain(m *testing.M) {
	if os.Getenv(beSupervisor) == "1" {
		if os.Getpid() == 1 {
			for kind, at := range map[string]string{"proc": "/proc", "tmpfs": "/run"} {
				if err := unix.Mount(kind, at, kind, 0, ""); err != nil {
					panic(err)
				}
			}
		}
		if err := limitInotify(); err != nil {
			panic(err)
		}
		main()
	}
	// A process that nohup starts ignores this signal, and so do all that it starts: no shell that
	// stands in for keepalived could handle it.
	signal.Notify(make(chan os.Signal, 1), unix.SIGHUP)
	// The tests wait for elections most of the time: more of them run side by side than there are
	// processors.
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		if err := p.Value.Set("5"); err != nil {
			panic(err)
		}
	}
	os.Exit(m.Run())
}

// supervisor is one in a directory of its own, the first process of its process namespace as in a
// container.
type supervisor struct {
	t      *testing.T
	dir    string // the run directory
	config string
	cmd    *exec.Cmd
	log    *logBuffer
	ended  chan struct{}
}

// logBuffer holds what the supervisor and its keepalived print.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logBuffer) count(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), what)
}

// newSupervisor prepares a run; start begins it.
func newSupervisor(t *testing.T, keepalived []string, vips ...string) *supervisor {
	t.Helper()
	need.Root(t)
	s := &supervisor{t: t, dir: t.TempDir(), log: &logBuffer{}, ended: make(chan struct{})}
	s.config = filepath.Join(t.TempDir(), "keepalived.conf")
	args := []string{"--config", s.config, "--run-dir", s.dir}
	for _, vip := range vips {
		args = append(args, "--vip", vip)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.Command(self, append(append(args, "--"), keepalived...)...)
	s.cmd.Env = append(os.Environ(), beSupervisor+"=1", "FIFO="+filepath.Join(s.dir,
		supervised.NotifyFIFO), "DIR="+s.dir)
	s.cmd.Stderr = s.log
	s.cmd.SysProcAttr = contained()
	return s
}

// contained is what makes a process the first one of its process namespace, with a /proc and a /run
// of its own, as in a container.
func contained() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
}

// start starts it inside a network namespace. All of its processes are killed with its process
// namespace at the end of the test.
func (s *supervisor) start(ns netns.Namespace) {
	s.t.Helper()
	if err := ns.In(s.cmd.Start); err != nil {
		s.t.Fatal(err)
	}
	go func() {
		defer close(s.ended)
		s.cmd.Wait()
	}()
	s.t.Cleanup(func() {
		s.cmd.Process.Kill()
		<-s.ended
		if s.t.Failed() {
			s.t.Logf("the supervisor's log:\n%s", s.log.text.String())
		}
	})
}

// propose puts a candidate in place as a monitor of the former release does, whole.
func (s *supervisor) propose(text string) string {
	s.t.Helper()
	put(s.t, filepath.Join(s.dir, supervised.CandidateText), text)
	return supervised.Digest([]byte(text))
}

// proposeConfig puts one in place as a monitor of this release does, with this run directory.
func (s *supervisor) proposeConfig(config keepalived.Config) string {
	s.t.Helper()
	config, err := keepalived.Parse(bytes.ReplaceAll(keepalived.Render(config),
		[]byte(supervised.RunDir), []byte(s.dir)))
	if err != nil {
		s.t.Fatal(err)
	}
	file, text := supervised.EncodeCandidate(config)
	put(s.t, filepath.Join(s.dir, supervised.CandidateFile), string(file))
	return s.propose(string(text))
}

func put(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func (s *supervisor) status() supervised.Status {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(s.dir, supervised.StatusFile))
	if os.IsNotExist(err) {
		return supervised.Status{}
	}
	if err != nil {
		s.t.Fatal(err)
	}
	status, err := supervised.Decode(text)
	if err != nil {
		s.t.Fatal(err)
	}
	return status
}

// until waits for a status, and returns how long that took.
func (s *supervisor) until(what string, bound time.Duration,
	is func(supervised.Status) bool) time.Duration {
	s.t.Helper()
	begin := time.Now()
	for time.Since(begin) < bound {
		if is(s.status()) {
			return time.Since(begin)
		}
		time.Sleep(2 * time.Millisecond)
	}
	s.t.Fatalf("not %s within %s: %+v", what, bound, s.status())
	return 0
}

func (s *supervisor) untilState(instance string, state supervised.State,
	bound time.Duration) time.Duration {
	s.t.Helper()
	return s.until(string(state), bound,
		func(st supervised.Status) bool { return st.Instances[instance].State == state })
}

// await waits until a condition is true. what is the complaint if it does not become so.
func await(t *testing.T, what string, bound time.Duration, is func() bool) {
	t.Helper()
	for end := time.Now().Add(bound); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("after %s: %s", bound, what)
		}
	}
}

// wait waits for the supervisor's end.
func (s *supervisor) wait(bound time.Duration) int {
	s.t.Helper()
	select {
	case <-s.ended:
	case <-time.After(bound):
		s.t.Fatalf("it did not end within %s", bound)
	}
	return s.cmd.ProcessState.ExitCode()
}

// below lists a process's descendants, by the numbers of the test's own namespace, each with its
// state letter (Z is a zombie).
func below(pid int) map[int]string {
	out := map[int]string{}
	tasks, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", pid))
	for _, task := range tasks {
		text, _ := os.ReadFile(task)
		for _, word := range strings.Fields(string(text)) {
			child, _ := strconv.Atoi(word)
			stat, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", child))
			_, after, _ := strings.Cut(string(stat), ") ")
			out[child] = after[:min(1, len(after))]
			for k, v := range below(child) {
				out[k] = v
			}
		}
	}
	return out
}

// freeze stops the supervisor itself, and waits until each of its threads has stopped: a running
// one goes on for a moment after the signal.
func (s *supervisor) freeze() {
	s.t.Helper()
	if err := s.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		s.t.Fatal(err)
	}
	await(s.t, "the supervisor does not stop", 5*time.Second, s.frozen)
}

func (s *supervisor) frozen() bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", s.cmd.Process.Pid))
	for _, thread := range threads {
		stat, err := os.ReadFile(thread)
		if _, after, _ := strings.Cut(string(stat), ") "); err == nil &&
			!strings.HasPrefix(after, "T") {
			return false
		}
	}
	return len(threads) > 0
}

// vrrpPID is keepalived's process that advertises.
func (s *supervisor) vrrpPID() int {
	s.t.Helper()
	for keepalived := range below(s.cmd.Process.Pid) {
		for vrrp := range below(keepalived) {
			return vrrp
		}
	}
	s.t.Fatal("no process advertises")
	return 0
}

// trace stops a process as a debugger does, for as long as it lives.
func trace(t *testing.T, pid int) {
	t.Helper()
	stopped := make(chan error)
	go func() {
		runtime.LockOSThread() // a tracer is a thread
		defer runtime.UnlockOSThread()
		err := unix.PtraceAttach(pid)
		if err == nil {
			_, err = unix.Wait4(pid, nil, 0, nil)
		}
		stopped <- err
		unix.Wait4(pid, nil, 0, nil) // no other process is notified of its end before
	}()
	if err := <-stopped; err != nil {
		t.Fatalf("trace process %d: %v", pid, err)
	}
}

// signalAll signals all of keepalived at once, as its group: one by one, on a busy host, the first is
// continued before the next is stopped, and that counts as a second stop.
func (s *supervisor) signalAll(sig syscall.Signal) {
	s.t.Helper()
	group := 0
	for pid := range below(s.cmd.Process.Pid) {
		of, err := syscall.Getpgid(pid)
		if err != nil || group != 0 && of != group {
			s.t.Fatalf("process %d is of group %d beside %d: %v", pid, of, group, err)
		}
		group = of
	}
	if group == 0 {
		s.t.Fatal("no process runs below the supervisor")
	}
	if err := syscall.Kill(-group, sig); err != nil {
		s.t.Fatal(err)
	}
}
