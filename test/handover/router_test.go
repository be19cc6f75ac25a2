package handover

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/netip"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/supervise"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

var vip = netip.MustParseAddr("192.0.2.5")

const instance = "ostest_API_0"

// beSupervisor makes the test binary a supervisor with this run directory.
const beSupervisor = "HANDOVER_RUN_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(beSupervisor); dir != "" {
		ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM)
		defer stop()
		if err := supervise.Run(ctx, supervise.Options{
			Config: filepath.Join(dir, "keepalived.conf"), RunDir: dir, VIPs: []netip.Addr{vip}, Command: []string{"keepalived", "-D"},
			Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
		}); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(3)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// router is a host that takes part in the election.
type router struct {
	*testing.T
	*lab.Host
	ip  netip.Addr
	dir string

	timing vrrp.Timing
	rank   int // where the timing's policy has ranks

	cmd  *exec.Cmd
	done chan struct{} // nil while no supervisor runs
}

func newRouter(t *testing.T, l *lab.Lab, name, address string) *router {
	t.Helper()
	need.Command(t, "keepalived")
	host, err := l.Add(name, netip.MustParsePrefix(address+"/24"))
	if err != nil {
		t.Fatal(err)
	}
	// Every node of a cluster forwards: what reaches it for a VIP that it has just given up goes on
	// to the new holder.
	if err := host.Do(func() error { return os.WriteFile("/proc/sys/net/ipv4/ip_forward", []byte("1"), 0o644) }); err != nil {
		t.Fatal(err)
	}
	r := &router{T: t, Host: host, ip: netip.MustParseAddr(address), dir: t.TempDir(), timing: vrrp.CompatTiming()}
	t.Cleanup(func() {
		r.stop()
		if text, err := os.ReadFile(r.path("log")); err == nil && t.Failed() {
			t.Logf("%s:\n%s", name, text)
		}
	})
	return r
}

func (r *router) path(parts ...string) string {
	return filepath.Join(append([]string{r.dir}, parts...)...)
}

// start runs the supervisor, which takes up what was proposed before.
func (r *router) start() {
	r.Helper()
	self, err := os.Executable()
	if err != nil {
		r.Fatal(err)
	}
	log, err := os.OpenFile(r.path("log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		r.Fatal(err)
	}
	defer log.Close()
	r.cmd = r.Contained(context.WithoutCancel(r.Context()), self)
	r.cmd.Env = append(os.Environ(), beSupervisor+"="+r.dir)
	r.cmd.Stdout, r.cmd.Stderr = log, log
	if err := r.cmd.Start(); err != nil {
		r.Fatal(err)
	}
	r.done = make(chan struct{})
	go func() {
		defer close(r.done)
		r.cmd.Wait()
	}()
}

// stop ends the supervisor in order; without one it does nothing.
func (r *router) stop() {
	if r.done == nil {
		return
	}
	r.cmd.Process.Signal(syscall.SIGTERM)
	<-r.done
	r.done = nil
}

func (r *router) put(text string, parts ...string) {
	r.Helper()
	path := r.path(parts...)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(path+".new", []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		r.Fatal(err)
	}
}

// propose hands the supervisor a configuration as the bootstrap machine has it, or a node on which
// all checks pass.
func (r *router) propose(bootstrap bool, peers ...*router) {
	r.Helper()
	policy := r.timing.Policy()
	i := keepalived.Instance{
		Name: instance, Interface: "eth0", ID: 14, Version: r.timing.Version(vip), Priority: policy.Bootstrap, Advert: r.timing.Advert, Source: r.ip, VIP: vip,
	}
	if i.Version == vrrp.V2 {
		i.AuthPass = vrrp.CompatAuth("ostest", vrrp.API)
	}
	for _, p := range peers {
		if p != r {
			i.Peers = append(i.Peers, p.ip)
		}
	}
	if len(i.Peers) == 0 {
		i.Peers = []netip.Addr{keepalived.Group(vip)}
	}
	c := keepalived.Config{
		NotifyFIFO: keepalived.Path(r.path(supervised.NotifyFIFO)), Leave: keepalived.Path(r.path(supervised.TrackDir, supervised.LeaveTrack)),
	}
	if !bootstrap {
		i.Priority = policy.ControlPlane.Base + vrrp.Priority(policy.ControlPlane.Rank(r.rank))
		for _, w := range policy.ControlPlane.Weights {
			r.put("1\n", supervised.TrackDir, string(w.Check))
			c.Tracks = append(c.Tracks, keepalived.Track{Name: w.Check, File: keepalived.Path(r.path(supervised.TrackDir, string(w.Check))), Weight: w.Adds})
			i.Tracks = append(i.Tracks, w.Check)
		}
		if bonus := policy.ControlPlane.Holder; bonus > 0 {
			c.Tracks = append(c.Tracks, keepalived.Track{Name: "holder_api_0", File: keepalived.Path(r.path(supervised.HolderTrack(instance))), Weight: bonus})
			i.Tracks = append(i.Tracks, "holder_api_0")
		}
	}
	c.Instances = []keepalived.Instance{i}
	r.proposeConfig(c)
}

// proposeConfig writes a configuration as a monitor does.
func (r *router) proposeConfig(c keepalived.Config) {
	r.Helper()
	file, text := supervised.EncodeCandidate(c)
	r.put(string(file), supervised.CandidateFile)
	r.put(string(text), supervised.CandidateText)
}

func (r *router) status() supervised.Status {
	text, err := os.ReadFile(r.path(supervised.StatusFile))
	if err != nil {
		return supervised.Status{}
	}
	s, err := supervised.Decode(text)
	if err != nil {
		r.Error(err)
	}
	return s
}

// until waits for a status.
func (r *router) until(what string, is func(supervised.Status) bool) {
	r.Helper()
	for end := time.Now().Add(20 * time.Second); !is(r.status()); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			r.Fatalf("%s is not %s: %+v", r.Name, what, r.status())
		}
	}
}

func (r *router) untilState(state supervised.State) {
	r.Helper()
	r.until(string(state), func(s supervised.Status) bool { return s.Instances[instance].State == state })
}

// untilBackup waits until keepalived has added up a node's bonuses, and it has settled where there
// is one for the holder.
func (r *router) untilBackup() {
	r.Helper()
	c := r.timing.Policy().ControlPlane
	top := int(c.Base) + c.Rank(r.rank)
	for _, w := range c.Weights {
		top += w.Adds
	}
	r.until("a BACKUP of full priority", func(s supervised.Status) bool {
		i := s.Instances[instance]
		return i.State == supervised.Backup && i.Priority == top
	})
}

// leave asks for an orderly end, and stay takes that back.
func (r *router) leave() { r.put("", supervised.LeaveFile) }

func (r *router) stay() {
	if err := r.forget(); err != nil {
		r.Error(err)
	}
}

func (r *router) forget() error {
	if err := os.Remove(r.path(supervised.LeaveFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
