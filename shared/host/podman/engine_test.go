//go:build remote

package podman

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/container"
)

// report is what the process in the container prints about itself.
type report struct {
	Status  map[string]string
	NetNS   string
	Env     []string
	Args    []string
	Stdin   string
	Dir     string
	CanMake map[string]bool
}

func reporting(s *service) container.Spec {
	os.MkdirAll(s.dir+"/host", 0o755)
	os.MkdirAll(s.dir+"/fixed", 0o755)
	return container.Spec{
		Name:  "onprem-test",
		Image: image,
		Command: []string{
			"/inmate", "report", "/host/report.json", "/", "/tmp", "/host", "/fixed", "/data",
			"/run",
		},
		Mounts: []container.Mount{{Source: s.dir + "/host", Target: "/host"}, {
			Source: s.dir + "/fixed", Target: "/fixed", ReadOnly: true,
		}},
		Tmpfs:        []string{"/tmp"},
		Capabilities: []string{"CAP_NET_ADMIN", "CAP_NET_RAW"},
		Env:          map[string]string{"NSS_SDB_USE_CACHE": "no"},
	}
}

func idle(name string) container.Spec {
	return container.Spec{Name: name, Image: image, Command: []string{"/inmate", "idle"}}
}

// The confinement is checked by the container itself and by podman.
func TestConfinement(t *testing.T) {
	s, e := engine(t)
	t.Setenv("http_proxy", "http://proxy.example.com")
	spec := reporting(s)
	if err := e.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	var r report
	eventually(t, "read the report", func() error {
		text, err := os.ReadFile(s.dir + "/host/report.json")
		if err != nil {
			return err
		}
		return json.Unmarshal(text, &r)
	})
	const netAdminAndRaw = "0000000000003000"
	for key, want := range map[string]string{
		"CapEff": netAdminAndRaw, "CapPrm": netAdminAndRaw, "CapBnd": netAdminAndRaw,
		"NoNewPrivs": "1", "Seccomp": "2", "Uid": "0\t0\t0\t0", "Gid": "0\t0\t0\t0",
	} {
		if r.Status[key] != want {
			t.Errorf("%s is %q, want %q", key, r.Status[key], want)
		}
	}
	if host, err := os.Readlink("/proc/self/ns/net"); err != nil || r.NetNS != host {
		t.Errorf("the network is %s, want the host's %s", r.NetNS, host)
	}
	for dir, want := range map[string]bool{
		"/": false, "/tmp": true, "/host": true, "/fixed": false, "/data": false, "/run": false,
	} {
		if r.CanMake[dir] != want {
			t.Errorf("a file can be made in %s: %v, want %v", dir, r.CanMake[dir], want)
		}
	}
	if !slices.Equal(r.Args, spec.Command) {
		t.Errorf("the command is %q, want %q: nothing of the image's", r.Args, spec.Command)
	}
	if !slices.Contains(r.Env, "NSS_SDB_USE_CACHE=no") || slices.ContainsFunc(
		r.Env, func(v string) bool { return strings.HasPrefix(v, "http_proxy") },
	) {
		t.Errorf("the environment is %q, want the specification's and no proxy", r.Env)
	}
	if r.Stdin != "/dev/null" || r.Dir != "/" {
		t.Errorf("stdin is %q in %q, want /dev/null in /", r.Stdin, r.Dir)
	}
	inspectConfinement(t, e, spec)
}

func inspectConfinement(t *testing.T, e *Engine, spec container.Spec) {
	t.Helper()
	var seen struct {
		EffectiveCaps, BoundingCaps []string
		Mounts                      []struct{ Type, Source, Destination, Propagation string }
		Config                      struct {
			Labels      map[string]string
			Healthcheck struct{ Test []string }
		}
		HostConfig struct {
			Privileged     bool
			ReadonlyRootfs bool
			NetworkMode    string
			SecurityOpt    []string
			RestartPolicy  struct{ Name string }
			Memory         int64
			NanoCpus       int64
		}
	}
	ctx, cancel, err := e.call(t.Context(), callWithin)
	if err != nil {
		t.Fatal(err)
	}
	defer cancel()
	if _, err := ask(ctx, &seen, "/containers/%s/json", spec.Name); err != nil {
		t.Fatal(err)
	}
	host := seen.HostConfig
	if host.Privileged || !host.ReadonlyRootfs || host.NetworkMode != "host" ||
		host.RestartPolicy.Name != "no" || host.Memory != 0 || host.NanoCpus != 0 {
		t.Errorf("podman reports %+v, want no privileges, a read-only root, the host's network, no restart and no limits", host)
	}
	for _, want := range []string{"label=disable", "no-new-privileges"} {
		if !slices.ContainsFunc(host.SecurityOpt, func(o string) bool {
			return strings.HasPrefix(o, want)
		}) {
			t.Errorf("security options %q lack %s", host.SecurityOpt, want)
		}
	}
	if !slices.Equal(seen.EffectiveCaps, spec.Capabilities) ||
		!slices.Equal(seen.BoundingCaps, spec.Capabilities) {
		t.Errorf(
			"capabilities %v of %v, want %v", seen.EffectiveCaps, seen.BoundingCaps,
			spec.Capabilities,
		)
	}
	if seen.Config.Labels[label] != spec.Digest() || len(seen.Config.Healthcheck.Test) > 0 &&
		seen.Config.Healthcheck.Test[0] != "NONE" {
		t.Errorf(
			"podman reports %+v, want the digest %s and no health check", seen.Config, spec.Digest(),
		)
	}
	for _, m := range seen.Mounts {
		if m.Type != "bind" || m.Propagation != "rprivate" {
			t.Errorf("mount %+v, want private bind mounts only", m)
		}
	}
}

// The life of one container, in the calls of its keeper.
func TestLife(t *testing.T) {
	_, e := engine(t)
	spec := idle("onprem-life")
	if _, found, err := e.Inspect(t.Context(), spec.Name); found || err != nil {
		t.Fatalf("Inspect() before = %v, %v, want not found", found, err)
	}
	if err := errors.Join(
		e.Stop(t.Context(), spec.Name, time.Second), e.Remove(t.Context(), spec.Name),
	); err != nil {
		t.Errorf("stop and remove nothing: %v, want it done already", err)
	}
	if err := e.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	state, found, err := e.Inspect(t.Context(), spec.Name)
	if err != nil || !found || !state.Running || state.Digest != spec.Digest() {
		t.Fatalf(
			"Inspect() = %+v, %v, %v, want it running with digest %s", state, found, err,
			spec.Digest(),
		)
	}
	// Until the program runs, the process is that of the runtime, which SIGTERM does not end.
	eventually(t, "run the container's first program", func() error {
		program, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", state.PID))
		if err == nil && program != "/inmate" {
			err = fmt.Errorf("process %d is %q", state.PID, program)
		}
		return err
	})
	if err := e.Start(t.Context(), spec); err == nil || !strings.Contains(err.Error(), spec.Name) {
		t.Errorf("a second Start() = %v, want an error that names the container", err)
	}

	within(t, 5*time.Second, "stop", func() {
		if err := e.Stop(t.Context(), spec.Name, 10*time.Second); err != nil {
			t.Error(err)
		}
	})
	state, found, err = e.Inspect(t.Context(), spec.Name)
	if err != nil || !found || state.Running || state.PID != 0 || state.Digest != spec.Digest() ||
		state.ExitCode != 0 {
		t.Errorf(
			"Inspect() after the stop = %+v, %v, %v, want it there, ended by SIGTERM with 0", state,
			found, err,
		)
	}
	former := state.ID
	if err := errors.Join(
		e.StartAgain(t.Context(), spec.Name), e.StartAgain(t.Context(), spec.Name),
	); err != nil {
		t.Fatal(err)
	}
	if state, _, err = e.Inspect(t.Context(), spec.Name); err != nil || !state.Running ||
		state.New || state.ID != former {
		t.Errorf(
			"Inspect() when it was started again = %+v, %v, want container %s to run", state, err,
			former,
		)
	}
	if err := errors.Join(
		e.Stop(t.Context(), spec.Name, 10*time.Second), e.Stop(t.Context(), spec.Name, time.Second),
		e.Remove(t.Context(), spec.Name), e.Remove(t.Context(), spec.Name),
	); err != nil {
		t.Errorf("stop what has ended, remove, remove again: %v", err)
	}
	if err := e.StartAgain(t.Context(), spec.Name); err == nil {
		t.Error("what is not there was started again")
	}
	if _, found, err := e.Inspect(t.Context(), spec.Name); found || err != nil {
		t.Errorf("Inspect() at the end = %v, %v, want not found", found, err)
	}
}

func TestExitCode(t *testing.T) {
	_, e := engine(t)
	spec := idle("onprem-exit")
	spec.Command = []string{"/inmate", "exit", "3"}
	if err := e.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	eventually(t, "end with 3", func() error {
		state, _, err := e.Inspect(t.Context(), spec.Name)
		if err == nil && (state.Running || state.ExitCode != 3) {
			err = fmt.Errorf("%+v", state)
		}
		return err
	})
}

func TestStubbornContainerIsKilledAfterItsGrace(t *testing.T) {
	s, e := engine(t)
	spec := reporting(s)
	spec.Name, spec.Command = "onprem-stubborn", []string{"/inmate", "stubborn", "/host/ready"}
	if err := e.Start(t.Context(), spec); err != nil {
		t.Fatal(err)
	}
	eventually(t, "ignore SIGTERM", func() error { _, err := os.Stat(s.dir + "/host/ready"); return err })
	begin := time.Now()
	if err := e.Stop(t.Context(), spec.Name, 1900*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < 1900*time.Millisecond || took > 10*time.Second {
		t.Errorf("killed after %v, want the grace of 1.9s, rounded up, and not much more", took)
	}
	if state, _, err := e.Inspect(t.Context(), spec.Name); err != nil || state.Running {
		t.Errorf("Inspect() = %+v, %v, want it dead", state, err)
	}
}

func TestForeignContainerIsLeftAlone(t *testing.T) {
	s, e := engine(t)
	s.run(
		nil, "run", "--detach", "--name", "onprem-keepalived", "--network", "host", "--entrypoint",
		`["/inmate","idle"]`, image,
	)
	state, found, err := e.Inspect(t.Context(), "onprem-keepalived")
	if err != nil || !found || !state.Running || state.Digest != "" {
		t.Fatalf(
			"Inspect() = %+v, %v, %v, want it found, running, without a digest", state, found, err,
		)
	}
	for verb, err := range map[string]error{
		"StartAgain": e.StartAgain(t.Context(), "onprem-keepalived"),
		"Stop":       e.Stop(t.Context(), "onprem-keepalived", time.Second),
		"Remove":     e.Remove(t.Context(), "onprem-keepalived"),
	} {
		if err == nil || !strings.Contains(err.Error(), "onprem-keepalived") ||
			!strings.Contains(err.Error(), "not part of onprem-infra") {
			t.Errorf("%s() = %v, want a refusal that names it", verb, err)
		}
	}
	if state, _, err := e.Inspect(t.Context(), "onprem-keepalived"); err != nil || !state.Running {
		t.Errorf("Inspect() = %+v, %v, want it untouched", state, err)
	}
}

// A container whose start fails must not keep its name from the next attempt.
func TestFailedStartLeavesNothing(t *testing.T) {
	_, e := engine(t)
	for _, tt := range []struct {
		name string
		spec container.Spec
		want string
	}{
		{"no such program", container.Spec{Name: "onprem-a", Image: image, Command: []string{
			"/nothing",
		}}, "/nothing"},
		{
			"no such source",
			container.Spec{
				Name: "onprem-b", Image: image, Command: []string{"/inmate", "idle"},
				Mounts: []container.Mount{{Source: "/no/such/dir", Target: "/host"}},
			},
			"/no/such/dir",
		},
		{
			"no such image",
			container.Spec{
				Name: "onprem-c", Image: "localhost/absent:1", Command: []string{"/inmate"},
			},
			"localhost/absent:1",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			err := e.Start(t.Context(), tt.spec)
			if err == nil || !strings.Contains(err.Error(), tt.want) ||
				strings.Contains(err.Error(), "\n") {
				t.Errorf("Start() = %q, want one line that names %s", err, tt.want)
			}
			if _, found, err := e.Inspect(t.Context(), tt.spec.Name); found || err != nil {
				t.Errorf("Inspect() = %v, %v, want nothing left", found, err)
			}
		})
	}
}
