package e2e

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/miekg/dns"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// podman is a booted machine whose containers suffer.
type podman struct {
	*chain.Chain
	t *testing.T // of the test: a drill's own goes to its steps
	o *lab.Observer
}

// step is a drill, and what must have been seen before it.
type step struct {
	drill
	seen func() // may be nil
}

// TestLongPodman does to our containers, to podman and to our programs what people, crashes and
// full disks do.
func TestLongPodman(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	p := podman{Chain: c, t: t, o: o}
	p.well()
	for _, steps := range slices.Concat(p.containers(), p.stops(), p.service(), p.programs(), p.foreign(), p.full()) {
		for _, s := range steps {
			if s.seen != nil {
				s.seen()
			}
			if !s.run(t) {
				return // what follows would only tell of the same
			}
		}
		p.well()
	}
	enter(t, c)
	p.pausedBesideMasters().run(t)
}

// sh runs a script in the machine that must work.
func (p podman) sh(script string) string {
	p.t.Helper()
	return sh(p.t, p.Chain, script)
}

// one is a step of its own.
func one(d drill) []step { return []step{{drill: d}} }

// containers are what is done to them by hand, keepalived's and CoreDNS's in turn.
func (p podman) containers() [][]step {
	return [][]step{
		// podman complains when the container runs again before podman has tidied up after its end.
		one(p.replaced("keepalived's container stopped by hand", chain.Unit, "podman stop onprem-keepalived || [ $? = 125 ]")),
		one(p.replaced("CoreDNS's container removed by hand", dnsUnit, "podman rm --force --time 0 onprem-coredns")),
		one(p.kept("CoreDNS's container paused by hand", dnsUnit, "podman pause onprem-coredns", "was paused and goes on")),
		one(p.replaced("keepalived's container removed by hand", chain.Unit, "podman rm --force --time 0 onprem-keepalived")),
		one(p.kept("CoreDNS stopped by SIGSTOP", dnsUnit, p.signal("STOP", "onprem-coredns"), "sent it SIGCONT")),
		one(p.kept("keepalived's container paused by hand", chain.Unit, "podman pause onprem-keepalived", "was paused and goes on")),
		one(p.replaced("CoreDNS killed by SIGKILL", dnsUnit, p.signal("KILL", "onprem-coredns"))),
		one(p.replaced("CoreDNS's container killed, and who would tell podman of it", dnsUnit, `
kill -9 $(podman inspect --format '{{.State.ConmonPid}} {{.State.Pid}}' onprem-coredns)`)),
		one(p.kept("keepalived's supervisor stopped by SIGSTOP", chain.Unit, p.signal("STOP", "onprem-keepalived"), "sent it SIGCONT")),
	}
}

// stops are orders to a unit whose container hears nothing.
func (p podman) stops() [][]step {
	var before, stopped time.Time
	return [][]step{{{drill: drill{
		fault: "keepalived's container paused, podman idle, and the unit stopped", within: 15 * time.Second,
		inject: func() {
			before = time.Now()
			p.sh("podman pause onprem-keepalived; systemctl stop podman.service; systemctl stop " + chain.Unit)
			stopped = time.Now()
		},
		right: func() (string, error) {
			if h := p.o.Holders(); len(h) > 0 {
				return "", fmt.Errorf("the unit has stopped, and the VIP is held by %v", h)
			}
			left := p.left(before)
			if left > 5*time.Second || before.Add(left).After(stopped.Add(100*time.Millisecond)) {
				p.t.Errorf("the VIP left %s after the pause, the unit stopped after %s", left, stopped.Sub(before))
			}
			return fmt.Sprintf("the VIP left %s after the pause, before the unit", left), p.state("onprem-keepalived", "exited")
		},
	}}, {drill: drill{
		fault: "the unit started again", within: 20 * time.Second,
		inject: func() { run(p.t, p.Chain, "systemctl", "start", "--no-block", chain.Unit) },
		right:  func() (string, error) { return "the VIP is back", p.serves() },
	}}}}
}

// service is what becomes of podman itself.
func (p podman) service() [][]step {
	var vip, dns string
	var before time.Time
	return [][]step{one(drill{
		fault: "podman.socket restarted, podman.service killed", within: 20 * time.Second,
		inject: func() {
			vip, dns, before = p.pid("onprem-keepalived"), p.pid("onprem-coredns"), time.Now()
			p.sh("systemctl restart podman.socket; systemctl start podman.service; systemctl kill --signal KILL podman.service")
			time.Sleep(3 * time.Second) // in which nothing may happen
		},
		right: func() (string, error) {
			if v, d := p.pid("onprem-keepalived"), p.pid("onprem-coredns"); v != vip || d != dns {
				return "", fmt.Errorf("keepalived was %s and is %s, CoreDNS was %s and is %s", vip, v, dns, d)
			}
			if h := p.history(before); h != unbrokenVIP {
				p.t.Error(h)
			}
			return "both containers live on; " + unbrokenVIP, errors.Join(p.serves(), p.answers())
		},
	}), one(p.replaced("keepalived's container killed after that", chain.Unit, p.signal("KILL", "onprem-keepalived")))}
}

// programs are ours, killed at the worst time.
func (p podman) programs() [][]step {
	const storage = "/var/lib/containers/storage/overlay-containers"
	asked, former := make(chan string, 1), ""
	keepAsking, enough := context.WithCancel(p.t.Context())
	return [][]step{
		one(p.kept("our VIP program killed by SIGKILL", chain.Unit, "kill -9 $(systemctl show --property=MainPID --value "+chain.Unit+")", "adopt container")),
		one(drill{
			fault: "our VIP program killed while podman makes the container", within: 30 * time.Second,
			inject: func() {
				p.sh(`
systemctl stop ` + chain.Unit + `
podman rm onprem-keepalived
before=$(ls ` + storage + ` | wc -l)
systemctl start --no-block ` + chain.Unit + `
until [ $(ls ` + storage + ` | wc -l) -gt $before ]; do :; done
kill -9 $(systemctl show --property=MainPID --value ` + chain.Unit + `)`)
			},
			right: func() (string, error) {
				if err := errors.Join(p.serves(), p.state("onprem-keepalived", "running")); err != nil {
					return "", err
				}
				names := strings.Fields(run(p.t, p.Chain, "podman", "ps", "--all", "--format", "{{.Names}}"))
				if slices.Sort(names); !slices.Equal(names, []string{"onprem-coredns", "onprem-keepalived"}) {
					return "", fmt.Errorf("containers %v", names)
				}
				return "one container, and the VIP", nil
			},
		}),
		one(drill{
			fault: "our DNS program killed by SIGKILL", within: 20 * time.Second,
			inject: func() {
				former = p.show(dnsUnit, "MainPID")
				go func() { asked <- p.ask(keepAsking) }()
				p.sh("kill -9 $(systemctl show --property=MainPID --value " + dnsUnit + ")")
			},
			right: func() (string, error) {
				if pid, state := p.show(dnsUnit, "MainPID"), p.show(dnsUnit, "ActiveState"); pid == former || state != "active" {
					return "", fmt.Errorf("%s is %s with %s", dnsUnit, state, pid)
				}
				enough()
				lost := <-asked
				if !strings.HasPrefix(lost, "0 lost") {
					p.t.Errorf("CoreDNS did not answer all the time: %s", lost)
				}
				return lost, nil
			},
		}),
	}
}

// foreign are containers that somebody gave our names.
func (p podman) foreign() [][]step { return [][]step{p.taken(chain.Unit), p.taken(dnsUnit)} }

func (p podman) taken(unit string) []step {
	name := strings.TrimSuffix(unit, ".service")
	taken := "the name " + name + " is taken by a container that is not ours: remove it or rename it"
	id, before := "", time.Time{}
	return []step{{drill: drill{
		fault: "the name " + name + " taken by a foreign container", within: 15 * time.Second,
		inject: func() {
			p.sh("systemctl stop " + unit + "; podman rm " + name)
			before = time.Now()
			id = p.sh("podman create --name " + name + " localhost/coredns:chain /usr/bin/coredns")
			p.sh("systemctl start --no-block " + unit)
		},
		right: func() (string, error) {
			if text := p.status(unit); text != taken {
				return "", fmt.Errorf("the status is %q", text)
			}
			return "named, refused", nil
		},
	}}, {
		seen: func() {
			time.Sleep(8 * time.Second) // a few attempts
			if now := p.sh("podman inspect --format '{{.Id}}' " + name); now != id {
				p.t.Errorf("the foreign container was %s and is %s", id, now)
			}
			if n := strings.Count(p.logged(unit, before), taken); n != 1 {
				p.t.Errorf("it was said %d times, want once", n)
			}
		},
		drill: drill{
			fault: "the foreign " + name + " removed by its owner", within: 20 * time.Second,
			inject: func() { p.sh("podman rm " + name) },
			right:  func() (string, error) { return "our container took the name and works", p.works(unit) },
		},
	}}
}

// full is a file system without room where podman keeps what containers are made of. Removing a
// container needs room too.
func (p podman) full() [][]step {
	const layers, lack = "/var/lib/containers/storage/overlay-layers", "no space left on device"
	var before time.Time
	return [][]step{{{drill: drill{
		fault: "the container storage full, and keepalived's container killed", within: 30 * time.Second,
		inject: func() {
			before = time.Now()
			run(p.t, p.Chain, "sh", "-euc", `
cp -a `+layers+` /run/layers
mount -t tmpfs -o size=$(($(du -sk /run/layers | cut -f1) + 64))k tmpfs `+layers+`
cp -a /run/layers/. `+layers+`
dd if=/dev/zero of=`+layers+`/fill bs=4k 2>/dev/null || :
`+p.signal("KILL", "onprem-keepalived"))
		},
		right: func() (string, error) {
			if text := p.status(chain.Unit); !strings.Contains(text, lack) {
				return "", fmt.Errorf("the status is %q", text)
			}
			return "said: " + p.status(chain.Unit), nil
		},
	}}, {
		seen: func() {
			time.Sleep(8 * time.Second) // a few attempts
			logged := p.logged(chain.Unit, before)
			for _, what := range []string{"remove the former container", "start container onprem-keepalived: create"} {
				if n := strings.Count(logged, what); n > 1 {
					p.t.Errorf("it was said %d times that nobody can %s, want once", n, what)
				}
			}
		},
		drill: drill{
			fault: "room in the container storage again", within: 30 * time.Second,
			inject: func() { run(p.t, p.Chain, "rm", layers+"/fill") },
			right:  func() (string, error) { return "the VIP is back", p.serves() },
		},
	}}}
}

// pausedBesideMasters has others take the VIP that a paused keepalived does not speak for, and
// still has in its kernel. Mostly it goes on before that; on a busy machine the engine answers
// late, and then the time with two holders is short.
func (p podman) pausedBesideMasters() drill {
	var before time.Time
	return drill{
		fault: "keepalived's container paused by hand, two masters wait", within: 20 * time.Second,
		inject: func() {
			before = time.Now()
			run(p.t, p.Chain, "podman", "pause", "onprem-keepalived")
		},
		right: func() (string, error) {
			if err := errors.Join(p.state("onprem-keepalived", "running"), p.serves()); err != nil {
				return "", err
			}
			if d := p.doubled(before); d > time.Second {
				p.t.Errorf("two held the VIP for %s, want 1s at most", d)
			}
			return "it goes on; " + p.history(before), nil
		},
	}
}

// replaced is a fault after which another container must do the work of a unit.
func (p podman) replaced(fault, unit, command string) drill {
	name := strings.TrimSuffix(unit, ".service")
	var former string
	var before time.Time
	return drill{
		fault: fault, within: 20 * time.Second,
		inject: func() {
			former, before = p.pid(name), time.Now()
			p.sh(command)
		},
		right: func() (string, error) {
			if now := p.pid(name); now == former || now == "0" {
				return "", fmt.Errorf("the container's process is %s", now)
			}
			return "replaced; " + p.history(before), p.works(unit)
		},
	}
}

// kept is a fault that a unit's program notices, and after which the same container does the unit's
// work. The VIP has not moved meanwhile.
func (p podman) kept(fault, unit, command, noticed string) drill {
	name := strings.TrimSuffix(unit, ".service")
	var former string
	var before time.Time
	return drill{
		fault: fault, within: 15 * time.Second,
		inject: func() {
			former, before = p.pid(name), time.Now()
			p.sh(command)
		},
		right: func() (string, error) {
			if now := p.pid(name); now != former {
				return "", fmt.Errorf("the container's process was %s and is %s", former, now)
			}
			if !strings.Contains(p.logged(unit, before), noticed) {
				return "", errors.New("nobody has noticed")
			}
			if err := errors.Join(p.state(name, "running"), p.works(unit)); err != nil {
				return "", err
			}
			if h := p.history(before); h != unbrokenVIP {
				p.t.Errorf("%s: %s", fault, h)
			}
			if stat := run(p.t, p.Chain, "cat", "/proc/"+former+"/stat"); strings.Contains(stat, ") T ") {
				return "", fmt.Errorf("it is stopped: %s", stat)
			}
			return "the same container goes on; " + unbrokenVIP, nil
		},
	}
}

// signal is a command that sends a signal to a container's first process, past podman.
func (p podman) signal(name, container string) string {
	return fmt.Sprintf("kill -%s $(podman inspect --format '{{.State.Pid}}' %s)", name, container)
}

// works says whether a unit's container does what it is for.
func (p podman) works(unit string) error {
	if unit == dnsUnit {
		return p.answers()
	}
	return p.serves()
}

// serves is true to its unit's word: the VIP is here alone, keepalived runs, and the status says
// so.
func (p podman) serves() error {
	if err := holders(p.o, "bootstrap"); err != nil {
		return err
	}
	return p.reports(chain.Unit, chain.APIVIP.String()+" MASTER")
}

func (p podman) answers() error {
	if got, err := p.Lookup(p.t.Context(), "api-int."+chain.Zone, dns.TypeA); err != nil || len(got) != 1 || got[0] != chain.APIVIP {
		return fmt.Errorf("api-int: %v (%w)", got, err)
	}
	return p.reports(dnsUnit, "answers for "+chain.Zone)
}

func (p podman) reports(unit, what string) error {
	if text := p.status(unit); !strings.HasPrefix(text, what) {
		return fmt.Errorf("the status of %s is %q", unit, text)
	}
	return nil
}

// well waits until nothing of a drill is left.
func (p podman) well() {
	p.t.Helper()
	active(p.t, p.Chain, chain.Unit, dnsUnit)
	eventually(p.t, 20*time.Second, func() error { return errors.Join(p.serves(), p.answers()) })
}

func (p podman) show(unit, name string) string {
	return property(p.t, p.Chain, unit, name)
}

func (p podman) status(unit string) string { return p.show(unit, "StatusText") }

// logged is what a unit has logged since a time.
func (p podman) logged(unit string, since time.Time) string {
	return run(p.t, p.Chain, "journalctl", "--output", "cat", "--unit", unit, "--since", fmt.Sprintf("@%d.%06d", since.Unix(), since.Nanosecond()/1000))
}

func (p podman) pid(name string) string { return containerPID(p.t, p.Chain, name) }

func (p podman) state(name, want string) error {
	if got := p.sh("podman inspect --format '{{.State.Status}}' " + name + " 2>&1 || :"); got != want {
		return fmt.Errorf("%s is %s, want %s", name, got, want)
	}
	return nil
}

const unbrokenVIP = "the VIP never left"

// history says what the VIP did since a time.
func (p podman) history(since time.Time) string {
	var parts []string
	for _, s := range p.o.Report().Spans {
		if s.To.Before(since) || slices.Equal(s.Holders, []string{"bootstrap"}) {
			continue
		}
		parts = append(parts, fmt.Sprintf("%s held by %v", s.Length().Round(10*time.Millisecond), s.Holders))
	}
	if len(parts) == 0 {
		return unbrokenVIP
	}
	return "the VIP was " + strings.Join(parts, ", ")
}

// doubled is how long since a time more than one held the VIP.
func (p podman) doubled(since time.Time) (d time.Duration) {
	for _, s := range p.o.Report().Spans {
		if s.From.After(since) && len(s.Holders) > 1 {
			d += s.Length()
		}
	}
	return d.Round(10 * time.Millisecond)
}

// left is how long after a time the VIP left this machine.
func (p podman) left(since time.Time) time.Duration {
	for _, s := range p.o.Report().Spans {
		if s.From.After(since) && len(s.Holders) == 0 {
			return s.From.Sub(since).Round(10 * time.Millisecond)
		}
	}
	return 0
}

// ask asks CoreDNS a hundred times a second until ctx ends, and says how many questions had no
// answer.
func (p podman) ask(ctx context.Context) string {
	lost, asked := 0, 0
	for tick := time.NewTicker(10 * time.Millisecond); ctx.Err() == nil; <-tick.C {
		asked++
		if got, err := p.Lookup(p.t.Context(), "api-int."+chain.Zone, dns.TypeA); err != nil || len(got) != 1 {
			lost++
		}
	}
	return fmt.Sprintf("%d lost of %d questions", lost, asked)
}
