package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/fakeline"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/registry"
)

// supplied is a machine whose storage is empty at first, and the registry that has its images.
type supplied struct {
	*chain.Chain
	registry *chain.Registry
	observer *lab.Observer
	t        *testing.T
	cursor   string // of the machine's journal: what counts was said after it
}

func newSupplied(t *testing.T) *supplied {
	t.Helper()
	c := fresh(t, registry.Program)
	s := &supplied{Chain: c, t: t}
	var err error
	s.registry, err = c.Supply(t.Context())
	must(t, err)
	ready(t, c, "ipv4")
	s.observer = observe(t, chain.APIVIP, c.Bootstrap)
	return s
}

// TestLongRegistry takes a machine whose images come from a real registry through all that a
// registry and the way to it can do.
func TestLongRegistry(t *testing.T) {
	needLong(t)
	s := newSupplied(t)
	s.awayAtFirstBoot()
	s.notAskedForWhatIsThere()
	s.awayAfterwards()
	s.badLine()
	s.credentials()
	s.stopped()
	s.full()
}

// must ends the test on an error of the test's own doing.
func (s *supplied) must(errs ...error) {
	s.t.Helper()
	must(s.t, errs...)
}

// sh runs a script in the machine that must work.
func (s *supplied) sh(script string) string {
	s.t.Helper()
	return sh(s.t, s.Chain, script)
}

// mark makes the lines count that are said from now on.
func (s *supplied) mark() {
	s.t.Helper()
	_, cursor, _ := strings.Cut(s.sh("journalctl --quiet --lines 0 --show-cursor"), "-- cursor: ")
	s.cursor = strings.TrimSpace(cursor)
}

// faults are the lines of a unit's program about a container or an install that cannot be, since
// the last mark; in this boot when there was none.
func (s *supplied) faults(unit string) []string {
	args := []string{"--no-pager", "--output=cat", "--boot", "--unit=" + unit}
	if s.cursor != "" {
		args = append(args, "--after-cursor="+s.cursor)
	}
	out, err := s.VM.Run(s.t.Context(), "journalctl", args...)
	if err != nil {
		s.t.Fatal(err)
	}
	return slices.DeleteFunc(strings.Split(out, "\n"), func(line string) bool {
		return !strings.Contains(line, "level=WARN msg=apply") && !strings.Contains(line, "retrying: ")
	})
}

// logged holds that a unit has told of these faults, one line each, and returns it in words for the
// report.
func (s *supplied) logged(unit string, want ...string) error {
	got := s.faults(unit)
	if len(got) < len(want) {
		return fmt.Errorf("%s has said %q, want %q", unit, got, want)
	}
	for i, line := range got {
		if i >= len(want) || !strings.Contains(line, want[i]) {
			s.t.Errorf("%s has said %q, want %q", unit, got, want)
			break
		}
	}
	return nil
}

// holds says whether the machine has the VIP, answers for the cluster's names, and has no unit that
// waits.
func (s *supplied) holds() error {
	if err := holders(s.observer, "bootstrap"); err != nil {
		return err
	}
	if out, err := s.VM.Run(s.t.Context(), "systemctl", "is-active", installUnit, chain.Unit, dnsUnit); err != nil {
		return fmt.Errorf("units are %q", strings.Fields(out))
	}
	return nil
}

// requests is the number of requests that the registry has seen so far.
func (s *supplied) requests() int {
	s.t.Helper()
	requests, err := s.registry.Requests()
	s.must(err)
	return len(requests)
}

// forget takes the VIP's daemon away with its image, as on a machine that has never had it.
func (s *supplied) forget() {
	s.t.Helper()
	s.sh("systemctl stop " + chain.Unit + "; podman rm --force --ignore onprem-keepalived; podman rmi --force " + s.KeepalivedImage())
	s.mark()
}

// start starts the units and does not wait.
func (s *supplied) start() {
	s.t.Helper()
	s.sh("systemctl start --no-block " + chain.Unit + " " + dnsUnit)
}

// vipAfter is a drill's result: the VIP, and how often the unit spoke of what was wrong.
func (s *supplied) vipAfter(lines int) (string, error) {
	if err := s.holds(); err != nil {
		return "", err
	}
	if got := s.faults(chain.Unit); len(got) != lines {
		s.t.Errorf("%d lines, want %d: %q", len(got), lines, got)
	}
	return fmt.Sprintf("VIP up, %d log lines of faults", lines), nil
}

func (s *supplied) awayAtFirstBoot() {
	const away = time.Minute
	s.must(s.registry.Down())
	var back time.Time
	drill{fault: "registry down for a minute at the first boot", within: 2*time.Minute + 30*time.Second, inject: func() {
		s.must(s.Boot(s.t.Context()))
		time.Sleep(away) // the fault lasts
		if h := s.observer.Holders(); len(h) > 0 {
			s.t.Errorf("held by %v without an image", h)
		}
		s.must(s.logged(installUnit, "connection refused"), s.registry.Up(s.t.Context()))
		back = time.Now()
	}, right: func() (string, error) {
		if err := s.holds(); err != nil {
			return "", err
		}
		lines := len(s.faults(installUnit)) + len(s.faults(chain.Unit))
		return fmt.Sprintf("all units up %.0f s after it came back, %d log lines of faults", time.Since(back).Seconds(), lines), s.logged(installUnit, "connection refused")
	}}.run(s.t)
}

func (s *supplied) notAskedForWhatIsThere() {
	before := s.requests()
	s.mark()
	drill{fault: "containers removed, units restarted, images present", within: 40 * time.Second, inject: func() {
		s.sh("systemctl stop " + chain.Unit + " " + dnsUnit + "; podman rm --force --all; systemctl restart " + installUnit +
			"; systemctl start --no-block " + chain.Unit + " " + dnsUnit)
	}, right: func() (string, error) {
		if _, err := s.vipAfter(0); err != nil {
			return "", err
		}
		if n := s.requests() - before; n != 0 {
			s.t.Errorf("%d requests to the registry", n)
		}
		return "all units up, the registry was not asked", nil
	}}.run(s.t)
}

func (s *supplied) awayAfterwards() {
	drill{fault: "registry down, units restarted, images present", within: 40 * time.Second, inject: func() {
		s.must(s.registry.Down())
		s.sh("systemctl stop " + chain.Unit + " " + dnsUnit + "; podman rm --force --all; systemctl restart " + installUnit +
			"; systemctl start --no-block " + chain.Unit + " " + dnsUnit)
	}, right: func() (string, error) { return s.vipAfter(0) }}.run(s.t)
	s.cursor = ""
	drill{fault: "registry down, machine rebooted, images present", within: 90 * time.Second, inject: func() {
		s.must(s.VM.Halt(s.t.Context()))
		s.must(s.Boot(s.t.Context()))
	}, right: func() (string, error) {
		happened, err := s.vipAfter(0)
		if got := s.faults(installUnit); len(got) != 0 {
			s.t.Errorf("%s has said %q", installUnit, got)
		}
		return happened, err
	}}.run(s.t)
	s.must(s.registry.Up(s.t.Context()))
}

func (s *supplied) badLine() {
	drill{fault: "the pull is cut in every layer, then not", within: time.Minute, inject: func() {
		s.forget()
		s.registry.Line(fakeline.Fault{Cut: 300 << 10})
		s.start()
		eventually(s.t, 30*time.Second, func() error { return s.logged(chain.Unit, "pull image") })
		time.Sleep(8 * time.Second) // two more trials
		if out := s.sh("podman images --quiet --no-trunc " + s.KeepalivedImage() + "; ls /var/tmp | grep ^storage || true"); out != "" {
			s.t.Errorf("left of a pull that was cut: %q", out)
		}
		s.registry.Line(fakeline.Fault{})
	}, right: func() (string, error) { return s.vipAfter(1) }}.run(s.t)
	drill{fault: "the line has 1 MB/s", within: time.Minute, inject: func() {
		s.forget()
		s.registry.Line(fakeline.Fault{Rate: 1 << 20})
		s.start()
	}, right: func() (string, error) { return s.vipAfter(0) }}.run(s.t)
	s.registry.Line(fakeline.Fault{})
	drill{fault: "the registry goes down for 10 s, an image is missing", within: time.Minute, inject: func() {
		s.must(s.registry.Down())
		s.forget()
		s.start()
		time.Sleep(10 * time.Second) // the fault lasts
		s.must(s.registry.Up(s.t.Context()))
	}, right: func() (string, error) { return s.vipAfter(1) }}.run(s.t)
}

// subject is an image that is pulled, and who pulls it.
type subject struct {
	name, unit, image string
	forget            func() // leaves the machine as if it had never had the image
}

// subjects are our own programs' image, whose installer is a script, and a daemon's.
func (s *supplied) subjects() []subject {
	return []subject{
		{"our image", installUnit, s.OwnImage(), func() {
			s.sh("systemctl stop " + installUnit + " " + chain.Unit + " " + dnsUnit + "; podman rm --force --all; podman rmi --force " + s.OwnImage() + "; rm /usr/local/bin/onprem-supervise")
			s.mark()
		}},
		{"keepalived's image", chain.Unit, s.KeepalivedImage(), s.forget},
	}
}

// credentials goes from none to the right ones.
func (s *supplied) credentials() {
	s.must(s.registry.Down())
	s.registry.Login = true
	s.must(s.registry.Up(s.t.Context()))
	absent := "registry " + chain.RegistryAddress + " wants credentials and there is no file /root/.docker/config.json"
	wrong := "registry " + chain.RegistryAddress + " refuses the credentials in /root/.docker/config.json"
	for _, subject := range s.subjects() {
		lines := func(want ...string) (string, error) {
			for i := range want {
				want[i] = subject.image + ": " + want[i]
				if subject.unit == installUnit {
					want[i] = strings.Replace(want[i], ": ", " is not installed yet, retrying: ", 1)
				}
			}
			err := s.logged(subject.unit, want...)
			return fmt.Sprintf("said where to put what, %d log lines of faults so far", len(want)), err
		}
		s.must(s.Credentials(s.t.Context(), ""))
		drill{fault: subject.name + ": credentials absent", within: 30 * time.Second, inject: func() { subject.forget(); s.start() },
			right: func() (string, error) { return lines(absent) }}.run(s.t)
		drill{fault: subject.name + ": credentials wrong", within: 45 * time.Second, inject: func() { s.must(s.Credentials(s.t.Context(), "swordfish")) },
			right: func() (string, error) { return lines(absent, wrong) }}.run(s.t)
		drill{fault: subject.name + ": credentials right", within: 75 * time.Second, inject: func() { s.must(s.Credentials(s.t.Context(), registry.Password)) },
			right: func() (string, error) {
				if err := s.holds(); err != nil {
					return "", err
				}
				_, err := lines(absent, wrong)
				return "VIP up, 2 log lines of faults", err
			}}.run(s.t)
	}
	if journal := s.Journal(s.t.Context()); strings.Contains(journal, "swordfish") || strings.Contains(journal, registry.Password) {
		s.t.Error("the machine's journal tells a password")
	}
}

// stopped has pulls that hang, and units that are told to stop in the midst of them.
func (s *supplied) stopped() {
	for _, subject := range slices.Backward(s.subjects()) { // without our programs nobody pulls keepalived's image
		s.registry.Line(fakeline.Fault{Hang: 200 << 10})
		subject.forget()
		s.start()
		eventually(s.t, 30*time.Second, func() error {
			if out := s.sh("ls -d /var/tmp/storage*/* /usr/local/bin/.onprem-install/storage*/* 2>/dev/null || true"); out == "" {
				return errors.New("no layer is being pulled")
			}
			return nil
		})
		drill{fault: subject.name + ": unit stopped in a pull that hangs", within: 10 * time.Second, inject: func() {
			start := time.Now()
			s.sh("systemctl stop " + subject.unit)
			if took := time.Since(start); took > 2*time.Second {
				s.t.Errorf("the stop took %s, want 2 s", took)
			}
		}, right: func() (string, error) {
			if out := s.sh("ls -d /var/tmp/storage* /usr/local/bin/.onprem-install 2>/dev/null || true"); out != "" {
				return "", fmt.Errorf("left behind: %q", out)
			}
			return "stopped, nothing left behind", nil
		}}.run(s.t)
	}
	s.registry.Line(fakeline.Fault{})
	s.start()
	eventually(s.t, time.Minute, s.holds)
}

// storage is where podman keeps all that it has, and memory what takes its place.
const storage, memory = "/var/lib/containers", "/run/memory"

// full has no room for an image where podman unpacks layers and keeps count of them, and then where
// it puts their bytes while they arrive. What the drills leave is a machine that keeps its images
// in memory.
func (s *supplied) full() {
	s.sh("systemctl stop " + chain.Unit + " " + dnsUnit + " " + installUnit + "; podman rm --force --all; systemctl stop podman.service")
	s.sh(`
mkdir ` + memory + `
mount -t tmpfs -o size=1g tmpfs ` + memory + `
cp -ax ` + storage + `/. ` + memory + `
mount --bind ` + memory + ` ` + storage)
	s.start()
	eventually(s.t, time.Minute, s.holds)
	for _, subject := range s.subjects() {
		s.lacksRoom("the container storage", subject,
			"mount -o remount,size=$(($(du -skx "+memory+" | cut -f1) + 256))k "+memory, "mount -o remount,size=1g "+memory)
	}
	s.lacksRoom("/var/tmp", s.subjects()[1], "mount -t tmpfs -o size=256k tmpfs /var/tmp", "umount /var/tmp")
}

// lacksRoom pulls an image without room for it, and then with room.
func (s *supplied) lacksRoom(what string, image subject, take, give string) {
	const lack, left = "no space left on device",
		"find " + storage + " /var/tmp /usr/local/bin -xdev -maxdepth 3 ! -path '/var/tmp/systemd-private-*' ! -name .onprem-install | sort; ls " + storage + "/storage/overlay/l"
	var before string
	drill{fault: image.name + ": no room in " + what, within: 30 * time.Second, inject: func() {
		image.forget()
		s.sh(take)
		before = s.sh(left)
		s.start()
	}, right: func() (string, error) { return "said what is lacking", s.logged(image.unit, lack) }}.run(s.t)
	time.Sleep(12 * time.Second) // a few attempts more
	must(s.t, s.logged(image.unit, lack))
	eventually(s.t, 10*time.Second, func() error { // between two attempts
		if now := s.sh(left); now != before {
			return fmt.Errorf("left of pulls without room:\n%s\nwas\n%s", now, before)
		}
		return nil
	})
	drill{fault: image.name + ": room in " + what + " again", within: time.Minute, inject: func() { s.sh(give) }, right: func() (string, error) {
		if err := s.holds(); err != nil {
			return "", err
		}
		return "VIP up, 1 log line of faults", s.logged(image.unit, lack)
	}}.run(s.t)
}
