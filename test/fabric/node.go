package fabric

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Node is a host that announces the VIPs by onprem-speak, and serves them by HTTP with its name.
type Node struct {
	*lab.Host
	Dir     string // of the speaker's files
	Sockets string
	f       *Fabric
	rack    int
	number  int
	config  spoken.Config
	program string // the speaker
	speaker *exec.Cmd
	ended   chan struct{} // closed after its end
	unasked atomic.Bool   // the FAKE monitor wants nothing any more
	serves  atomic.Bool
	answers atomic.Int64 // that its server gave
	grade   atomic.Int32
}

// Health is where a speaker serves its health and metrics, in its host's network.
const Health = "127.0.0.1:9466"

// Build builds the speaker.
func Build(t testing.TB) (program string) {
	t.Helper()
	program = filepath.Join(t.TempDir(), "onprem-speak")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", program, "github.com/onprem-infra/onprem-infra/cmd/onprem-speak")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build the speaker: %v\n%s", err, out)
	}
	return program
}

// Node adds a node to a rack, with a FAKE monitor, which says what the test wants, and a speaker.
func (f *Fabric) Node(program, name string, rack, number int) *Node {
	f.t.Helper()
	n := &Node{Host: f.Host(name, rack, number), Dir: f.t.TempDir(), Sockets: filepath.Join(daemons.Open(f.t), "sockets"), f: f, rack: rack, number: number, program: program}
	f.nodes = append(f.nodes, n)
	four, _ := RackAddress(rack, number)
	c := f.Config(rack, number)
	n.config = spoken.Config{ASN: c.ASN, Router: four.Addr(), Timing: c.Timing, VIPs: c.VIPs}
	for _, p := range c.Peers {
		n.config.Peers = append(n.config.Peers, spoken.Peer{Address: p.Address, Interface: p.Interface, ASN: p.ASN})
	}
	n.Configure(func(*spoken.Config) {})
	n.wish()
	n.listen()
	f.must(n.Start())
	ctx, cancel := context.WithCancel(context.Background())
	f.t.Cleanup(cancel)
	go func() {
		for ctx.Err() == nil && !n.unasked.Load() {
			n.wish()
			time.Sleep(500 * time.Millisecond)
		}
	}()
	f.t.Cleanup(func() {
		n.End()
		if f.t.Failed() {
			log, _ := os.ReadFile(n.Dir + "/log")
			status, _ := os.ReadFile(filepath.Join(n.Dir, spoken.StatusFile))
			f.t.Logf("%s:\n%s\n%s", name, log, status)
		}
	})
	return n
}

// Configure changes the speaker's configuration.
func (n *Node) Configure(change func(*spoken.Config)) {
	n.f.t.Helper()
	n.config.VIPs, n.config.Peers = slices.Clone(n.config.VIPs), slices.Clone(n.config.Peers)
	change(&n.config)
	n.f.must(file.Write(filepath.Join(n.Dir, spoken.ConfigFile), spoken.Encode(n.config), 0o644))
}

// Password gives the speaker the password of all its routers.
func (n *Node) Password(word string) {
	n.f.t.Helper()
	var lines string
	for _, p := range n.f.Config(n.rack, 0).Peers {
		lines += p.Name() + " " + word + "\n"
	}
	n.f.must(file.Write(n.passwords(), []byte(lines), 0o600))
}

func (n *Node) passwords() string { return filepath.Join(n.Dir, "passwords") }

// capabilities are those that the speaker has as root, and those of its usage but one, for its flag
// --real-time.
const capabilities = "-all,+chown,+kill,+net_admin,+net_bind_service,+net_raw,+setgid,+setuid,+sys_admin,+sys_nice"

// Start starts the speaker, with no more capabilities than it needs.
func (n *Node) Start() error {
	log, err := os.OpenFile(n.Dir+"/log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	defer log.Close()
	n.speaker = n.Command(context.Background(), "setpriv", "--bounding-set", capabilities, "--inh-caps", "-all", "--",
		n.program, "--run-dir", n.Dir, "--sockets", n.Sockets, "--passwords", n.passwords(), "--real-time", "--health", Health)
	n.speaker.Stdout, n.speaker.Stderr = log, log
	if err := n.speaker.Start(); err != nil {
		return err
	}
	speaker, ended := n.speaker, make(chan struct{})
	n.ended = ended
	go func() { _ = speaker.Wait(); close(ended) }()
	return nil
}

// End ends the speaker in order.
func (n *Node) End() {
	n.f.t.Helper()
	_ = n.speaker.Process.Signal(syscall.SIGTERM) // which may have ended
	select {
	case <-n.ended:
	case <-time.After(20 * time.Second):
		_ = syscall.Kill(-n.speaker.Process.Pid, syscall.SIGKILL)
		n.f.t.Errorf("the speaker of %s does not end", n.Name)
	}
}

// Serve has the node serve the VIPs with a grade, or not serve them.
func (n *Node) Serve(serves bool, grade bgp.Grade) {
	n.f.t.Helper()
	n.serves.Store(serves)
	n.grade.Store(int32(grade))
	n.wish()
}

// EndMonitor ends the FAKE monitor, which has locked nothing.
func (n *Node) EndMonitor() {
	n.unasked.Store(true)
	time.Sleep(600 * time.Millisecond) // its last wish
}

// Leave has the speaker leave in order, and Return ends that.
func (n *Node) Leave() {
	n.f.t.Helper()
	n.f.must(os.WriteFile(filepath.Join(n.Dir, spoken.LeaveFile), nil, 0o644))
}

// Return ends what Leave began.
func (n *Node) Return() {
	n.f.t.Helper()
	n.f.must(os.Remove(filepath.Join(n.Dir, spoken.LeaveFile)))
}

// PID is the process of a daemon of FRR, as that has written it.
func (n *Node) PID(name frr.Daemon) int {
	n.f.t.Helper()
	for begun := time.Now(); ; time.Sleep(5 * time.Millisecond) {
		text, err := os.ReadFile(filepath.Join(n.Sockets, string(name)+".pid"))
		n.f.must(err)
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil || time.Since(begun) > 5*time.Second { // it may just be written over
			n.f.must(err)
			return pid
		}
	}
}

// Kill kills a daemon of FRR.
func (n *Node) Kill(name frr.Daemon) {
	n.f.t.Helper()
	n.f.must(syscall.Kill(n.PID(name), syscall.SIGKILL))
}

// Crash kills the speaker, and nothing else.
func (n *Node) Crash() {
	n.f.t.Helper()
	n.f.must(n.speaker.Process.Kill())
	<-n.ended
}

// starts is how often the speaker has started a daemon.
func (n *Node) starts(name frr.Daemon) int {
	for _, d := range n.Status().Daemons {
		if d.Name == name {
			return d.Starts
		}
	}
	return 0
}

// Cut is a loss of power: the wire goes, and then all processes.
func (n *Node) Cut() {
	n.f.t.Helper()
	n.f.must(n.Off())
	n.f.must(syscall.Kill(-n.speaker.Process.Pid, syscall.SIGKILL))
	<-n.ended
}

// Power ends what Cut began.
func (n *Node) Power() error {
	return errors.Join(n.On(), n.f.route(n.Host, n.rack), n.Start())
}

func (n *Node) wish() {
	w := spoken.Wish{Beat: time.Now()}
	policy := bgp.Policy{Depth: 1, Bootstrap: true}
	if n.serves.Load() {
		for _, vip := range []netip.Addr{VIP4, VIP6} {
			grade := bgp.Grade(n.grade.Load())
			w.Routes = append(w.Routes, spoken.Route{VIP: vip, Grade: grade, Demotions: policy.Demotions(grade)})
		}
	}
	if err := file.Write(filepath.Join(n.Dir, spoken.WishFile), spoken.Encode(w), 0o644); err != nil {
		n.f.t.Errorf("write the wish: %v", err)
	}
}

// Status is what the speaker reports.
func (n *Node) Status() (s spoken.Status) {
	text, err := os.ReadFile(filepath.Join(n.Dir, spoken.StatusFile))
	if err != nil {
		return s
	}
	s, err = spoken.Decode[spoken.Status](text)
	n.f.must(err)
	return s
}

// listen answers each request to any address with the host's name.
func (n *Node) listen() {
	n.f.t.Helper()
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Host, "10.1.") { // its own address, which others ask beside
			n.answers.Add(1)
		}
		fmt.Fprint(w, n.Name)
	})}
	listener, err := n.Listen("[::]:6443")
	n.f.must(err)
	go func() { _ = server.Serve(listener) }() // it ends with the test
	n.f.t.Cleanup(func() { _ = server.Close() })
}
