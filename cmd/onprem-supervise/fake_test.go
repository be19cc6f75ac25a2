package main

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// fakeKeepalived is a keepalived whose configuration is the shell script that it runs. Tested, it
// complains about a configuration with the text "bad".
const fakeKeepalived = `#!/bin/sh
for word; do
	case $word in
	-t) testing=1 ;;
	-*) flag=$word; continue ;;
	esac
	case $flag in
	-f) conf=$word ;;
	-p | -r) echo $$ >"$word" ;;
	esac
	flag=
done
if [ "$testing" ]; then
	grep -q slow "$conf" && sleep 30
	grep -q pause "$conf" && sleep 0.5
	grep bad "$conf" >&2 && exit 4
	exit 0
fi
echo start >>"$DIR/starts"
. "$conf"
`

// serving is what a keepalived does that has nothing else to do. A command in the foreground would
// cost a signal now and then: dash forgets one that comes while it starts a program by vfork.
const serving = `trap 'exit 0' TERM
trap 'echo reload >>"$DIR/reloads"' HUP
echo 'INSTANCE "a" BACKUP 70' >"$FIFO"
while :; do sleep 0.02 & wait; done
`

// anInstance is one that the fake passes over, as what a shell reads up to the closing brace.
const anInstance = `: <<'}'
vrrp_instance a {
    interface ens3
    virtual_router_id 9
    virtual_ipaddress {
        192.0.2.5
    }
}
`

func newFakeKeepalived(t *testing.T) *supervisor {
	t.Helper()
	script := filepath.Join(t.TempDir(), "keepalived")
	if err := os.WriteFile(script, []byte(fakeKeepalived), 0o755); err != nil {
		t.Fatal(err)
	}
	return newSupervisor(t, []string{script}, "192.0.2.5")
}

func (s *supervisor) lines(file string) int {
	text, _ := os.ReadFile(filepath.Join(s.dir, file))
	return strings.Count(string(text), "\n")
}

// untilLines waits for a file's first n lines and then sees that no more come.
func (s *supervisor) untilLines(file string, n int, bound time.Duration) {
	s.t.Helper()
	for begin := time.Now(); s.lines(file) < n && time.Since(begin) < bound; {
		time.Sleep(2 * time.Millisecond)
	}
	time.Sleep(100 * time.Millisecond)
	if got := s.lines(file); got != n {
		s.t.Errorf("%d %s, want %d", got, file, n)
	}
}

// TestRestart_Backoff has keepalived end at once each time: it is started again at once, then
// after 1 s, then after 2 s.
func TestRestart_Backoff(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose("exit 3\n")
	s.until("restarted once", 10*time.Second,
		func(st supervised.Status) bool { return st.Restarts == 1 })
	begin := time.Now()
	if s.log.count("restart_in=0s") != 1 {
		t.Error("the first restart has a pause")
	}
	s.until("restarted twice", 10*time.Second,
		func(st supervised.Status) bool { return st.Restarts == 2 })
	if pause := time.Since(begin); pause < 900*time.Millisecond {
		t.Errorf("the second restart came after %s, want a pause of 1 s", pause)
	}
	s.until("restarted three times", 10*time.Second,
		func(st supervised.Status) bool { return st.Restarts == 3 })
	if pause := time.Since(begin); pause < 2900*time.Millisecond {
		t.Errorf("the third restart came after %s, want 3 s", pause)
	}
	if got := s.log.count(`outcome="exit status 3"`); got < 3 {
		t.Errorf("the exit status is reported %d times, want 3 at least", got)
	}
	// a good configuration does not wait for ever: the pause of 4 s has begun, and the next one
	// would be 8 s
	s.propose(serving)
	s.untilState("a", supervised.Backup, 10*time.Second)
	if s.status().PID == 0 {
		t.Error("the status lacks the PID")
	}
}

// TestRestart_FormerReports has keepalived report MASTER and exit: its successor reports
// nothing and must not count as a master.
func TestRestart_FormerReports(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose(`[ -e "$DIR/second" ] && { : >"$DIR/third"; while :; do sleep 0.02 & wait; done; }
: >"$DIR/second"
for i in 1 2 3 4 5 6 7 8 9; do echo 'INSTANCE "a" MASTER 70'; done >"$FIFO"
kill -9 $$
`)
	s.until("restarted", 10*time.Second, func(st supervised.Status) bool { return st.Restarts == 1 })
	time.Sleep(200 * time.Millisecond)
	if got := s.status().Instances["a"].State; got == supervised.Master {
		t.Error("the successor counts as a master by a report of its predecessor")
	}
}

// TestReload_AfterFirstReport proposes another configuration before keepalived handles SIGHUP,
// which would kill it.
func TestReload_AfterFirstReport(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose("sleep 0.3\n" + serving)
	s.until("started", 10*time.Second, func(st supervised.Status) bool { return st.PID != 0 })
	want := s.propose("sleep 0.3 # more\n" + serving)
	s.until("reloaded", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
	s.untilLines("reloads", 1, 10*time.Second)
	if st := s.status(); st.Restarts != 0 {
		t.Errorf("%d restarts, want none", st.Restarts)
	}
	// A keepalived that never reports gets a signal all the same.
	silent := newFakeKeepalived(t)
	silent.start(netns.New(t))
	silent.propose(strings.Replace(serving, "echo 'INSTANCE", ": 'INSTANCE", 1))
	silent.until("started", 10*time.Second, func(st supervised.Status) bool { return st.PID != 0 })
	want = silent.propose(serving)
	silent.until("reloaded", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
}

// TestReload_OnChangeOnly replaces the candidate by an equal one.
func TestReload_OnChangeOnly(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose(serving)
	s.untilState("a", supervised.Backup, 10*time.Second)
	for range 5 {
		s.propose(serving)
		time.Sleep(50 * time.Millisecond)
	}
	if got := s.lines("reloads"); got != 0 {
		t.Errorf("%d reloads for the same configuration", got)
	}
	want := s.propose(serving + "# changed\n")
	s.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
	s.untilLines("reloads", 1, 10*time.Second)
	if text, _ := os.ReadFile(s.config); supervised.Digest(text) != want {
		t.Error("the running configuration is not the candidate")
	}
}

func TestRefuses(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	password := strings.Replace(anInstance, "virtual_ipaddress",
		"authentication {\n        auth_pass hunter2\n    }\n    virtual_ipaddress", 1)
	bad := s.propose(password + "# bad from the beginning, secret word hunter2\n")
	s.until("refused", 10*time.Second, func(st supervised.Status) bool {
		return st.Refused != nil &&
			st.Refused.Candidate == bad
	})
	if s.lines("starts") != 0 {
		t.Error("keepalived was started on a configuration that it refuses")
	}
	if s.log.count("secret word ********") != 1 || !strings.Contains(s.status().Refused.Output,
		"secret word ********") {
		t.Errorf("keepalived's complaint is not reported: %+v", s.status().Refused)
	}
	good := s.propose(serving)
	s.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == good && st.Refused == nil })
	bad = s.propose("# bad again\n")
	s.until("refused", 10*time.Second, func(st supervised.Status) bool {
		return st.Refused != nil &&
			st.Refused.Candidate == bad
	})
	st := s.status()
	if st.Applied != good || !strings.Contains(st.Refused.Output, "exit status 4: # bad again") {
		t.Errorf("got %+v", st)
	}
	if text, _ := os.ReadFile(s.config); supervised.Digest(text) != good {
		t.Error("a refused candidate replaced the running configuration")
	}
	s.propose(serving) // the running one is wanted again
	s.until("forgiven", 10*time.Second, func(st supervised.Status) bool { return st.Refused == nil })
	if s.lines("reloads") != 0 || s.lines("starts") != 1 {
		t.Errorf("%d reloads, %d starts, want none and 1", s.lines("reloads"), s.lines("starts"))
	}
	if s.log.count("hunter2") != 0 {
		t.Error("the log quotes a password")
	}
}

// TestRefuses_LaterRelease has a monitor of a later release propose a configuration that this one
// cannot read: the running one stays, the status gives the reason under the digest by which that
// monitor knows its proposal, and a monitor that comes back is followed.
func TestRefuses_LaterRelease(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	good := s.propose(serving)
	s.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == good })
	later := serving + "# later\n"
	digest := supervised.Digest([]byte(later))
	candidate := `{"version": 3, "text": "` + digest + `", "instances": 7}`
	put(t, filepath.Join(s.dir, supervised.CandidateFile), candidate)
	s.propose(later)
	s.until("refused", 10*time.Second, func(st supervised.Status) bool {
		return st.Refused != nil && st.Refused.Candidate == digest
	})
	st := s.status()
	if st.Applied != good || !strings.Contains(st.Refused.Output,
		"its version is 3, this release reads up to 2") {
		t.Errorf("got %+v, %+v", st, st.Refused)
	}
	back := s.propose(serving + "# back\n")
	s.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == back && st.Refused == nil })
	if n := s.log.count("panic"); n != 0 || s.status().Restarts != 0 {
		t.Errorf("%d panics, status %+v", n, s.status())
	}
}

// TestRefuses_HangingTest bounds a test that does not end, and reports that: how it was killed
// explains nothing.
func TestRefuses_HangingTest(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	hangs := s.propose("# slow\n")
	s.until("refused", 20*time.Second, func(st supervised.Status) bool {
		return st.Refused != nil && st.Refused.Candidate == hangs
	})
	if got, want := s.status().Refused.Output, "the test had not ended after 10s"; got != want {
		t.Errorf("it is refused because %q, want %q", got, want)
	}
}

// TestRetests refuses a configuration that becomes good later, as when an interface comes.
func TestRetests(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	script := s.cmd.Args[len(s.cmd.Args)-1]
	text := strings.Replace(fakeKeepalived, `grep bad "$conf" >&2 && exit 4`,
		`[ -e "$DIR/interface" ] || { echo no interface >&2; exit 5; }`, 1)
	put(t, script, text)
	if err := os.Chmod(script, 0o755); err != nil {
		t.Fatal(err)
	}
	s.start(netns.New(t))
	want := s.propose(serving)
	s.until("refused", 10*time.Second, func(st supervised.Status) bool { return st.Refused != nil })
	put(t, filepath.Join(s.dir, "interface"), "")
	s.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want && st.Refused == nil })
}

// TestRefuses_NoRoom cannot write a configuration that keepalived accepts: the running one
// stays, the status reports why, and there is room later. A start without room runs on that of an
// earlier run.
func TestRefuses_NoRoom(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	before := s.propose(serving)
	s.untilState("a", supervised.Backup, 10*time.Second)
	dir := filepath.Dir(s.config)
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	want := s.propose(serving + "# changed\n")
	s.until("refused", 10*time.Second, func(st supervised.Status) bool {
		return st.Refused != nil &&
			st.Refused.Candidate == want
	})
	time.Sleep(1200 * time.Millisecond) // another trial
	st := s.status()
	if st.Applied != before || st.Instances["a"].State != supervised.Backup || st.Restarts != 0 ||
		!strings.Contains(st.Refused.Output, s.config) {
		t.Errorf("got %+v, %+v", st, st.Refused)
	}
	if n := s.log.count("refuse configuration"); n != 1 {
		t.Errorf("logged %d times, want once", n)
	}
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	s.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want && st.Refused == nil })
	s.untilLines("reloads", 1, 10*time.Second)
}

// TestCandidate_ReplacedDuringTheTest replaces the candidate by a good one before keepalived has
// read it: the result must not count for the bad one.
func TestCandidate_ReplacedDuringTheTest(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose("# bad, pause\n")
	time.Sleep(200 * time.Millisecond)
	want := s.propose(serving)
	s.untilState("a", supervised.Backup, 10*time.Second)
	if s.status().Applied != want || s.log.count("accept configuration") != 1 ||
		s.lines("starts") != 1 {
		t.Errorf("%d accepted, %d starts, status %+v", s.log.count("accept configuration"),
			s.lines("starts"), s.status())
	}
}

// TestAdopt finds a configuration and no candidate, then a bad candidate, then a bad
// configuration.
func TestAdopt(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, config, candidate string
		runs, refused           string
	}{
		{name: "good and no candidate", config: serving, runs: serving},
		{name: "good and a bad candidate", config: serving, candidate: "# bad\n", runs: serving,
			refused: "# bad\n"},
		{name: "good and a good candidate", config: serving, candidate: serving + "#\n",
			runs: serving + "#\n"},
		{name: "bad and no candidate", config: "# bad\n", refused: "# bad\n"},
		{name: "bad and a bad candidate", config: "# bad\n", candidate: "# bad too\n",
			refused: "# bad too\n"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFakeKeepalived(t)
			put(t, s.config, tt.config)
			if tt.candidate != "" {
				s.propose(tt.candidate)
			}
			s.start(netns.New(t))
			s.until("settled", 10*time.Second, func(st supervised.Status) bool {
				running := tt.runs == "" && st.Applied == "" ||
					st.Applied == supervised.Digest([]byte(tt.runs)) &&
						st.Instances["a"].State == supervised.Backup
				refused := tt.refused == "" && st.Refused == nil || st.Refused != nil &&
					st.Refused.Candidate == supervised.Digest([]byte(tt.refused))
				return running && refused && s.log.count("configuration") > 0
			})
			if starts, refusals := s.lines("starts"),
				s.log.count("refuse configuration"); starts > 1 || refusals > 1 {
				t.Errorf("%d starts, %d refusals", starts, refusals)
			}
			if s.lines("reloads") != 0 {
				t.Error("started on one configuration and reloaded at once with another")
			}
		})
	}
}

// TestReap_Orphans has keepalived leave grandchildren behind: none stays a zombie, and keepalived's
// own exit status is not lost among them.
func TestReap_Orphans(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		attr *syscall.SysProcAttr
	}{
		{"as the first process", contained()},
		{"as any process", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newFakeKeepalived(t)
			s.cmd.SysProcAttr = tt.attr
			s.start(netns.New(t))
			s.propose(`for i in 1 2 3 4 5 6 7 8 9 10; do (sleep 0.1 & sleep 8 &); done
echo 'INSTANCE "a" BACKUP 70' >"$FIFO"
sleep 6
exit 7
`)
			s.untilState("a", supervised.Backup, 10*time.Second)
			// keepalived, its own sleep and ten orphans; the other ten have ended
			await(t, "the supervisor's processes are not keepalived and the orphans that run",
				5*time.Second, func() bool {
					heirs := slices.Collect(maps.Values(below(s.cmd.Process.Pid)))
					return len(heirs) == 12 && !slices.Contains(heirs, "Z")
				})
			s.until("restarted", 20*time.Second,
				func(st supervised.Status) bool { return st.Restarts == 1 })
			if s.log.count(`outcome="exit status 7"`) != 1 {
				t.Error("keepalived's exit status was lost")
			}
			s.cmd.Process.Signal(syscall.SIGTERM)
			s.wait(5 * time.Second)
		})
	}
}

// TestRestart_NoStateMeanwhile has a master exit, and its successor wait for its start.
func TestRestart_NoStateMeanwhile(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose(`echo 'INSTANCE "a" MASTER 70' >"$FIFO"
sleep 0.2
exit 3
`)
	s.until("restarted once", 10*time.Second,
		func(st supervised.Status) bool { return st.Restarts == 1 })
	s.untilState("a", supervised.Master, 10*time.Second)
	s.until("dead", 10*time.Second, func(st supervised.Status) bool { return st.PID == 0 })
	if got := s.status().Instances["a"].State; got != supervised.Init {
		t.Errorf("a keepalived that does not run is %s", got)
	}
}

// TestFault_Idle has a keepalived with nothing to do: one in FAULT neither sends nor waits for
// anything, and has not hung.
func TestFault_Idle(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose("echo 'INSTANCE \"a\" FAULT 70' >\"$FIFO\"\nsleep 60\n")
	s.untilState("a", supervised.Fault, 10*time.Second)
	time.Sleep(10 * time.Second) // a hang would be found within it
	if st := s.status(); st.Restarts != 0 || st.Instances["a"].State != supervised.Fault {
		t.Errorf("got %+v", st)
	}
}

// TestContinue_Idle stops a keepalived that is in FAULT, and one that has not reported yet,
// by a signal: both go on.
func TestContinue_Idle(t *testing.T) {
	for name, word := range map[string]string{"in FAULT": "echo 'INSTANCE \"a\" FAULT 70' >\"$FIFO\"\n", "before its first report": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFakeKeepalived(t)
			s.start(netns.New(t))
			s.propose(word + ": >\"$DIR/ready\"\nwhile :; do sleep 0.1; done\n")
			await(t, "not started", 5*time.Second, func() bool {
				return s.status().PID != 0 && len(below(s.cmd.Process.Pid)) > 0
			})
			if word != "" {
				s.untilState("a", supervised.Fault, 10*time.Second)
			}
			leader := 0
			for pid := range below(s.cmd.Process.Pid) {
				if leader == 0 || pid < leader {
					leader = pid
				}
			}
			syscall.Kill(leader, syscall.SIGSTOP)
			await(t, "it is not continued", 5*time.Second, func() bool {
				return s.log.count("continue keepalived") > 0 &&
					below(s.cmd.Process.Pid)[leader] != "T"
			})
			if got := s.status().Restarts; got != 0 {
				t.Errorf("%d restarts", got)
			}
		})
	}
}

// TestKill_NoReport has a keepalived that hangs before its first report, and then one that does
// not.
func TestKill_NoReport(t *testing.T) {
	t.Parallel()
	s := newFakeKeepalived(t)
	s.start(netns.New(t))
	s.propose(anInstance + `[ -e "$DIR/second" ] || { : >"$DIR/second"; sleep 100; }` + "\n" +
		serving)
	s.until("started", 10*time.Second, func(st supervised.Status) bool { return st.PID != 0 })
	begin := time.Now()
	s.untilState("a", supervised.Backup, 60*time.Second)
	if took := time.Since(begin); took < 25*time.Second || s.status().Restarts != 1 {
		t.Errorf("after %s, %d restarts; want about 30 s and one", took, s.status().Restarts)
	}
}

// TestTerm_EndsAtOnce has it end while there is nothing to run, while keepalived runs, and during a
// test.
func TestTerm_EndsAtOnce(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, candidate string
		sig             syscall.Signal
	}{
		{name: "no candidate", sig: syscall.SIGTERM},
		{name: "running", candidate: serving, sig: syscall.SIGTERM},
		{name: "interrupted", candidate: serving, sig: syscall.SIGINT},
		{name: "in a test", candidate: "# slow\n" + serving, sig: syscall.SIGTERM},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := newFakeKeepalived(t)
			s.start(netns.New(t))
			s.until("begun", 10*time.Second,
				func(st supervised.Status) bool { return st.Instances != nil })
			if tt.candidate != "" {
				s.propose(tt.candidate)
				time.Sleep(300 * time.Millisecond)
			}
			begin := time.Now()
			s.cmd.Process.Signal(tt.sig)
			if code := s.wait(20 * time.Second); code != 0 {
				t.Errorf("exit status %d", code)
			}
			if took := time.Since(begin); took > 5*time.Second {
				t.Errorf("it took %s", took)
			}
		})
	}
}

func TestUsage(t *testing.T) {
	tests := []struct {
		args string
		code int
		want string
	}{
		{"--help", 0, "usage:"},
		{"", 2, "--config is missing"},
		{"--config c --vip 192.0.2.5 -- k", 2, "--run-dir is missing"},
		{"--config c --run-dir d -- k", 2, "--vip or --cluster is missing"},
		{"--config c --run-dir d --vip 192.0.2.5", 2, "the program to run is missing"},
		{"--config c --run-dir d --vip api.example.com -- k", 2, "api.example.com"},
		{"--colour red", 2, "colour"},
		{"--config c --run-dir /nonexistent/d --vip 192.0.2.5 -- k", 3, "/nonexistent/d"},
	}
	for _, tt := range tests {
		t.Run(tt.args, func(t *testing.T) {
			var out strings.Builder
			if code := program.Run(t.Context(), strings.Fields(tt.args), &out); code != tt.code ||
				!strings.Contains(out.String(), tt.want) {
				t.Errorf("got %d %q, want %d and %q", code, out.String(), tt.code, tt.want)
			}
		})
	}
}
