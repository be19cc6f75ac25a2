package bootstrap

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// podmanStub stands for podman with one image: the files below $STATE/image. It writes down what it
// is asked for.
const podmanStub = `
echo "$*" >>"$STATE/calls"
case $1 in
image) [ -e "$STATE/present" ] ;;
pull)
	: >"$TMPDIR/storage1"
	[ ! -e "$STATE/hang" ] || { touch "$STATE/pulling"; read -r _ <"$STATE/hang"; }
	[ ! -e "$STATE/onpull" ] || . "$STATE/onpull"
	[ ! -e "$STATE/away" ] || { echo 'time="2024-01-01T00:00:0'$$'" level=warning msg=x' >&2; echo 'Error: the registry is away' >&2; exit 125; }
	touch "$STATE/present"
	rm "$TMPDIR/storage1"
	echo 0123456789ab ;;
create) touch "$STATE/created"; echo 0123456789ab ;;
cp) cp "$STATE/image${2#*:}" "$3" ;;
rm) rm -f "$STATE/created" ;;
*) echo "unknown: $*" >&2; exit 1 ;;
esac
`

// bounded begins a stub of timeout with the calls of podman that have a bound: they are made.
const bounded = `case $2 in --kill-after) shift 4; exec "$@" ;; esac
`

const image = "registry.example/onprem-infra:v1"

// newInstallSandbox has a podman whose registry holds our image.
func newInstallSandbox(t *testing.T) (s sandbox, state sandbox) {
	t.Helper()
	s = newSandbox(
		t, "chmod", "cp", "grep", "head", "mkdir", "mv", "rm", "sed", "sha256sum", "tail",
		"timeout", "touch", "tr",
	)
	state = sandbox{t: t, root: t.TempDir()}
	s.env = append(s.env, "STATE="+state.root, "ONPREM_INFRA_IMAGE="+image)
	s.stub("podman", podmanStub)
	s.stub("sleep", `echo "$1" >>"$STATE/slept"; . "$STATE/onsleep"`+"\n")
	state.write("onsleep", "kill $PPID\n")
	ship(state, "v1")
	return s, state
}

// shipped are those of an image of this release.
var shipped = []string{"onprem-infra", "onprem-supervise", "onprem-speak"}

// ship puts programs of a version and their checksums into the image.
func ship(state sandbox, version string) { shipOnly(state, version, shipped) }

func shipOnly(state sandbox, version string, shipped []string) {
	var sums strings.Builder
	for _, name := range shipped {
		text := name + " " + version + "\n"
		state.write("image/usr/bin/"+name, text)
		fmt.Fprintf(&sums, "%x  /usr/bin/%s\n", sha256.Sum256([]byte(text)), name)
	}
	state.write("image/usr/share/onprem-infra/sha256", sums.String())
}

// installed holds that all programs of a version are in place, executable, with nothing beside them.
func installed(t *testing.T, s, state sandbox, version string) {
	t.Helper()
	installedOnly(t, s, state, version, shipped)
}

func installedOnly(t *testing.T, s, state sandbox, version string, shipped []string) {
	t.Helper()
	for _, name := range shipped {
		if got, want := s.read("usr/local/bin/"+name), name+" "+version+"\n"; got != want {
			t.Errorf("%s holds %q, want %q", name, got, want)
		}
		if mode := stat(t, s, "usr/local/bin/"+name).Mode(); mode != 0o755 {
			t.Errorf("%s has mode %v", name, mode)
		}
	}
	s.only("usr/local/bin", slices.Sorted(slices.Values(shipped))...)
	s.only("var/lib/onprem-infra", "installed.sha256")
	if state.read("created") != "-" {
		t.Error("the container is still there")
	}
}

const installer = "../units/onprem-install"

func TestInstall(t *testing.T) {
	s, state := newInstallSandbox(t)
	out, err := s.run(installer)
	if err != nil || out != "onprem-install: installed from "+image+"\n" {
		t.Fatalf("%v, said %q", err, out)
	}
	installed(t, s, state, "v1")
	want := strings.ReplaceAll(`image exists IMAGE
pull --quiet IMAGE
create --replace --name onprem-install --network none --pull never IMAGE
cp onprem-install:/usr/share/onprem-infra/sha256 BIN/sha256
cp onprem-install:/usr/bin/onprem-infra BIN/onprem-infra
cp onprem-install:/usr/bin/onprem-supervise BIN/onprem-supervise
cp onprem-install:/usr/bin/onprem-speak BIN/onprem-speak
rm --force --ignore onprem-install
`, "BIN", s.root+"/usr/local/bin/.onprem-install")
	if got := state.read("calls"); got != strings.ReplaceAll(want, "IMAGE", image) {
		t.Errorf("podman was asked for\n%s\nwant\n%s", got, want)
	}
}

// TestInstall_Former holds that an image of a former release, which has no onprem-speak, can be
// installed.
func TestInstall_Former(t *testing.T) {
	s, state := newInstallSandbox(t)
	if err := os.Remove(filepath.Join(state.root, "image/usr/bin/onprem-speak")); err != nil {
		t.Fatal(err)
	}
	shipOnly(state, "v0", shipped[:2])
	if out, err := s.run(installer); err != nil {
		t.Fatal(err, out)
	}
	installedOnly(t, s, state, "v0", shipped[:2])
}

// TestInstallAgain starts from what a first run has left.
func TestInstallAgain(t *testing.T) {
	tests := []struct {
		name    string
		change  func(s, state sandbox)
		image   string
		version string
		calls   string // a call that is made or, with a dash, is not
	}{
		{"in place, and podman is gone (R-15)", func(s, _ sandbox) {
			s.stub("podman", "exit 1\n")
		}, image, "v1", "-image"},
		{"the registry is away, the image is present", func(s, state sandbox) {
			state.write(
				"away", "",
			)
			s.write("usr/local/bin/onprem-infra", "cut off")
		}, image, "v1", "-pull"},
		{"a program was removed", func(s, _ sandbox) {
			_ = os.Remove(filepath.Join(s.root, "usr/local/bin/onprem-supervise"))
		}, image, "v1", "-pull"},
		{"the record was removed", func(s, _ sandbox) {
			_ = os.Remove(filepath.Join(s.root, "var/lib/onprem-infra/installed.sha256"))
		}, image, "v1", "create"},
		{"the record is cut off", func(s, _ sandbox) {
			s.write("var/lib/onprem-infra/installed.sha256", "# "+image+"\n")
		}, image, "v1", "create"},
		{"another image", func(_, state sandbox) {
			ship(state, "v2")
			_ = os.Remove(
				filepath.Join(state.root, "present"),
			)
		}, image + "2", "v2", "pull --quiet " + image + "2"},
		{"a killed run left its files", func(s, state sandbox) {
			s.write("usr/local/bin/.onprem-install/onprem-infra", "half")
			s.write("var/lib/onprem-infra/installed.sha256.new", "half")
			ship(state, "v2")
		}, image + "2", "v2", "create"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, state := newInstallSandbox(t)
			if out, err := s.run(installer); err != nil {
				t.Fatal(err, out)
			}
			_ = os.Remove(filepath.Join(state.root, "calls"))
			tt.change(s, state)
			s.env = append(s.env, "ONPREM_INFRA_IMAGE="+tt.image)
			if out, err := s.run(installer); err != nil {
				t.Fatal(err, out)
			}
			installed(t, s, state, tt.version)
			call, unwanted := strings.CutPrefix(tt.calls, "-")
			if got := state.read("calls"); strings.Contains("\n"+got, "\n"+call) == unwanted {
				t.Errorf("podman was asked for\n%s", got)
			}
		})
	}
}

// TestInstallWaits has a registry that is away for nine trials: it is asked less and less often and
// reported once.
func TestInstallWaits(t *testing.T) {
	s, state := newInstallSandbox(t)
	state.write("away", "")
	state.write("onsleep", `[ "$(grep -c . "$STATE/slept")" -lt 9 ] || rm -f "$STATE/away"`+"\n")
	out, err := s.run(installer)
	if err != nil {
		t.Fatal(err, out)
	}
	installed(t, s, state, "v1")
	if got := strings.Fields(
		state.read("slept"),
	); strings.Join(got, " ") != "1 2 4 8 16 30 30 30 30" {
		t.Errorf("waited %v", got)
	}
	if lines := strings.Split(out, "\n"); len(lines) != 3 ||
		!strings.Contains(lines[0], "the registry is away") {
		t.Errorf("said\n%s", out)
	}
}

// TestInstallWaitsForHours has a registry that is away for two hours and says so in other numbers
// each time: the number of trials follows from the cap, there is one line, and what is there in the
// end is not asked for again.
func TestInstallWaitsForHours(t *testing.T) {
	s, state := newInstallSandbox(t)
	s.stub("timeout", bounded) // the pull ends at once
	state.write("clock", "0\n")
	state.write("onsleep", `read -r now <"$STATE/clock"; echo "$((now + $1))" >"$STATE/clock"`+"\n")
	state.write("onpull", `read -r now <"$STATE/clock"
if [ "$now" -lt 7200 ]; then
	for trial in 1 2 3; do
		echo "time=\"2026-01-01T00:00:$$Z\" level=warning msg=\"Failed, retrying in 1s ... ($trial/3). Error: port $now\"" >&2
	done
	echo "Error: writing blob: storing blob to file \"/var/tmp/storage$$/1\": read tcp 192.0.2.10:$now->192.0.2.1:5000: connection reset by peer" >&2
	exit 125
fi
`)
	out, err := s.run(installer)
	if err != nil {
		t.Fatal(err, out)
	}
	installed(t, s, state, "v1")
	if lines := strings.Count(out, "\n"); lines != 2 ||
		!strings.Contains(out, "connection reset by peer") || strings.Contains(out, "Failed, retrying") {
		t.Errorf("%d lines, want one for the fault and one for its end:\n%s", lines, out)
	}
	// Six in the first half minute, two a minute after them, and the last one after the two hours.
	if trials, want := strings.Count(state.read("calls"), "pull --quiet"), 6+(7200-31)/30+1; trials != want {
		t.Errorf("%d trials, want %d", trials, want)
	}
	_ = os.Remove(filepath.Join(state.root, "calls"))
	if out, err := s.run(installer); err != nil || out != "" || state.read("calls") != "-" {
		t.Errorf("a second run: %v, said %q, asked podman for %q", err, out, state.read("calls"))
	}
}

// TestInstall_DistinguishesFaults counts the lines of faults that change.
func TestInstall_DistinguishesFaults(t *testing.T) {
	tests := []struct {
		name   string
		faults []string
		want   []string
	}{
		{
			"another cause", []string{"refused", "refused", "no route to host", "no route to host"},
			[]string{"refused", "no route to host"},
		},
		{
			"two servers behind one name",
			[]string{
				"refused", "TLS handshake timeout", "refused", "TLS handshake timeout", "refused",
			},
			[]string{"refused", "TLS handshake timeout"},
		},
		{
			"a cause that comes back after a while",
			[]string{"refused", "timeout", "timeout", "timeout", "refused"},
			[]string{"refused", "timeout", "refused"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, state := newInstallSandbox(t)
			state.write("onsleep", "")
			state.write("faults", strings.Join(tt.faults, "\n")+"\n")
			state.write("onpull", `n=$(grep -c ^pull "$STATE/calls"); fault=$(head -n "$n" "$STATE/faults" | tail -n 1)
[ "$n" -gt "$(grep -c . "$STATE/faults")" ] || { echo "Error: $fault" >&2; exit 125; }
`)
			out, err := s.run(installer)
			if err != nil {
				t.Fatal(err, out)
			}
			var logged []string
			for line := range strings.Lines(out) {
				if _, fault, ok := strings.Cut(line, "retrying: Error: "); ok {
					logged = append(logged, strings.TrimSpace(fault))
				}
			}
			if !slices.Equal(logged, tt.want) {
				t.Errorf("said %q, want %q", logged, tt.want)
			}
		})
	}
}

// TestInstallEndsAPullThatHangs has five minutes pass in which a pull reads nothing.
func TestInstallEndsAPullThatHangs(t *testing.T) {
	s, state := newInstallSandbox(t)
	if err := syscall.Mkfifo(filepath.Join(state.root, "hang"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.stub(
		"timeout", bounded+`echo "$*" >>"$STATE/timeouts"; [ ! -e "$STATE/hang" ] || exit 124`+"\n",
	)
	state.write("onsleep", `rm "$STATE/hang"`+"\n")
	out, err := s.run(installer)
	if err != nil || !strings.Contains(out, "retrying: nothing has arrived for 5 minutes") {
		t.Errorf("%v, said\n%s", err, out)
	}
	if got := state.read("timeouts"); !strings.HasPrefix(got, "--foreground 300 tail --pid ") {
		t.Errorf("waited with %q", got)
	}
	installed(t, s, state, "v1")
}

// TestInstall_KillsHangingPull has a pull that hangs and does not hear its SIGTERM either.
func TestInstall_KillsHangingPull(t *testing.T) {
	s, state := newInstallSandbox(t)
	s.stub("timeout", bounded+`[ ! -e "$STATE/hang" ] || { until [ -e "$STATE/pulling" ]; do :; done; exit 124; }`+"\n")
	state.write("hang", "")
	state.write("onsleep", `rm "$STATE/hang"`+"\n")
	s.stub("podman", `if [ "$1" = pull ] && [ -e "$STATE/hang" ]; then
	trap '' TERM
	touch "$STATE/pulling"
	while :; do /bin/sleep 0.1; done
fi
`+podmanStub)
	out, err := s.run(installer)
	if err != nil || !strings.Contains(out, "retrying: nothing has arrived for 5 minutes") {
		t.Errorf("%v, said\n%s", err, out)
	}
	installed(t, s, state, "v1")
}

// TestInstallSeesTheEndOfAPull has the five minutes and the pull end at the same time: what it
// brought counts.
func TestInstallSeesTheEndOfAPull(t *testing.T) {
	s, state := newInstallSandbox(t)
	s.stub("timeout", bounded+`while kill -0 "$5" 2>/dev/null && ! grep -q 'State:.*Z' "/proc/$5/status"; do :; done
exit 124
`)
	if out, err := s.run(installer); err != nil ||
		out != "onprem-install: installed from "+image+"\n" {
		t.Errorf("%v, said\n%s", err, out)
	}
	installed(t, s, state, "v1")
}

// TestInstallBoundsPodman has a podman that hangs in one call, and then does not.
func TestInstallBoundsPodman(t *testing.T) {
	for _, call := range []string{"image", "create", "cp", "rm"} {
		t.Run(call, func(t *testing.T) {
			s, state := newInstallSandbox(t)
			state.write("hang-"+call, "")
			state.write("onsleep", "")
			// The stub has no time to lose: where the real one would wait, it ends the call.
			s.stub("timeout", `echo "$*" >>"$STATE/timeouts"
[ "$2" = --kill-after ] || exit 0
shift 4
[ ! -e "$STATE/hang-$2" ] || { rm "$STATE/hang-$2"; exit 124; }
exec "$@"
`)
			s.stub("podman", `[ ! -e "$STATE/hang-$1" ] || exit 99`+"\n"+podmanStub)
			if out, err := s.run(installer); err != nil {
				t.Fatal(err, out)
			}
			if got := state.read(
				"timeouts",
			); !strings.Contains(got, "--foreground --kill-after 10 ") {
				t.Errorf("bounds are\n%s", got)
			}
			if state.read("hang-"+call) != "-" {
				t.Errorf("podman %s has no bound", call)
			}
		})
	}
}

// TestInstallLetsASlowPullBe has five minutes pass three times, in each of which something arrives.
func TestInstallLetsASlowPullBe(t *testing.T) {
	s, state := newInstallSandbox(t)
	if err := syscall.Mkfifo(filepath.Join(state.root, "feed"), 0o600); err != nil {
		t.Fatal(err)
	}
	// What is written each time is more than a pipe and the script's bound together hold.
	s.stub("timeout", bounded+`echo >>"$STATE/timeouts"
[ "$(grep -c '' "$STATE/timeouts")" -gt 3 ] || { printf '%0180000d\n' 0 >"$STATE/feed"; exit 124; }
touch "$STATE/complete"
`)
	state.write(
		"onpull", `until [ -e "$STATE/complete" ]; do read -r line; done <"$STATE/feed"`+"\n",
	)
	if out, err := s.run(installer); err != nil ||
		out != "onprem-install: installed from "+image+"\n" {
		t.Errorf("%v, said\n%s", err, out)
	}
	installed(t, s, state, "v1")
	if calls := state.read("calls"); strings.Count(calls, "pull --quiet") != 1 {
		t.Errorf("podman was asked for\n%s", calls)
	}
}

// TestInstallRefuses has images that must not be installed from; each is mended while the script
// waits.
func TestInstallRefuses(t *testing.T) {
	tests := []struct {
		name string
		path string // what is wrong in the image
		text string
		want string
	}{
		{
			"a program that is not the one of the checksums", "usr/bin/onprem-infra", "other\n",
			"onprem-infra: FAILED",
		},
		{
			"a program without a checksum", "usr/share/onprem-infra/sha256", "",
			"the checksums of the image do not name onprem-infra",
		},
		{
			"a checksum for one of two", "usr/share/onprem-infra/sha256",
			fmt.Sprintf(
				"%x  /usr/bin/onprem-supervise\n", sha256.Sum256([]byte("onprem-supervise v1\n")),
			),
			"do not name onprem-infra",
		},
		{
			"checksums that are none", "usr/share/onprem-infra/sha256",
			"x onprem-infra\nx onprem-supervise\n", "no properly formatted",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, state := newInstallSandbox(t)
			state.write("good", state.read("image/"+tt.path))
			state.write("image/"+tt.path, tt.text)
			state.write("onsleep", `[ ! -e "$ONPREM_INFRA_ROOT/usr/local/bin/onprem-infra" ] || touch "$STATE/installed"; cp "$STATE/good" "$STATE/image/`+tt.path+`"`+"\n")
			out, err := s.run(installer)
			if err != nil || !strings.Contains(out, tt.want) {
				t.Errorf("%v, said %q, want %q", err, out, tt.want)
			}
			if state.read("installed") != "-" {
				t.Error("the bad program was installed")
			}
			installed(t, s, state, "v1")
		})
	}
}

// TestInstallCredentials has a registry that refuses until the file of credentials is right, which
// it becomes while the script waits. What it says names the registry and the file, and tells no
// secret.
func TestInstallCredentials(t *testing.T) {
	right := `{"auths": {"registry.example": {"auth": "right"}}}` + "\n"
	tests := []struct{ name, file, want string }{
		{"right", right, ""},
		{"no file", "", "registry registry.example wants credentials and there is no file FILE: "},
		{
			"nothing for this registry",
			`{"auths": {"other.registry.example": {"auth": "secret"}}}`,
			"registry registry.example wants credentials and FILE has none for it: ",
		},
		{
			"wrong", `{"auths": {"registry.example": {"auth": "secret"}}}`,
			"registry registry.example refuses the credentials in FILE: ",
		},
		{
			"wrong, for a part of the registry",
			`{"auths": {"registry.example/onprem-infra": {"auth": "secret"}}}`,
			"registry registry.example refuses the credentials in FILE: ",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s, state := newInstallSandbox(t)
			file := s.root + "/root/.docker/config.json"
			state.write("right", right)
			s.write("root/.docker/other.json", "")
			if tt.file != "" {
				s.write("root/.docker/config.json", tt.file)
			}
			state.write("onpull", `
if [ "$3" != --authfile ] || ! grep -qFx -f "$STATE/right" "$4"; then
	echo "Error: initializing source docker://registry.example/onprem-infra:v1: unauthorized: authentication required" >&2
	exit 125
fi
`)
			state.write(
				"onsleep",
				`[ "$(grep -c . "$STATE/slept")" -lt 3 ] || cp "$STATE/right" "`+file+`"`+"\n",
			)
			out, err := s.run(installer)
			if err != nil {
				t.Fatal(err, out)
			}
			want := "onprem-install: installed from " + image + "\n"
			if tt.want != "" {
				line, _, _ := strings.Cut(out, "\n")
				if !strings.Contains(line, strings.ReplaceAll(tt.want, "FILE", file)) ||
					!strings.Contains(line, "unauthorized") || strings.Contains(out, "secret") {
					t.Errorf("said %q, want %q and no secret", line, tt.want)
				}
				want = line + "\n" + want
			}
			if out != want {
				t.Errorf("said\n%swant\n%s", out, want)
			}
			installed(t, s, state, "v1")
		})
	}
}

// TestInstallCredentialsChange goes through all of it in one run: podman's own words are the same
// each time, what there is to do is not.
func TestInstallCredentialsChange(t *testing.T) {
	s, state := newInstallSandbox(t)
	file := "root/.docker/config.json"
	s.write("root/.docker/none", "")
	state.write("wrong", `{"auths": {"registry.example": {"auth": "wrong"}}}`)
	state.write("right", `{"auths": {"registry.example": {"auth": "right"}}}`)
	state.write("onpull", `grep -qs '"right"' "$4" || { echo "Error: unauthorized: authentication required" >&2; exit 125; }`+"\n")
	state.write("onsleep", `case $(grep -c . "$STATE/slept") in 2) cp "$STATE/wrong" "$ONPREM_INFRA_ROOT/`+file+`" ;; 4) cp "$STATE/right" "$ONPREM_INFRA_ROOT/`+file+`" ;; esac`+"\n")
	out, err := s.run(installer)
	lines := strings.Split(strings.TrimSpace(out), "\n")
	want := []string{
		"there is no file " + s.root + "/" + file,
		"refuses the credentials in " + s.root + "/" + file, "installed from",
	}
	if err != nil || !slices.EqualFunc(lines, want, strings.Contains) {
		t.Errorf("%v, said\n%s\nwant %q", err, out, want)
	}
}

// TestInstallLabel holds that programs have the label of executables before they are in place:
// systemd does not start others.
func TestInstallLabel(t *testing.T) {
	s, state := newInstallSandbox(t)
	s.write("sys/fs/selinux/enforce", "1")
	s.stub("restorecon", `[ ! -e "$ONPREM_INFRA_ROOT/usr/local/bin/onprem-infra" ] && echo "$@" >"$STATE/labelled"`+"\n")
	if out, err := s.run(installer); err != nil {
		t.Fatal(err, out)
	}
	work := s.root + "/usr/local/bin/.onprem-install/"
	if got, want := state.read("labelled"), "-F "+work+"onprem-infra "+work+"onprem-supervise "+work+"onprem-speak\n"; got != want {
		t.Errorf("restorecon got %q, want %q", got, want)
	}
}

// TestInstallKilled stops the script, and all that it has started, in the midst of a pull.
func TestInstallKilled(t *testing.T) {
	s, state := newInstallSandbox(t)
	if err := syscall.Mkfifo(filepath.Join(state.root, "hang"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := s.command(installer)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().
		Add(10 * time.Second); state.read("pulling") == "-"; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the pull has not begun")
		}
	}
	if err := syscall.Kill(-cmd.Process.Pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 143 {
		t.Errorf("ended with %v", err)
	}
	s.only("usr/local/bin")
	s.only("var/lib/onprem-infra")
	if got := state.read("calls"); !strings.HasSuffix(got, "rm --force --ignore onprem-install\n") {
		t.Errorf("podman was asked for\n%s", got)
	}
}

func TestInstallWithoutImage(t *testing.T) {
	s, state := newInstallSandbox(t)
	s.env = append(s.env, "ONPREM_INFRA_IMAGE=")
	if out, err := s.run(installer); err == nil ||
		!strings.Contains(out, "ONPREM_INFRA_IMAGE is not set") {
		t.Errorf("%v, said %q", err, out)
	}
	if got := state.read("calls"); got != "-" {
		t.Errorf("podman was asked for\n%s", got)
	}
}

// TestInstallCredentialsByHost has each kind of host keep its registry credentials in a file of its
// own, which its unit names.
func TestInstallCredentialsByHost(t *testing.T) {
	for env, want := range map[string]string{
		"": "/root/.docker/config.json",
		"ONPREM_INFRA_AUTH=/var/lib/kubelet/config.json": "/var/lib/kubelet/config.json",
	} {
		s, state := newInstallSandbox(t)
		s.env = append(s.env, env)
		s.write("root/.docker/config.json", "{}")
		s.write("var/lib/kubelet/config.json", "{}")
		if out, err := s.run(installer); err != nil {
			t.Fatal(err, out)
		}
		if got := state.read("calls"); !strings.Contains(got, "--authfile "+s.root+want+" ") {
			t.Errorf("with %q podman was asked for\n%s\nwant the credentials in %s", env, got, want)
		}
	}
}
