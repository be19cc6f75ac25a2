package life

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/cluster/monitoring"
	"github.com/onprem-infra/onprem-infra/shared/operator/metrics"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/scrape"
)

// scene is a fault of which the metrics are recorded.
type scene struct {
	tape  string // name of the file
	about string // the ailment's name, where it is one
	do    func(c *clinic) (undo func() error, err error)
	shows []string      // lines that pages must have before the first scrape counts: TARGET SAMPLE, the sample as an expression. None waits for beat
	steps int           // scrapes during the fault; 0 is three
	limit time.Duration // until it shows; 0 is half a minute
	ages  []string      // see scrape.Tape
	beat  time.Duration // between two scrapes; 0 is two seconds
}

// ail is the fault of one of the ailments.
func ail(name string) func(c *clinic) (func() error, error) {
	i := slices.IndexFunc(ailments, func(a ailment) bool { return a.name == name })
	return ailments[i].do
}

// repeat does something again and again, with pauses, until undo.
func repeat(pause time.Duration, f func() error) (undo func() error) {
	return again(func() error {
		err := f()
		time.Sleep(pause)
		return err
	})
}

// frozen is a container that stands still on nodes.
func frozen(container string, on func(c *clinic) []*Node) func(c *clinic) (func() error, error) {
	return func(c *clinic) (func() error, error) {
		nodes := on(c)
		var errs []error
		for _, n := range nodes {
			errs = append(errs, n.Freeze(container))
		}
		return func() error {
			var errs []error
			for _, n := range nodes {
				errs = append(errs, n.Thaw(container))
			}
			return errors.Join(errs...)
		}, errors.Join(errs...)
	}
}

// on has one of the roles.
func on(role func(c *clinic) []*Node, do func(c *clinic, n *Node) (func() error, error)) func(c *clinic) (func() error, error) {
	return func(c *clinic) (func() error, error) { return do(c, role(c)[0]) }
}

func third(c *clinic) []*Node { return []*Node{c.third} }

// everybodyLeaves has all nodes give the API's VIP up.
func everybodyLeaves(c *clinic) (undo func() error, err error) {
	var leaves []func() error
	for _, n := range c.Nodes {
		leaves = append(leaves, func() error { return n.Leave(c.Context()) })
	}
	return func() error {
		var returns []func() error
		for _, n := range c.Nodes {
			returns = append(returns, func() error { return n.Return(context.Background()) })
		}
		return Together(returns...)
	}, Together(leaves...)
}

// unread puts something that is no file in the place of what CoreDNS's monitor reads.
func unread(make func(path string) error) func(c *clinic, n *Node) (func() error, error) {
	return func(_ *clinic, n *Node) (func() error, error) {
		path := filepath.Join(n.Root, "run/NetworkManager/resolv.conf")
		if err := errors.Join(os.Rename(path, path+".was"), make(path)); err != nil {
			return nil, err
		}
		return func() error {
			// A reader that waits for a pipe goes on.
			if end, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0); err == nil {
				time.Sleep(100 * time.Millisecond)
				_ = end.Close()
			}
			return errors.Join(os.RemoveAll(path), os.Rename(path+".was", path))
		}, nil
	}
}

// apiDown kills API servers.
func apiDown(which func(c *clinic) []*Node) func(c *clinic) (func() error, error) {
	return func(c *clinic) (func() error, error) {
		nodes := which(c)
		var errs []error
		for _, n := range nodes {
			errs = append(errs, n.API.Kill())
		}
		return func() error {
			var starts []func() error
			for _, n := range nodes {
				starts = append(starts, func() error { return n.API.Start(context.Background()) })
			}
			return Together(starts...)
		}, errors.Join(errs...)
	}
}

// immutable has the file system refuse every change of a directory, or allow it.
func immutable(dir string, on bool) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	const immutable = 0x10 // FS_IMMUTABLE_FL
	flags, err := unix.IoctlGetInt(int(d.Fd()), unix.FS_IOC_GETFLAGS)
	if flags &^= immutable; on {
		flags |= immutable
	}
	if err != nil {
		return fmt.Errorf("get the flags of %s: %w", dir, err)
	}
	if err := unix.IoctlSetPointerInt(int(d.Fd()), unix.FS_IOC_SETFLAGS, flags); err != nil {
		return fmt.Errorf("set the flags of %s: %w", dir, err)
	}
	return nil
}

// refused has keepalived's configuration change, where it cannot be put in force.
func refused(c *clinic) (func() error, error) {
	dir := filepath.Join(c.other.Root, "etc/keepalived")
	if err := immutable(dir, true); err != nil {
		return nil, err
	}
	newcomer := &Node{Name: "worker-9", IP: netip.MustParseAddr("192.0.2.49"), role: "worker", life: c.Life}
	return func() error {
		return errors.Join(immutable(dir, false), c.API.Admin().Do(context.Background(), http.MethodDelete, "/api/v1/nodes/"+newcomer.Name, nil, nil))
	}, newcomer.Register(c.Context(), c.API)
}

// scenes are all that the lab can do to have an alarm sound.
var scenes = []scene{
	{tape: scrape.Health, about: "all is well", do: func(*clinic) (func() error, error) { return nil, nil }, steps: 5},
	{tape: "foreign-router", about: "a virtual router ID clashes", shows: []string{`other/vip onprem_vip_clashes{.*fault="foreign-router"} 1`}},
	{tape: "interval", about: "the advert interval of one node differs", shows: []string{`other/vip onprem_vip_clashes{.*fault="interval"} [1-9]`}},
	{tape: "cut-off", about: "the control plane nodes do not reach the holder", do: on(holder, func(c *clinic, n *Node) (func() error, error) {
		return n.Host.Reconnect, errors.Join(n.Host.CutFrom(c.other.Host, lab.Both), n.Host.CutFrom(c.third.Host, lab.Both))
	}), shows: []string{`holder/vip onprem_vip_holder{.*kind="api"} 1`, `(other|third)/vip onprem_vip_holder{.*kind="api"} 1`}},
	{tape: "no-holder", about: "every control plane node gives the VIP up", do: everybodyLeaves, shows: []string{`holder/vip onprem_vip_holder{.*kind="api"} 0`}},
	{tape: "left", about: "a node has given its VIPs up, and does not come back", do: on(other, func(c *clinic, n *Node) (func() error, error) {
		return func() error { return n.Return(context.Background()) }, n.Leave(c.Context())
	}), shows: []string{`other/vip onprem_keepalived_running 0`}},
	{tape: "no-router", about: "no ingress router runs", do: func(c *clinic) (func() error, error) {
		return func() error { return errors.Join(c.worker.StartRouter(), c.Nodes[2].StartRouter()) }, errors.Join(c.worker.StopRouter(), c.Nodes[2].StopRouter())
	}, shows: []string{`worker/vip onprem_vip_holder{.*kind="ingress"} 0`}},
	{tape: "gap", about: "the VIP was held by nobody for some seconds, and is held again", do: func(c *clinic) (func() error, error) {
		undo, err := everybodyLeaves(c)
		if err != nil {
			return undo, err
		}
		time.Sleep(4 * time.Second) // the gap lasts
		return nil, errors.Join(undo(), c.held(c.Context()))
	}, shows: []string{`(holder|other|third)/vip onprem_vip_gap_seconds_total{.*kind="api"} [1-9]`}},
	{tape: "moves", about: "the VIP moves all the time", do: func(c *clinic) (func() error, error) {
		return repeat(time.Second, func() error {
			holders := c.Holders()
			for _, n := range c.Nodes {
				if slices.Equal(holders, []string{n.Name}) {
					return errors.Join(n.Leave(c.Context()), n.Return(c.Context()))
				}
			}
			return nil
		}), nil
	}, steps: 6},
	{tape: "late", about: "the holder's adverts come late", do: on(holder, func(_ *clinic, n *Node) (func() error, error) {
		return func() error { return n.Host.Spoil(lab.Line{}) }, n.Host.Spoil(lab.Line{Jitter: 240 * time.Millisecond, Way: lab.Out, Seed: 1}) // a little less than others wait for
	}), shows: []string{`(other|third)/vip onprem_vip_advert_jitter_seconds{.*kind="api"} 0\.2`}, limit: 60 * time.Second},
	{tape: "kept", about: "a host has the VIP's address and does not hold it", do: on(other, func(_ *clinic, n *Node) (func() error, error) {
		vip := netip.PrefixFrom(chain.APIVIP, 32)
		return again(func() error { return n.Host.Give(vip) }), nil
	}), shows: []string{`other/vip onprem_vip_address_present{.*kind="api"} 1`}},
	{tape: "keepalived-hangs", about: "a VIP is stale", shows: []string{`holder/vip onprem_keepalived_running 0`}},
	{tape: "keepalived-dead", about: "keepalived and its supervisor are dead", do: on(other, func(_ *clinic, n *Node) (func() error, error) {
		return again(n.KillKeepalived), nil
	}), shows: []string{`other/vip onprem_keepalived_running 0`}},
	{tape: "keepalived-ends", about: "keepalived ends again and again", do: on(other, func(_ *clinic, n *Node) (func() error, error) {
		return repeat(time.Second, func() error { return n.SignalAll(Keepalived, syscall.SIGKILL, "keepalived") }), nil
	}), shows: []string{`other/vip onprem_keepalived_restarts_total [2-9]`}, steps: 5},
	{tape: "keepalived-refuses", about: "keepalived's configuration cannot be put in force", do: refused, shows: []string{`other/vip onprem_keepalived_refused 1`}},
	{tape: "check-alternates", about: "an ingress router is ready and is not, by turns", do: func(c *clinic) (func() error, error) {
		ready := false
		undo := repeat(3*time.Second, func() error { ready = !ready; c.worker.Drain(ready); return nil })
		return func() error { err := undo(); c.worker.Drain(false); return err }, nil
	}, steps: 7},
	{tape: "monitor-dead", about: "a monitor is dead"},
	{tape: "monitors-silent", about: "no monitor of VIPs answers", do: frozen(KeepalivedMonitor, func(c *clinic) []*Node { return c.all() })},
	{tape: "node-lost", about: "a node has lost its power", do: on(third, func(_ *clinic, n *Node) (func() error, error) {
		return func() error { return n.Boot(context.Background()) }, n.CutPower()
	}), shows: []string{`other/lb onprem_lb_backend_up{.*} 0`}},
	{tape: "step-fails", about: "a monitor cannot read what it must", do: on(other, unread(func(path string) error { return os.Mkdir(path, 0o755) })), shows: []string{`other/dns onprem_faults_total{.*} [1-9]`}, steps: 5},
	{tape: "loop-stands", about: "a monitor's loop waits for ever", do: on(other, unread(func(path string) error { return syscall.Mkfifo(path, 0o644) })), shows: []string{`other/dns onprem_round_age_seconds{.*} 1[0-9]`}, ages: []string{metrics.RoundAge.Name}},
	{tape: "haproxy-dead", about: "HAProxy is dead", shows: []string{`other/lb onprem_lb_running 0`, `other/lb onprem_lb_redirect 0`}},
	{tape: "haproxy-hangs", about: "HAProxy hangs", shows: []string{`other/lb onprem_lb_running 0`, `other/lb onprem_lb_redirect 0`}},
	{tape: "redirect-lost", about: "the redirect rule is missing", shows: []string{`other/lb onprem_lb_redirect_lost_total [2-9]`}},
	{tape: "server-down", about: "an API server is down", do: apiDown(third), shows: []string{`holder/lb onprem_lb_backend_up{.*} 0`}},
	{tape: "coredns-dead", about: "CoreDNS is dead", shows: []string{`other/dns onprem_dns_running 0`}},
	{tape: "coredns-hangs", about: "CoreDNS hangs", do: frozen(CoreDNS, other)},
	{tape: "servers-down", about: "all API servers are down", shows: []string{`holder/lb onprem_lb_redirect 0`}, beat: 5 * time.Second, ages: []string{metrics.WatchAge.Name}},
	{tape: "version", about: "the VRRP version of one node differs", shows: []string{`other/vip onprem_vip_clashes{.*fault="version"} [1-9]`, `other/vip onprem_vip_clashes{.*fault="two-holders"} [1-9]`}},
	{tape: "peers", about: "peer lists lack a node", shows: []string{`other/vip onprem_vip_transitions_total{.*kind="api",state="fault"} 1`}},
}

// recorder writes tapes.
type recorder struct {
	*clinic
	dir      string
	families map[string]metrics.Family
	ill      bool // it was not well after a scene, and will not be
}

// TestLongRecord has the lab suffer each scene, and writes down what all monitors reported of it,
// from which test/scrape computes which alarms sound. ONPREM_INFRA_RECORD names the scenes, as an
// expression; nothing is written without it.
func TestLongRecord(t *testing.T) {
	needLong(t)
	wanted := os.Getenv("ONPREM_INFRA_RECORD")
	if wanted == "" {
		t.Skip("writes test/scrape/testdata: ONPREM_INFRA_RECORD=. asks for it, or an expression for tapes' names")
	}
	pattern, err := regexp.Compile(wanted)
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{clinic: newClinic(t), dir: filepath.Join("..", "scrape", "testdata")}
	set, err := monitoring.Assets(r.Plan)
	r.must(err)
	for _, f := range set.Files() {
		if f.Path == monitoring.RulesFile {
			r.families = scrape.Families(f.Contents)
		}
	}
	r.must(r.worker.StartRouter())
	r.must(r.Nodes[2].StartRouter())
	r.must(Until(t.Context(), time.Minute, func() error {
		return spared(shows(askAll(r.cast()), []string{`worker/vip onprem_check_passes{check="ingress_ready"} 1`, `(holder|other|third)/vip onprem_check_passes{check="ingress_ready"} 1`}))
	}))
	time.Sleep(5 * time.Second) // until the ingress VIP has come to rest
	for _, s := range scenes {
		if pattern.MatchString(s.tape) && !r.ill {
			t.Run(s.tape, func(t *testing.T) { r.record(t, s) })
		}
	}
}

// parts is roles, for moments at which no host may hold the VIP.
func (r *recorder) parts() error {
	holders := r.Holders()
	i := slices.IndexFunc(r.Nodes, func(n *Node) bool { return slices.Equal(holders, []string{n.Name}) })
	if i < 0 {
		return fmt.Errorf("the VIP is held by %v", holders)
	}
	r.holder, r.worker = r.Nodes[i], r.Workers[0]
	rest := slices.DeleteFunc(slices.Clone(r.Nodes), func(n *Node) bool { return n == r.holder })
	r.other, r.third = rest[0], rest[1]
	return nil
}

// cast are the nodes by their parts, and what runs on them.
func (r *recorder) cast() map[string]asked {
	out := map[string]asked{}
	for part, n := range map[string]*Node{"holder": r.holder, "other": r.other, "third": r.third, "worker": r.worker} {
		out[part+"/vip"], out[part+"/dns"] = asked{n, r.Plan.Ports[port.MonitorVIP]}, asked{n, r.Plan.Ports[port.MonitorDNS]}
		if n.API != nil {
			out[part+"/lb"] = asked{n, r.Plan.Ports[port.MonitorLB]}
		}
	}
	return out
}

// asked is a monitor.
type asked struct {
	on   *Node
	port uint16
}

// scrapePage is its page of metrics.
func (a asked) scrapePage() ([]byte, error) {
	client := http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DialContext: a.on.Host.Dial, DisableKeepAlives: true}}
	reply, err := client.Get("http://" + net.JoinHostPort("127.0.0.1", strconv.Itoa(int(a.port))) + "/metrics")
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	if reply.StatusCode != http.StatusOK {
		return nil, errors.New(reply.Status)
	}
	return io.ReadAll(reply.Body)
}

// askAll asks all monitors at once. One that does not answer is missing.
func askAll(cast map[string]asked) map[string][]byte {
	out := map[string][]byte{}
	var mu sync.Mutex
	var asking sync.WaitGroup
	for target, monitor := range cast {
		asking.Go(func() {
			if page, err := monitor.scrapePage(); err == nil {
				mu.Lock()
				defer mu.Unlock()
				out[target] = page
			}
		})
	}
	asking.Wait()
	return out
}

// record does a scene and writes its tape.
func (r *recorder) record(t *testing.T, s scene) {
	do := s.do
	if do == nil {
		do = ail(s.about)
	}
	begin := time.Now()
	tape := &scrape.Tape{About: s.about, Ages: s.ages}
	cast := r.settle(t)
	if err := tape.Add(0, askAll(cast), r.families); err != nil {
		t.Fatal(err)
	}
	well := time.Since(begin)
	undo, err := do(r.clinic)
	if undo != nil {
		defer func() {
			if err := undo(); err != nil {
				t.Errorf("undo: %v", err)
			}
		}()
	}
	if err != nil {
		t.Fatal(err)
	}
	at := time.Now()
	beat := max(s.beat, 2*time.Second)
	shown := Until(t.Context(), max(s.limit, 30*time.Second), func() error { return spared(shows(askAll(cast), s.shows)) })
	if shown != nil {
		t.Errorf("it does not show: %v", shown)
	}
	for range max(s.steps, 3) {
		time.Sleep(beat) // the first one too: what shows has just begun
		if err := tape.Add(time.Since(at), askAll(cast), r.families); err != nil {
			t.Fatal(err)
		}
	}
	r.keep(t, s.tape, tape)
	t.Logf("well after %v, shown after %v, %v in all", well.Round(100*time.Millisecond), tape.At[1].Round(100*time.Millisecond), time.Since(begin).Round(100*time.Millisecond))
}

// keep writes a tape. That of health comes first, and is whole.
func (r *recorder) keep(t *testing.T, name string, tape *scrape.Tape) {
	tape.Steady()
	if name != scrape.Health {
		text, err := os.ReadFile(filepath.Join(r.dir, scrape.Health+".tape"))
		if err != nil {
			t.Fatal(err)
		}
		health, err := scrape.Read(text)
		if err != nil {
			t.Fatal(err)
		}
		tape = tape.Beyond(health)
	}
	if err := os.WriteFile(filepath.Join(r.dir, name+".tape"), tape.Text(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// shows reports which line no page has.
func shows(pages map[string][]byte, want []string) error {
	for _, w := range want {
		pattern, what, _ := strings.Cut(w, " ")
		if !slices.ContainsFunc(matching(pages, pattern), func(page []byte) bool { return regexp.MustCompile(`(?m)^` + what).Match(page) }) {
			return fmt.Errorf("nobody says %s", w)
		}
	}
	return nil
}

func matching(pages map[string][]byte, pattern string) (out [][]byte) {
	for target, page := range pages {
		if regexp.MustCompile(`^` + pattern + `$`).MatchString(target) {
			out = append(out, page)
		}
	}
	return out
}

// ills are lines that no page of a host that is well has.
var ills = regexp.MustCompile(`(?m)^(` + strings.Join([]string{
	`onprem_(keepalived_running|lb_running|lb_redirect|dns_running|dns_upstreams|vip_gate_open|watch_synced|lb_backend_up)(\{.*\})? 0`,
	`onprem_(keepalived_refused|keepalived_leaving|vip_clashes)(\{.*\})? [1-9].*`,
	`onprem_round_age_seconds\{.*\} \d{2,}(\..*)?`,
}, "|") + `)$`)

// healthy reports what is not as it should be.
func healthy(pages map[string][]byte, all int) error {
	if len(pages) != all {
		return fmt.Errorf("%d of %d monitors answer", len(pages), all)
	}
	sums := map[string]int{}
	for target, page := range pages {
		if ill := ills.Find(page); ill != nil {
			return fmt.Errorf("%s says %s", target, ill)
		}
		for _, m := range regexp.MustCompile(`(?m)^onprem_vip_(holder|address_present)\{.*kind="(.*)"\} 1$`).FindAllSubmatch(page, -1) {
			sums[string(m[1])+" "+string(m[2])]++
			sums["present "+target+string(m[2])]++
		}
		if up := regexp.MustCompile(`(?m)^onprem_lb_backend_up\{.*\} 1$`).FindAll(page, -1); strings.HasSuffix(target, "/lb") && len(up) != 3 {
			return fmt.Errorf("%s says that %d API servers are up", target, len(up))
		}
	}
	routers := 0
	for _, page := range pages {
		if regexp.MustCompile(`(?m)^onprem_check_passes\{check="ingress_ready"\} 1$`).Match(page) {
			routers++
		}
	}
	if routers != 2 {
		return fmt.Errorf("%d ingress routers are ready", routers)
	}
	for _, kind := range []string{"api", "ingress"} {
		if sums["holder "+kind] != 1 || sums["address_present "+kind] != 1 {
			return fmt.Errorf("the %s VIP is held by %d and on %d", kind, sums["holder "+kind], sums["address_present "+kind])
		}
	}
	return nil
}

// remembered is what a monitor of VIPs reports for a while after it is over.
var remembered = regexp.MustCompile(`(?m)^(onprem_vip_advert_jitter_seconds\{.*\} (0\.[1-9]|[1-9]).*|onprem_vip_clashes\{.*\} [1-9].*)$`)

// settle waits until all is well. Monitors forget an earlier scene by a new start.
func (r *recorder) settle(t *testing.T) (cast map[string]asked) {
	t.Helper()
	if err := Until(t.Context(), time.Minute, func() error {
		if err := spared(r.parts()); err != nil {
			return err
		}
		cast = r.cast()
		pages := askAll(cast)
		for target, page := range pages {
			if found := remembered.Find(page); found != nil {
				err := fmt.Errorf("%s says %s", target, found)
				t.Logf("%v: it begins anew", err)
				// It ends by the signal within the time, or does already.
				_ = cast[target].on.SignalAll(KeepalivedMonitor, syscall.SIGTERM)
				time.Sleep(2 * time.Second)
				return err
			}
		}
		return spared(healthy(pages, len(cast)))
	}); err != nil {
		r.ill = true
		t.Fatalf("before: %v", err)
	}
	return cast
}

// spared waits a little when there is an error, so that the programs that are asked have time for
// other things.
func spared(err error) error {
	if err != nil {
		time.Sleep(300 * time.Millisecond)
	}
	return err
}
