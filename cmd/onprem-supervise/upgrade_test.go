package main

import (
	"bytes"
	"encoding/json"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/migrate"
	node "github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/member"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// formerRelease is the last commit whose monitor proposes a text, and whose supervisor reads it.
const formerRelease = "8422fe7"

// beforeDevices is the last commit whose supervisor reads version 1 of the candidate alone.
const beforeDevices = "26e9d4b"

// former are the programs of the former release.
type former struct{ supervisor, monitor string }

// archived is a directory with the source of a commit, from this clone's history.
func archived(t *testing.T, commit string) (dir string) {
	t.Helper()
	need.Root(t)
	git := need.Command(t, "git")
	dir = t.TempDir()
	tree := filepath.Join(dir, "former.tar")
	parts := []string{"archive", "-o", tree, commit, "go.mod", "go.sum", "cmd/onprem-supervise",
		"cluster", "shared", "units"}
	archive := exec.Command(git, parts...)
	archive.Dir = filepath.Join("..", "..")
	if out, err := archive.CombinedOutput(); err != nil {
		need.Missing(t, "needs commit "+commit+" in the history of this clone: "+string(out))
	}
	execute(t, dir, "tar", "-xf", tree)
	return dir
}

// buildFormer builds the programs of the former release.
func buildFormer(t *testing.T) former {
	t.Helper()
	dir := archived(t, formerRelease)
	source, err := os.ReadFile("testdata/former-monitor.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "cmd/monitor"), 0o755); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "cmd/monitor/main.go"), string(source))
	execute(t, dir, "go", "build", "-trimpath", "-buildvcs=false", "-o", dir+"/",
		"./cmd/onprem-supervise", "./cmd/monitor")
	return former{filepath.Join(dir, "onprem-supervise"), filepath.Join(dir, "monitor")}
}

// TestUpgrade holds that the VIPs do not move when a monitor and a supervisor are of two releases,
// for a while or for good: an unchanged configuration is not loaded again, and a changed one is,
// also when the former monitor comes back.
func TestUpgrade(t *testing.T) {
	programs := buildFormer(t)
	for _, tt := range []struct {
		name   string
		former bool // the supervisor is of the former release
	}{
		{"the supervisor comes first", false},
		{"the monitor comes first", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			u := newUpgrade(t, programs)
			s := newRealKeepalived(t)
			if tt.former {
				s.runProgram(programs.supervisor)
			}
			s.start(u.lan.host)
			one := u.formerProposes(s, "192.0.2.11", "2001:db8::11")
			s.untilMaster(10 * time.Second)
			held := u.lan.watch(t)
			held.until(t, "with both VIPs", 10*time.Second, 2)

			u.proposes(s, one, "192.0.2.11", "2001:db8::11")
			u.settled(s, held, one, 0)
			two := u.proposes(s, "", "192.0.2.12", "2001:db8::12")
			u.settled(s, held, two, 1)
			u.formerProposes(s, "192.0.2.11", "2001:db8::11") // the monitor is rolled back
			u.settled(s, held, one, 2)
			u.proposes(s, one, "192.0.2.11", "2001:db8::11")
			u.settled(s, held, one, 2)
		})
	}
	t.Run("the supervisor adopts what runs", func(t *testing.T) {
		t.Parallel()
		newUpgrade(t, programs).adopts()
	})
}

// TestUpgrade_Fields holds what a supervisor does beside a monitor that knows more fields: it runs
// what has none of them, and beside one that it does not know it goes on serving, and names the
// version that it lacks.
func TestUpgrade_Fields(t *testing.T) {
	dir := archived(t, beforeDevices)
	execute(t, dir, "go", "build", "-trimpath", "-buildvcs=false", "-o", dir+"/",
		"./cmd/onprem-supervise")
	l, s := newLAN(t), newRealKeepalived(t)
	s.runProgram(filepath.Join(dir, "onprem-supervise"))
	s.start(l.host)
	config, err := keepalived.Parse([]byte(fast(s.dir)))
	if err != nil {
		t.Fatal(err)
	}
	one := s.proposeConfig(config)
	s.untilMaster(10 * time.Second)
	held := l.watch(t)
	held.until(t, "with both VIPs", 10*time.Second, 2)

	newer := config
	newer.Instances = slices.Clone(config.Instances)
	newer.Instances[0].Device, newer.Instances[0].Bits = "ens4", 24
	s.proposeConfig(newer)
	s.until("refused", 10*time.Second, func(st supervised.Status) bool {
		return st.Refused != nil && st.Applied == one &&
			strings.Contains(st.Refused.Output, "its version is 2, this release reads 1")
	})
	config.Instances = slices.Clone(config.Instances)
	config.Instances[0].Priority--
	two := s.proposeConfig(config)
	s.until("running", 10*time.Second, func(st supervised.Status) bool {
		return st.Applied == two && st.Refused == nil
	})
	if held.low() != 2 {
		t.Errorf("of 2 VIPs %d were held at the least", held.low())
	}
}

// adopts has a supervisor of this release start on the files of one of the former release, before
// any monitor has proposed anything: the VIPs are held, the routers that the former monitor kept
// out are accepted, and its proposal becomes the running configuration again without a move.
func (u upgrade) adopts() {
	was, s := newRealKeepalived(u.T), newRealKeepalived(u.T)
	was.runProgram(u.former.supervisor)
	was.start(u.lan.host)
	u.formerProposes(was, "192.0.2.11", "2001:db8::11")
	was.untilMaster(10 * time.Second)
	was.cmd.Process.Signal(syscall.SIGTERM)
	was.wait(5 * time.Second)

	text, err := os.ReadFile(was.config)
	if err != nil {
		u.Fatal(err)
	}
	put(u.T, s.config, strings.ReplaceAll(string(text), was.dir, s.dir))
	s.start(u.lan.host)
	s.untilMaster(10 * time.Second)
	held := u.lan.watch(u.T)
	held.until(u.T, "with both VIPs", 10*time.Second, 2)
	if text, err := os.ReadFile(s.config); err != nil || bytes.Contains(text,
		[]byte("check_unicast_src")) {
		u.Errorf("it runs on %v\n%s", err, text)
	}
	one := u.formerProposes(s, "192.0.2.11", "2001:db8::11")
	u.settled(s, held, one, 1)
}

// upgrade is a node of a cluster.
type upgrade struct {
	*testing.T
	lan     lan
	former  former
	cluster spec.Cluster
	links   addr.Snapshot
}

const upgradeHeader = "Rendered by onprem-infra."

func newUpgrade(t *testing.T, programs former) upgrade {
	t.Helper()
	u := upgrade{
		T: t, lan: newLAN(t), former: programs,
		cluster: demoCluster(spec.BareMetal, vrrp.ProfileLan, spec.Unicast),
	}
	u.links = u.lan.links(t)
	return u
}

// nodes are this one and another one.
func (u upgrade) nodes(other ...string) (all []member.Node) {
	for name, addresses := range map[string][]string{
		"master-0": {"192.0.2.10", "2001:db8::10"}, "master-1": other,
	} {
		n := member.Node{Candidate: addr.Candidate{Name: name}, ControlPlane: true}
		for _, a := range addresses {
			n.InternalIPs = append(n.InternalIPs, netip.MustParseAddr(a))
		}
		all = append(all, n)
	}
	return all
}

// formerProposes writes what a monitor of the former release proposes beside another node.
func (u upgrade) formerProposes(s *supervisor, other ...string) (digest string) {
	u.Helper()
	in, err := json.Marshal(map[string]any{"Header": upgradeHeader, "Cluster": u.cluster,
		"Links": u.links, "Nodes": u.nodes(other...)})
	if err != nil {
		u.Fatal(err)
	}
	monitor := exec.Command(u.former.monitor)
	monitor.Stdin, monitor.Stderr = bytes.NewReader(in), u.Output()
	text, err := monitor.Output()
	if err != nil {
		u.Fatal(err)
	}
	return s.propose(strings.ReplaceAll(string(text), supervised.RunDir, s.dir))
}

// proposes writes what a monitor of this release does. Where a digest is given, it must be that of
// the same configuration of the former release.
func (u upgrade) proposes(s *supervisor, same string, other ...string) (digest string) {
	u.Helper()
	p, err := plan.Compile(u.cluster)
	if err != nil {
		u.Fatal(err)
	}
	memory := nodestate.Memory{Open: true, BootstrapGone: true}
	room := node.New(node.Options{
		Role: role.Master, Header: upgradeHeader, Memory: memory,
		Migration: migrate.New(p, migrate.Usual(), migrate.Memory{}), Now: time.Now,
	})
	desired, _ := room.Decide(node.Snapshot{
		At: time.Now(), Links: u.links, Served: true, Nodes: node.Answer[[]member.Node]{OK: true, Is: u.nodes(other...)},
	})
	desired.Config.Instances = slices.DeleteFunc(desired.Config.Instances,
		func(i keepalived.Instance) bool {
			return !slices.Contains(p.VIPs.API, i.VIP)
		})
	digest = s.proposeConfig(desired.Config)
	if same != "" && digest != same {
		u.Errorf("this release proposes another text:\n%s", keepalived.Render(desired.Config))
	}
	return digest
}

// settled waits until a configuration runs, and longer than an election takes.
func (u upgrade) settled(s *supervisor, held *holding, digest string, reloads int) {
	u.Helper()
	s.until("running", 10*time.Second,
		func(st supervised.Status) bool { return st.Applied == digest })
	time.Sleep(1500 * time.Millisecond)
	st := s.status()
	if st.Applied != digest || st.Refused != nil || st.Restarts != 0 || len(st.Troubles) != 0 {
		u.Errorf("the status is %+v", st)
	}
	if n := s.log.count("reload keepalived"); n != reloads || held.low() != 2 {
		u.Errorf("%d reloads, want %d; of 2 VIPs %d were held at the least", n, reloads, held.low())
	}
}

// runProgram replaces a supervisor by another program.
func (s *supervisor) runProgram(path string) {
	s.t.Helper()
	const mounts = `mount -t proc proc /proc && mount -t tmpfs tmpfs /run && exec "$@"`
	s.cmd.Path = need.Command(s.t, "sh")
	s.cmd.Args = slices.Concat([]string{"sh", "-c", mounts, "sh", path}, s.cmd.Args[1:])
}

func execute(t *testing.T, dir, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(need.Command(t, name), args...)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}
