//go:build remote

package podman

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/need"
)

// image is in the storage of every service that a test starts.
const image = "localhost/inmate:1"

// containersConf makes podman work where limits cannot be raised and cgroups are mixed, and keeps
// its locks apart from another podman's.
const containersConf = `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
pids_limit = 0
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
events_logger = "file"
lock_type = "file"
[network]
network_backend = "netavark"
`

// service is a real podman service with storage of its own. It ends with the test, and its
// containers with it.
type service struct {
	t         *testing.T
	dir       string
	podman    string
	temporary string // where podman keeps what it has not yet stored, empty for its own choice
	cmd       *exec.Cmd
}

func (s *service) uri() string { return "unix://" + s.dir + "/s.sock" }

// newService prepares storage with the image; nothing listens yet.
func newService(t *testing.T) *service {
	t.Helper()
	return newServiceIn(t, scratch(t))
}

// scratch is a directory that goes with the test.
func scratch(t *testing.T) string {
	t.Helper()
	// shorter than t.TempDir: the path of a socket holds 107 bytes
	dir, err := os.MkdirTemp("", "podman")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A container's end is recorded by a process that outlives the call which ended it.
		err := os.RemoveAll(dir)
		for deadline := time.Now().Add(10 * time.Second); err != nil &&
			time.Now().Before(deadline); err = os.RemoveAll(dir) {
			time.Sleep(50 * time.Millisecond)
		}
		if err != nil {
			t.Errorf("clean up: %v", err)
		}
	})
	return dir
}

func newServiceIn(t *testing.T, dir string) *service {
	t.Helper()
	need.Root(t)
	s := &service{t: t, podman: need.Command(t, "podman"), dir: dir}
	need.Command(t, "runc")
	need.Command(t, "conmon")
	if err := os.WriteFile(s.dir+"/containers.conf", []byte(containersConf), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(
		s.dir+"/registries.conf", []byte("short-name-mode = \"enforcing\"\n"), 0o600,
	); err != nil {
		t.Fatal(err)
	}
	s.importImage()
	t.Cleanup(func() { s.run(nil, "rm", "--force", "--all", "--time=0") })
	return s
}

func (s *service) command(args ...string) *exec.Cmd {
	global := []string{
		"--root", s.dir + "/root", "--runroot", s.dir + "/run", "--storage-driver", "vfs",
	}
	cmd := exec.Command(s.podman, append(global, args...)...)
	cmd.Env = append(
		os.Environ(), "CONTAINERS_CONF="+s.dir+"/containers.conf",
		"CONTAINERS_REGISTRIES_CONF="+s.dir+"/registries.conf", "HOME="+s.dir,
	)
	if s.temporary != "" {
		cmd.Env = append(cmd.Env, "TMPDIR="+s.temporary)
	}
	return cmd
}

func (s *service) run(stdin []byte, args ...string) string {
	s.t.Helper()
	cmd := s.command(args...)
	var warned bytes.Buffer // podman 5 warns of control groups of version 1
	cmd.Stdin, cmd.Stderr = bytes.NewReader(stdin), &warned
	out, err := cmd.Output()
	if err != nil {
		s.t.Fatalf("podman %v: %v\n%s%s", args, err, out, warned.Bytes())
	}
	return string(out)
}

// importImage makes an image of one static program, with settings that a specification must
// overrule.
func (s *service) importImage() {
	s.t.Helper()
	program := filepath.Join(s.dir, "inmate")
	build := exec.Command("go", "build", "-o", program, "./testdata/inmate")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		s.t.Fatalf("build inmate: %v\n%s", err, out)
	}
	text, err := os.ReadFile(program)
	if err != nil {
		s.t.Fatal(err)
	}
	var archive bytes.Buffer
	w := tar.NewWriter(&archive)
	for _, dir := range []string{"data/", "tmp/", "host/", "fixed/"} {
		w.WriteHeader(&tar.Header{Name: dir, Mode: 0o777, Typeflag: tar.TypeDir})
	}
	w.WriteHeader(&tar.Header{Name: "inmate", Mode: 0o755, Size: int64(len(text))})
	w.Write(text)
	if err := w.Close(); err != nil {
		s.t.Fatal(err)
	}
	s.run(archive.Bytes(), "import", "--change", `ENTRYPOINT ["/inmate","exit","7"]`, "--change", `CMD ["image-argument"]`,
		"--change", "VOLUME /data", "--change", "USER 1234", "--change", "WORKDIR /tmp", "--change", "STOPSIGNAL SIGQUIT", "-", image)
}

// start serves until stop or the end of the test.
func (s *service) start() {
	s.t.Helper()
	s.cmd = s.command("system", "service", "--time=0", s.uri())
	// also when the test is cut short
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM}
	var log bytes.Buffer
	s.cmd.Stderr = &log
	if err := s.cmd.Start(); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		s.stop()
		if s.t.Failed() {
			s.t.Logf("podman's service logged:\n%s", log.String())
		}
	})
}

func (s *service) stop() {
	if s.cmd == nil {
		return
	}
	s.cmd.Process.Signal(syscall.SIGTERM)
	killer := time.AfterFunc(10*time.Second, func() { s.cmd.Process.Kill() })
	s.cmd.Wait()
	killer.Stop()
	s.cmd = nil
}

// engine returns the engine of a service that runs.
func engine(t *testing.T) (*service, *Engine) {
	t.Helper()
	return engineOn(t, scratch(t))
}

func engineOn(t *testing.T, dir string) (*service, *Engine) {
	t.Helper()
	s := newServiceIn(t, dir)
	s.start()
	e := New(s.uri())
	eventually(t, "reach the service", func() error {
		_, _, err := e.Inspect(
			t.Context(), "none",
		)
		return err
	})
	return s, e
}

// within fails the test when f takes longer than bound.
func within(t *testing.T, bound time.Duration, what string, f func()) {
	t.Helper()
	begin := time.Now()
	f()
	if took := time.Since(begin); took > bound {
		t.Errorf("%s took %v, want at most %v", what, took, bound)
	}
}

func eventually(t *testing.T, what string, f func() error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		err := f()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
			t.Fatal(fmt.Errorf("%s: %w", what, err))
		case <-time.After(20 * time.Millisecond):
		}
	}
}
