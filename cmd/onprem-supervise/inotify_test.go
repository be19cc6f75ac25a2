package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/netns"
)

// inotifyLimit gives the program that many inotify instances for all that runs below it.
const inotifyLimit = "ONPREM_SUPERVISE_TEST_INOTIFY"

// limited starts a supervisor in a user namespace of its own, whose inotify instances are limited
// apart from this machine's, with a link of its own.
func limited(t *testing.T, instances int, more ...string) *supervisor {
	t.Helper()
	s := newRealKeepalived(t)
	s.cmd.Args = slices.Insert(s.cmd.Args, 1, more...)
	s.cmd.Env = append(s.cmd.Env, fmt.Sprintf("%s=%d", inotifyLimit, instances))
	all := []syscall.SysProcIDMap{{Size: 65536}}
	attr := s.cmd.SysProcAttr
	attr.Cloneflags |= syscall.CLONE_NEWUSER | syscall.CLONE_NEWNET
	attr.UidMappings, attr.GidMappings, attr.GidMappingsEnableSetgroups = all, all, true
	s.start(netns.New(t))
	return s
}

// limitInotify is the first step of the program if a test limits it.
func limitInotify() error {
	limit := os.Getenv(inotifyLimit)
	if limit == "" {
		return nil
	}
	if err := os.WriteFile("/proc/sys/user/max_inotify_instances", []byte(limit),
		0o644); err != nil {
		return err
	}
	for _, line := range []string{"link add ens3 type veth peer name other", "link set other up",
		"link set ens3 up",
		"addr add 192.0.2.10/24 dev ens3", "addr add 2001:db8::10/64 dev ens3 nodad"} {
		if out, err := exec.Command("ip", strings.Fields(line)...).CombinedOutput(); err != nil {
			return fmt.Errorf("ip %s: %w: %s", line, err, out)
		}
	}
	return nil
}

// TestInotify_OneLeft has one inotify instance for the supervisor and keepalived: keepalived gets
// it, and the supervisor reads its files at intervals.
func TestInotify_OneLeft(t *testing.T) {
	t.Parallel()
	s := limited(t, 1)
	text := withBonus(fast(s.dir), s.dir, "demo_API_0")
	s.propose(text)
	s.untilMaster(10 * time.Second)
	s.until("its bonus counts", 20*time.Second,
		func(st supervised.Status) bool { return st.Instances["demo_API_0"].Priority == 80 })
	s.until("the status has the failing task", 10*time.Second, func(st supervised.Status) bool {
		return len(st.Troubles) == 1 && strings.HasPrefix(st.Troubles[0], "watch files: ")
	})
	want := s.propose(text + "# other\n")
	s.until("reloaded", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == want })
	if st := s.status(); st.Restarts != 0 || st.Instances["demo_API_0"].State != supervised.Master {
		t.Errorf("got %+v", st)
	}
}

// TestInotify_OtherVIPs has no instance, and the cluster gets another VIP: the program ends, to be
// started again with it.
func TestInotify_OtherVIPs(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "cluster.json")
	put(t, path, `{"spec": {"apiVIPs": ["192.0.2.5"]}}`)
	s := limited(t, 0, "--cluster", path)
	s.until("there", 10*time.Second,
		func(st supervised.Status) bool { return len(st.Troubles) > 0 })
	put(t, path, `{"spec": {"apiVIPs": ["192.0.2.6"]}}`)
	if code := s.wait(20 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
}

// TestInotify_NoneLeft has no instance: the VIPs are held, without the bonus of a tracked file, and
// the status reports it.
func TestInotify_NoneLeft(t *testing.T) {
	t.Parallel()
	s := limited(t, 0)
	s.propose(withBonus(fast(s.dir), s.dir, "demo_API_0"))
	s.untilMaster(10 * time.Second)
	s.until("the status has the failing task", 20*time.Second, func(st supervised.Status) bool {
		all := strings.Join(st.Troubles, "\n")
		return strings.Contains(all, "watch files: ") && strings.Contains(all,
			"fs.inotify.max_user_instances")
	})
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if code := s.wait(10 * time.Second); code != 0 {
		t.Errorf("exit status %d", code)
	}
}
