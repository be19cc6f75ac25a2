package clash

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
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
)

// node is a control plane node: a host of the lab with directories of its own, on which
// keepalived's pod runs as far as the elections go.
type node struct {
	*lab.Host
	address netip.Addr
	dir     string
	pod     *exec.Cmd
}

// side is one of the two clusters.
type side struct {
	t     *testing.T
	plan  plan.Plan
	nodes []*node
}

// script gives the two programs of keepalived's pod the directories of the node, and ends them with
// itself.
const script = `set -e
mount -t tmpfs tmpfs /run
mkdir -p /run/onprem-infra /run/nodeip-configuration
printf %%s %[2]s >/run/nodeip-configuration/ipv4
mount -t tmpfs tmpfs /var/lib
mkdir /var/lib/onprem-infra
mount --bind %[1]s/run /run/onprem-infra
mount --bind %[1]s/state /var/lib/onprem-infra
%[3]s/onprem-supervise --config %[1]s/etc/keepalived.conf --run-dir /run/onprem-infra/keepalived --cluster %[1]s/cluster.json -- keepalived >%[1]s/supervise.log 2>&1 &
supervise=$!
%[3]s/onprem-infra monitor vip --role=master -c %[1]s/cluster.json --kubeconfig %[1]s/none >%[1]s/monitor.log 2>&1 &
monitor=$!
trap "kill $supervise $monitor" TERM
wait $monitor || true
wait $supervise || true
`

// programs builds ours.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.Command("go", "build", "-tags", "remote", "-o", dir+"/", "./cmd/onprem-infra", "./cmd/onprem-supervise")
	cmd.Dir, cmd.Env = "../..", append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build our programs: %v\n%s", err, out)
	}
	return dir
}

// cluster makes the nodes of a cluster, whose addresses end in first and the next number, and whose
// VIPs end in first+2 and +3.
func cluster(t *testing.T, l *lab.Lab, name string, first int, change func(*spec.Cluster)) *side {
	t.Helper()
	at := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{192, 0, 2, byte(n)}) }
	c := spec.Cluster{
		Name: name, BaseDomain: "example.com", Platform: spec.BareMetal, ControlPlaneReplicas: 3, Timing: vrrp.ProfileCompat, VRRP: spec.Multicast,
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}, APIVIPs: []netip.Addr{at(first + 2)}, IngressVIPs: []netip.Addr{at(first + 3)},
	}
	change(&c)
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	s := &side{t: t, plan: p}
	var known []string
	for i := range 2 {
		n := &node{address: at(first + i), dir: t.TempDir()}
		if n.Host, err = l.Add(fmt.Sprintf("%s-%d", name, i), netip.PrefixFrom(n.address, 24)); err != nil {
			t.Fatal(err)
		}
		known = append(known, fmt.Sprintf(`{"Name":%q,"InternalIPs":[%q],"controlPlane":true}`, n.Name, n.address))
		s.nodes = append(s.nodes, n)
	}
	memory := `{"open":true,"bootstrapGone":true,"started":[],"nodes":[` + strings.Join(known, ",") + `]}`
	for _, n := range s.nodes {
		for path, text := range map[string]string{"cluster.json": string(plan.Encode(p)), "state/vip.json": memory, "etc/keepalived.conf": "", "run/keepalived/empty": ""} {
			if err := errors.Join(os.MkdirAll(filepath.Dir(filepath.Join(n.dir, path)), 0o755), os.WriteFile(filepath.Join(n.dir, path), []byte(text), 0o644)); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Remove(filepath.Join(n.dir, "etc/keepalived.conf")); err != nil {
			t.Fatal(err)
		}
		n.router(t)
	}
	return s
}

// router is a FAKE ingress router, which is ready.
func (n *node) router(t *testing.T) {
	t.Helper()
	listener, err := n.Listen("127.0.0.1:1936")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })}
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(func() { server.Close() })
}

// start starts the pods of a cluster.
func (s *side) start(programs string) {
	s.t.Helper()
	for _, n := range s.nodes {
		n.pod = n.Command(context.WithoutCancel(s.t.Context()), "unshare", "-m", "sh", "-c", fmt.Sprintf(script, n.dir, n.address, programs))
		if err := n.pod.Start(); err != nil {
			s.t.Fatal(err)
		}
		s.t.Cleanup(func() {
			_ = syscall.Kill(-n.pod.Process.Pid, syscall.SIGTERM)
			done := make(chan error, 1)
			go func() { done <- n.pod.Wait() }()
			select {
			case <-done:
			case <-time.After(20 * time.Second):
				_ = syscall.Kill(-n.pod.Process.Pid, syscall.SIGKILL)
				<-done
			}
			if s.t.Failed() {
				for _, log := range []string{"monitor.log", "supervise.log"} {
					text, _ := os.ReadFile(filepath.Join(n.dir, log))
					s.t.Logf("%s of %s:\n%s", log, n.Name, text[max(0, len(text)-6000):])
				}
			}
		})
	}
}

// read reads a file of a node's run directory.
func read[T any](n *node, name string, decode func([]byte) (T, error)) (out T) {
	text, err := os.ReadFile(filepath.Join(n.dir, "run/keepalived", name))
	if err == nil {
		out, _ = decode(text)
	}
	return out
}

// found are the kinds and IDs of what each node of a cluster has found, once.
func (s *side) found() (out []string, free map[string]uint8) {
	free = map[string]uint8{}
	for _, n := range s.nodes {
		for _, f := range read(n, clash.StateFile, clash.DecodeState).Findings {
			out = append(out, fmt.Sprintf("%s %d", f.Kind, f.ID))
			if f.Free != 0 {
				free[string(f.For)] = uint8(f.Free)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out), free
}

// holders are the VIPs that the nodes' keepalived hold, by instance.
func (s *side) holders() map[string]int {
	out := map[string]int{}
	for _, n := range s.nodes {
		for name, i := range read(n, supervised.StatusFile, supervised.Decode).Instances {
			if i.State == supervised.Master {
				out[name]++
			}
		}
	}
	return out
}

// lives says why a cluster does not have both its VIPs on one node each.
func (s *side) lives() error {
	for _, word := range []string{"API", "INGRESS"} {
		name := fmt.Sprintf("%s_%s_0", s.plan.Cluster.Name, word)
		if n := s.holders()[name]; n != 1 {
			return fmt.Errorf("%s has %d holders", name, n)
		}
	}
	return nil
}

// until waits for something.
func until(t *testing.T, within time.Duration, is func() error) {
	t.Helper()
	var err error
	for begin := time.Now(); time.Since(begin) < within; time.Sleep(20 * time.Millisecond) {
		if err = is(); err == nil {
			return
		}
	}
	t.Fatalf("after %v: %v", within, err)
}

// finds waits until every node of a cluster has written down that it found foreign routers with
// these IDs.
func (s *side) finds(ids ...vrrp.ID) {
	s.t.Helper()
	until(s.t, 30*time.Second, func() error {
		for _, n := range s.nodes {
			text, err := os.ReadFile(filepath.Join(n.dir, "state/journal.jsonl"))
			if err != nil {
				return err
			}
			for _, id := range ids {
				if !slices.ContainsFunc(strings.Split(string(text), "\n"), func(line string) bool { return foreign(line, id) }) {
					return fmt.Errorf("the journal of %s names no other router with ID %d: %s", n.Name, id, text)
				}
			}
		}
		return nil
	})
}

// foreign says whether a line of a journal names a foreign router with an ID.
func foreign(line string, id vrrp.ID) bool {
	return strings.Contains(line, `"clash":"foreign-router"`) && strings.Contains(line, fmt.Sprintf("has the virtual router ID %d ", id))
}

func keep(*spec.Cluster) {}

// shared are the IDs that two clusters both have.
func shared(a, b plan.Plan) (out []vrrp.ID) {
	for _, id := range []vrrp.ID{a.VRRP.API.ID, a.VRRP.Ingress.ID} {
		if id == b.VRRP.API.ID || id == b.VRRP.Ingress.ID {
			out = append(out, id)
		}
	}
	return out
}

// named holds that every node of a cluster has named a router of the other one by its third advert
// since the node listens.
func (s *side) named(other *side, all []lab.Advert, ids []vrrp.ID) {
	s.t.Helper()
	for _, n := range s.nodes {
		state := read(n, clash.StateFile, clash.DecodeState)
		log, err := os.ReadFile(filepath.Join(n.dir, "monitor.log"))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, id := range ids {
			logged, line := time.Time{}, ""
			for l := range strings.Lines(string(log)) {
				if strings.Contains(l, "an election is disturbed") && strings.Contains(l, fmt.Sprintf("has the virtual router ID %d ", id)) && logged.IsZero() {
					stamp, _, _ := strings.Cut(strings.TrimPrefix(l, "time="), " ")
					if logged, err = time.Parse(time.RFC3339Nano, stamp); err != nil {
						s.t.Fatal(err)
					}
					line = l
				}
			}
			adverts := 0
			for _, a := range all {
				from := slices.ContainsFunc(other.nodes, func(o *node) bool { return o.address == a.From })
				if from && a.ID == int(id) && a.At.After(state.Since["eth0"]) && a.At.Before(logged) {
					adverts++
				}
			}
			if logged.IsZero() || adverts > 3 {
				s.t.Errorf("%s has named the router with ID %d after %d adverts, at %v", n.Name, id, adverts, logged)
				continue
			}
			s.t.Logf("%s: after %d adverts: %s", n.Name, adverts, strings.TrimSpace(line))
			if !slices.ContainsFunc(other.nodes, func(o *node) bool { return strings.Contains(line, o.address.String()+" (") }) || !strings.Contains(line, "VRRPv2") {
				s.t.Errorf("%s does not say who it is: %s", n.Name, line)
			}
		}
	}
}

// stays watches for a while that a cluster lives, and says what it has found.
func (s *side) stays(long time.Duration) {
	s.t.Helper()
	for begin := time.Now(); time.Since(begin) < long; time.Sleep(50 * time.Millisecond) {
		if err := s.lives(); err != nil {
			s.t.Fatalf("%s: %v", s.plan.Cluster.Name, err)
		}
	}
}

// TestLongTwoClusters has a second cluster come onto the switch of a first one that has one of its
// IDs.
func TestLongTwoClusters(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") != "1" {
		t.Skip("takes minutes: ONPREM_INFRA_LONG=1 asks for it")
	}
	need.Root(t)
	for _, command := range []string{"keepalived", "unshare", "nsenter", "ip"} {
		need.Command(t, command)
	}
	ours := programs(t)
	for _, names := range [][2]string{{"ocp8", "lab"}, {"cnf10", "cnf11"}} {
		t.Run(names[0]+" and "+names[1], func(t *testing.T) {
			var free map[string]uint8
			begin := func(t *testing.T, change func(*spec.Cluster)) (first, second *side, adverts *lab.Adverts) {
				l := lab.New(t)
				first, second = cluster(t, l, names[0], 11, func(c *spec.Cluster) {
					if change(c); len(c.VRIDs) > 0 { // the first one keeps its own
						c.VRIDs = nil
					}
				}), cluster(t, l, names[1], 31, change)
				adverts, err := l.Adverts()
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { adverts.Stop() })
				first.start(ours)
				until(t, time.Minute, first.lives)
				second.start(ours)
				return first, second, adverts
			}
			t.Run("multicast, report", func(t *testing.T) {
				first, second, adverts := begin(t, keep)
				ids := shared(first.plan, second.plan)
				first.finds(ids...)
				second.finds(ids...)
				all := adverts.So()
				first.named(second, all, ids)
				second.named(first, all, ids)
				until(t, 10*time.Second, func() error {
					if _, free = second.found(); len(free) == 0 {
						return errors.New("nobody proposes an ID")
					}
					return nil
				})
			})
			t.Run("multicast, refuse", func(t *testing.T) {
				first, second, _ := begin(t, func(c *spec.Cluster) { c.OnClash = clash.Refuse })
				ids := shared(first.plan, second.plan)
				second.finds(ids...)
				first.stays(10 * time.Second) // keepalived listens for less than four, and then has the VIP
				for instance, n := range second.holders() {
					id := map[bool]vrrp.ID{true: second.plan.VRRP.API.ID, false: second.plan.VRRP.Ingress.ID}[strings.Contains(instance, "_API_")]
					if slices.Contains(ids, id) && n > 0 {
						t.Errorf("%s has started beside another router with its ID", instance)
					}
				}
				if got, _ := first.found(); len(got) > 0 {
					t.Errorf("who is kept out has disturbed the other cluster: %q", got)
				}
			})
			t.Run("multicast, another ID", func(t *testing.T) {
				first, second, _ := begin(t, func(c *spec.Cluster) { c.VRIDs, c.OnClash = free, clash.Refuse })
				until(t, time.Minute, second.lives)
				first.stays(3 * time.Second)
				second.stays(3 * time.Second)
				for _, s := range []*side{first, second} {
					if got, _ := s.found(); len(got) > 0 {
						t.Errorf("%s has found %q", s.plan.Cluster.Name, got)
					}
				}
			})
			t.Run("unicast", func(t *testing.T) {
				first, second, _ := begin(t, func(c *spec.Cluster) { c.VRRP, c.OnClash = spec.Unicast, clash.Refuse })
				until(t, time.Minute, second.lives)
				first.stays(3 * time.Second)
				second.stays(3 * time.Second)
				for _, s := range []*side{first, second} {
					if got, _ := s.found(); len(got) > 0 {
						t.Errorf("%s has found %q", s.plan.Cluster.Name, got)
					}
				}
			})
		})
	}
}
