package e2e

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
	"github.com/onprem-infra/onprem-infra/shared/frr"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
	"github.com/onprem-infra/onprem-infra/test/chain"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
	"github.com/onprem-infra/onprem-infra/test/need"
)

const speakerUnit = "onprem-speaker.service"

// TestBootstrapSpeaker boots a bootstrap machine whose leaf is a real FRR: the unit launches FRR
// through podman, the leaf gets the VIP and gives it back in order, and what is killed comes back.
func TestBootstrapSpeaker(t *testing.T) {
	need.File(t, daemons.Programs+"bgpd")
	c := fresh(t)
	must(t, c.Machine.Load(t.Context(), routerImage(t)))
	document, _, err := c.CompileAnnounced(t.Context(), routedCluster(), nil, passwordsFlag(t))
	must(t, err)
	must(t, c.Machine.Ignite(t.Context(), document), c.Equip())
	s := announcer{Chain: c, leaf: newLeaf(t, c)}
	start := time.Now()
	must(t, c.Boot(t.Context()))
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("%s\n%s", c.Journal(context.Background(), speakerUnit), output(context.Background(), c, "cat", "/run/onprem-infra/speak/status.json"))
		}
	})
	s.has(t, time.Minute)
	t.Logf("the leaf has the VIP %s after the power", time.Since(start).Round(10*time.Millisecond))
	active(t, c, speakerUnit, dnsUnit, installUnit)

	t.Run("nothing has failed", func(t *testing.T) { s.unfailed(t) })
	t.Run("our programs are installed from our image", func(t *testing.T) { programs(t, c) })
	t.Run("the VIP serves", func(t *testing.T) { s.serves(t) })
	t.Run("the container has what it needs alone", func(t *testing.T) { s.confined(t) })
	t.Run("files are root's own", func(t *testing.T) { s.files(t) })
	t.Run("it is healthy and reports it", func(t *testing.T) { s.healthy(t) })
	t.Run("what is killed comes back", func(t *testing.T) { s.killed(t) })
	t.Run("the VIP is released in order", func(t *testing.T) { s.leaves(t) })
}

// TestLongBootstrapBoth boots a bootstrap machine whose VIP is in its own network: keepalived holds it,
// and FRR announces it then, from the loopback interface too.
func TestLongBootstrapBoth(t *testing.T) {
	needLong(t)
	need.File(t, daemons.Programs+"bgpd")
	c := fresh(t)
	must(t, c.Machine.Load(t.Context(), routerImage(t)))
	document, _, err := c.CompileOf(t.Context(), announcedCluster("both", chain.APIVIP, chain.IngressVIP), nil, passwordsFlag(t))
	must(t, err)
	must(t, c.Machine.Ignite(t.Context(), document), c.Equip())
	l, observer := newLeaf(t, c), observe(t, chain.APIVIP, c.Bootstrap)
	must(t, c.Boot(t.Context()))
	wait(t, observer, time.Minute, "bootstrap")
	eventually(t, 30*time.Second, func() error {
		if got := l.paths(t, chain.APIVIP); !maps.Equal(got, map[string]int{chain.BootstrapIP.String(): 1}) {
			return fmt.Errorf("the leaf has %v", got)
		}
		return nil
	})
	active(t, c, chain.Unit, speakerUnit, dnsUnit, installUnit)
	serves(t, c)
	if out := sh(t, c, "systemctl --failed --plain --no-legend; podman ps --format '{{.Names}}' | sort"); out != "onprem-coredns\nonprem-keepalived\nonprem-speaker" {
		t.Errorf("failed units and containers:\n%s", out)
	}
	if out := sh(t, c, "ip -brief address show dev lo"); !strings.Contains(out, chain.APIVIP.String()+"/32") {
		t.Errorf("the loopback interface has %q", out)
	}
	stopUnit(t, c)
	eventually(t, 20*time.Second, func() error {
		if text := property(t, c, speakerUnit, "ActiveState"); text != "active" {
			return fmt.Errorf("without keepalived the unit is %s", text)
		}
		return nil
	})
	run(t, c, "systemctl", "stop", speakerUnit)
	if got := l.paths(t, chain.APIVIP); len(got) > 0 {
		t.Errorf("the leaf has %v", got)
	}
}

// announcer is a machine that announces the API VIP.
type announcer struct {
	*chain.Chain
	leaf leaf
}

// status is what FRR's parent reports.
func (s announcer) status(t *testing.T) (spoken.Status, error) {
	t.Helper()
	text, err := s.VM.Run(t.Context(), "cat", filepath.Join(spoken.RunDir, spoken.StatusFile))
	if err != nil {
		return spoken.Status{}, err
	}
	return spoken.Decode[spoken.Status]([]byte(text))
}

// has waits until the leaf has the VIP from the machine, without a longer way than it needs.
func (s announcer) has(t *testing.T, within time.Duration) {
	t.Helper()
	eventually(t, within, func() error {
		if got := s.leaf.paths(t, routedAPI); !maps.Equal(got, map[string]int{chain.BootstrapIP.String(): 1}) {
			return fmt.Errorf("the leaf has %v", got)
		}
		return nil
	})
}

func (s announcer) unfailed(t *testing.T) {
	if out := sh(t, s.Chain, "systemctl --failed --plain --no-legend"); out != "" {
		t.Errorf("failed units:\n%s", out)
	}
	if n := property(t, s.Chain, speakerUnit, "NRestarts"); n != "0" {
		t.Errorf("the unit was started again %s times", n)
	}
	eventually(t, 10*time.Second, func() error {
		if text := property(t, s.Chain, speakerUnit, "StatusText"); text != fmt.Sprintf("%s announced to %s", routedAPI, chain.NeighbourIP) {
			return fmt.Errorf("the unit's status is %q", text)
		}
		return nil
	})
	// What a filter refused, and what systemd finds other than the unit says.
	journal := s.Journal(t.Context(), speakerUnit)
	for _, wrong := range []string{"operation not permitted", "the mode is different", "level=ERROR"} {
		if strings.Contains(strings.ToLower(journal), strings.ToLower(wrong)) {
			t.Errorf("the journal has %q:\n%s", wrong, journal)
		}
	}
}

// serves asks through the VIP, by way of the leaf.
func (s announcer) serves(t *testing.T) {
	eventually(t, 10*time.Second, func() error {
		connection, err := s.Neighbour.Dial(t.Context(), "tcp", netip.AddrPortFrom(routedAPI, 6443).String())
		if err != nil {
			return err
		}
		return connection.Close()
	})
	if out := sh(t, s.Chain, "ip -brief address show dev lo"); !strings.Contains(out, routedAPI.String()+"/32") {
		t.Errorf("the loopback interface has %q", out)
	}
}

// confined holds the container by the kernel's word to what it was given: FRR's parent has these
// capabilities, FRR's daemons four of them and their own user, and nothing can be written but what is
// in memory and the directory that is shared.
func (s announcer) confined(t *testing.T) {
	by, _ := bgp.TimingOf(bgp.ProfileLan)
	given, kept := mask(t, spoken.Capabilities(by)...), mask(t, "NET_ADMIN", "NET_BIND_SERVICE", "NET_RAW", "SYS_ADMIN")
	account, err := user.Lookup("frr") // the image has this machine's users
	must(t, err)
	seen := map[string]int{}
	for _, p := range s.processes(t) {
		seen[p.name]++
		uid, most := "0", given
		if p.name != "onprem-speak" {
			uid, most = account.Uid, kept
		}
		if p.uid != uid || p.permitted&^most != 0 || p.bounding != given || !p.noNew || p.name == "onprem-speak" && p.permitted != given {
			t.Errorf("%+v, want user %s and capabilities %x of %x", p, uid, most, given)
		}
	}
	if !maps.Equal(seen, map[string]int{"onprem-speak": 1, "zebra": 1, "bgpd": 1, "bfdd": 1}) {
		t.Errorf("the container's processes are %v", seen)
	}
	pid := containerPID(t, s.Chain, "onprem-speaker")
	var written []string
	for _, line := range strings.Fields(sh(t, s.Chain, "awk '$6 ~ /^rw/ {print $5}' /proc/"+pid+"/mountinfo")) {
		if !strings.HasPrefix(line, "/proc") && !strings.HasPrefix(line, "/dev") && !strings.HasPrefix(line, "/sys") {
			written = append(written, line)
		}
	}
	slices.Sort(written)
	if want := []string{"/run", spoken.RunDir, "/tmp"}; !slices.Equal(written, want) {
		t.Errorf("can be written: %v, want %v", written, want)
	}
}

// process is one of the container's.
type process struct {
	name, uid           string
	permitted, bounding uint64
	noNew               bool
}

func (s announcer) processes(t *testing.T) (all []process) {
	t.Helper()
	const look = `m=$(readlink /proc/$1/ns/mnt); for p in /proc/[0-9]*; do [ "$(readlink $p/ns/mnt)" != "$m" ] || ` +
		`awk '/^(Name|Uid|CapPrm|CapBnd|NoNewPrivs):/ {printf "%s ", $2} END {print ""}' $p/status; done`
	out := run(t, s.Chain, "sh", "-euc", look, "look", containerPID(t, s.Chain, "onprem-speaker"))
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) != 5 {
			t.Fatalf("a process is %q", line)
		}
		permitted, errPermitted := strconv.ParseUint(f[2], 16, 64)
		bounding, errBounding := strconv.ParseUint(f[3], 16, 64)
		must(t, errPermitted, errBounding)
		all = append(all, process{name: f[0], uid: f[1], permitted: permitted, bounding: bounding, noNew: f[4] == "1"})
	}
	return all
}

// mask is capabilities as the kernel writes them.
func mask(t *testing.T, names ...string) (m uint64) {
	t.Helper()
	for _, name := range names {
		number, ok := capabilityNumbers[corev1.Capability(name)]
		if !ok {
			t.Fatalf("say here which number %s is", name)
		}
		m |= 1 << number
	}
	return m
}

// files holds that no other user may write what monitor and speaker tell each other, and none but root
// read the passwords, which are nowhere else.
func (s announcer) files(t *testing.T) {
	const each = " -ignore_readdir_race -printf '%m %U:%G %p\n'" // a file that is written has another name until it is whole
	for _, line := range strings.Split(sh(t, s.Chain, "find "+spoken.RunDir+" /var/lib/onprem-infra/speaker"+each), "\n") {
		if f := strings.Fields(line); f[1] != "0:0" || strings.Trim(f[0], "01234567") != "" || f[0][1] > '5' || f[0][2] > '5' {
			t.Errorf("%s: want it to be root's alone to write", line)
		}
	}
	const secrets = "stat --format '%a %U' /etc/onprem-infra-speaker /etc/onprem-infra-speaker/passwords"
	if got := sh(t, s.Chain, secrets); got != "755 root\n600 root" {
		t.Errorf("the passwords' directory and file are %q", got)
	}
	if got := sh(t, s.Chain, "grep -rls "+password+" /etc /run /var/lib/onprem-infra || :"); got != spoken.PasswordsFile {
		t.Errorf("the password is in %q", got)
	}
	if journal := sh(t, s.Chain, "journalctl --no-pager"); strings.Contains(journal, password) {
		t.Error("the password is in the journal")
	}
}

// healthy holds what people and monitoring find.
func (s announcer) healthy(t *testing.T) {
	status, err := s.status(t)
	must(t, err)
	if len(status.Troubles) > 0 || status.BFDTaken != "" || len(status.Daemons) != 3 || len(status.Sessions) != 1 {
		t.Errorf("the status is %+v", status)
	}
	for _, d := range status.Daemons {
		if !d.Running || d.Starts != 1 {
			t.Errorf("%+v, want it to run since its first start", d)
		}
	}
	if got := status.Sessions[0]; got.State != "Established" || got.BFD != "Up" || !slices.Equal(got.Advertised, []netip.Addr{routedAPI}) {
		t.Errorf("the session is %+v", got)
	}
	const port = "9466"
	if code := sh(t, s.Chain, "curl --silent --output /dev/null --write-out '%{http_code}' http://127.0.0.1:"+port+"/healthz"); code != "200" {
		t.Errorf("the health is %s", code)
	}
	if page := sh(t, s.Chain, "curl --silent http://127.0.0.1:"+port+"/metrics"); !strings.Contains(page, "bgp_session_up") {
		t.Errorf("the metrics are %q", page)
	}
	if _, err := s.Neighbour.Dial(t.Context(), "tcp", chain.BootstrapIP.String()+":"+port); err == nil {
		t.Error("others can ask for the health")
	}
	out := sh(t, s.Chain, "/usr/local/bin/onprem-infra status 2>&1")
	if !strings.Contains(out, routedAPI.String()) || !strings.Contains(out, chain.NeighbourIP.String()) {
		t.Errorf("onprem-infra status says\n%s", out)
	}
}

// killed kills, from the inside out, a daemon, FRR's parent and the unit's program.
func (s announcer) killed(t *testing.T) {
	const name = "onprem-speaker"
	former := containerPID(t, s.Chain, name)
	sh(t, s.Chain, "pkill -KILL -x bgpd")
	eventually(t, 20*time.Second, func() error {
		status, err := s.status(t)
		if i := slices.IndexFunc(status.Daemons, func(d spoken.Daemon) bool { return d.Name == frr.BGP }); err == nil && (i < 0 || status.Daemons[i].Starts != 2) {
			err = fmt.Errorf("the daemons are %+v", status.Daemons)
		}
		return err
	})
	s.has(t, 20*time.Second)
	if now := containerPID(t, s.Chain, name); now != former {
		t.Errorf("the container's process was %s and is %s", former, now)
	}

	program := property(t, s.Chain, speakerUnit, "MainPID")
	sh(t, s.Chain, "kill -KILL "+program)
	for end := time.Now().Add(3 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if got := s.leaf.paths(t, routedAPI); len(got) != 1 {
			t.Fatalf("without the unit's program the leaf has %v", got)
		}
	}
	active(t, s.Chain, speakerUnit)
	if now := property(t, s.Chain, speakerUnit, "MainPID"); now == program || containerPID(t, s.Chain, name) != former {
		t.Errorf("the program was %s and is %s, the container's process was %s", program, now, former)
	}

	sh(t, s.Chain, "kill -KILL "+former)
	eventually(t, 20*time.Second, func() error {
		if now := containerPID(t, s.Chain, name); now == former || now == "0" {
			return fmt.Errorf("the container's process was %s and is %s", former, now)
		}
		return nil
	})
	s.has(t, 20*time.Second)
	if n := len(s.processes(t)); n != 4 {
		t.Errorf("the container has %d processes: a daemon of the killed one lives", n)
	}
	s.serves(t)
}

// leaves stops the unit, and holds the order: the way to the VIP gets longer, there is none, the
// address goes; and then starts it again.
func (s announcer) leaves(t *testing.T) {
	events, stop, err := s.Bootstrap.Watch(routedAPI)
	must(t, err)
	defer stop()
	begun := time.Now()
	stopped := make(chan error, 1)
	go func() {
		_, err := s.VM.Run(t.Context(), "systemctl", "stop", speakerUnit)
		stopped <- err
	}()
	longest, withdrawn := 0, time.Time{}
	for ; withdrawn.IsZero(); time.Sleep(5 * time.Millisecond) {
		got := s.leaf.paths(t, routedAPI)
		longest = max(longest, got[chain.BootstrapIP.String()])
		if len(got) == 0 {
			withdrawn = time.Now()
		} else if time.Since(begun) > 20*time.Second {
			t.Fatalf("the leaf has %v", got)
		}
	}
	must(t, <-stopped)
	took := time.Since(begun)
	select {
	case e := <-events:
		if e.Added || e.At.Before(withdrawn) || longest < 2 {
			t.Errorf("the way was %d systems at most; withdrawn %s after the order, and the address %+v", longest, withdrawn.Sub(begun), e)
		}
		t.Logf("withdrawn %s after the order, the address away after %s, all after %s", withdrawn.Sub(begun).Round(time.Millisecond),
			e.At.Sub(begun).Round(time.Millisecond), took.Round(time.Millisecond))
	case <-time.After(time.Second):
		t.Error("the address stays after the unit has stopped")
	}
	if took > 10*time.Second {
		t.Errorf("it took %s", took)
	}
	if state := property(t, s.Chain, speakerUnit, "Result"); state != "success" {
		t.Errorf("the unit ended with %s", state)
	}
	if log := sh(t, s.Chain, "podman logs onprem-speaker 2>&1"); strings.Contains(log, "level=ERROR") || strings.Contains(log, "level=WARN") {
		t.Errorf("FRR's parent has logged\n%s", log)
	}
	if out := sh(t, s.Chain, "podman ps --quiet --filter name=onprem-speaker; pgrep -l 'zebra|bgpd|bfdd' || :"); out != "" {
		t.Errorf("left are %s", out)
	}
	s.again(t)
}

// again starts the unit again: what was announced once needs no waiting.
func (s announcer) again(t *testing.T) {
	begun := time.Now()
	sh(t, s.Chain, "systemctl start --no-block "+speakerUnit)
	s.has(t, 20*time.Second)
	t.Logf("announced again %s after the start", time.Since(begun).Round(time.Millisecond))
	s.unfailed(t)
}
