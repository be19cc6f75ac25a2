package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/fakeline"
)

// TestLongInstall kills and restarts the unit that installs, and takes images and podman away from
// the one that holds the VIP.
func TestLongInstall(t *testing.T) {
	needLong(t)
	s := newSupplied(t)
	s.killedAtFirstBoot()
	s.restarted()
	s.pulls()
	s.withoutPodman()
}

// property is what systemd says of a unit.
func (s *supplied) property(unit, name string) string {
	s.t.Helper()
	return property(s.t, s.Chain, unit, name)
}

func (s *supplied) killedAtFirstBoot() {
	s.must(s.registry.Down())
	drill{fault: "the install killed (SIGKILL) at the first boot, registry away", within: 2 * time.Minute, inject: func() {
		s.must(s.Boot(s.t.Context()))
		eventually(s.t, 30*time.Second, func() error { return s.logged(installUnit, "connection refused") })
		first := s.property(installUnit, "MainPID")
		s.sh("kill -9 " + first)
		eventually(s.t, 30*time.Second, func() error {
			if now := s.property(installUnit, "MainPID"); now == first || now == "0" {
				return fmt.Errorf("the script's pid was %s and is %s", first, now)
			}
			return nil
		})
		s.must(s.registry.Up(s.t.Context()))
	}, right: func() (string, error) {
		return "it went on, all units up after the registry came back", s.holds()
	}}.run(s.t)
}

func (s *supplied) restarted() {
	daemon, program := containerPID(s.t, s.Chain, "onprem-keepalived"), s.property(chain.Unit, "MainPID")
	var since time.Time
	drill{fault: "the install restarted by hand", within: 30 * time.Second, inject: func() {
		since = time.Now()
		s.sh("systemctl restart " + installUnit)
	}, right: func() (string, error) {
		if d, p := containerPID(s.t, s.Chain, "onprem-keepalived"), s.property(chain.Unit, "MainPID"); d != daemon || p != program {
			s.t.Errorf("keepalived was %s and is %s, our program was %s and is %s", daemon, d, program, p)
		}
		if !until(s.observer, since).IsZero() {
			s.t.Error("the VIP has moved")
		}
		return "program, container and VIP live on", s.holds()
	}}.run(s.t)
}

// pulls has a line so slow that there is time to see what the unit says meanwhile.
func (s *supplied) pulls() {
	drill{fault: "keepalived's image is missing, and the line is slow", within: 30 * time.Second, inject: func() {
		s.forget()
		s.registry.Line(fakeline.Fault{Rate: 256 << 10})
		s.start()
	}, right: func() (string, error) {
		if text := s.property(chain.Unit, "StatusText"); text != "pulls image "+s.KeepalivedImage() {
			return "", fmt.Errorf("the status is %q", text)
		}
		return "the status says what is pulled", nil
	}}.run(s.t)
	s.registry.Line(fakeline.Fault{})
	eventually(s.t, time.Minute, func() error { _, err := s.vipAfter(0); return err })
}

// withoutPodman leaves keepalived's container to a program that cannot reach podman.
func (s *supplied) withoutPodman() {
	const lack = "open podman's service at unix:///run/podman/podman.sock"
	drill{fault: "podman's socket gone, and our program killed (SIGKILL)", within: 30 * time.Second, inject: func() {
		s.sh("systemctl mask --quiet --runtime --now podman.socket; systemctl stop podman.service; kill -9 " + s.property(chain.Unit, "MainPID"))
	}, right: func() (string, error) {
		if text := s.property(chain.Unit, "StatusText"); !strings.Contains(text, lack) {
			return "", fmt.Errorf("the status is %q", text)
		}
		return "the status says so, the VIP lives on", holders(s.observer, "bootstrap")
	}}.run(s.t)
	drill{fault: "and its unit stopped", within: 30 * time.Second, inject: func() {
		s.sh("systemctl stop " + chain.Unit)
	}, right: func() (string, error) {
		return "the VIP has left", holders(s.observer)
	}}.run(s.t)
	drill{fault: "podman's socket back, and the unit started", within: 40 * time.Second, inject: func() {
		s.sh("systemctl unmask --quiet --runtime podman.socket; systemctl start podman.socket; systemctl start --no-block " + chain.Unit)
	}, right: func() (string, error) { return "the VIP is back", s.holds() }}.run(s.t)
}
