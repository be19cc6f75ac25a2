package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/test/chain"
)

// TestLongProgramKilled kills our program: the daemon and the VIP live on, and the program that systemd starts in its place adopts them.
// The masters hear keepalived all the time: the new program knows them before the API has told of them.
func TestLongProgramKilled(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	join(t, c, o)
	daemon, program := daemonPID(t, c), mainPID(t, c)
	run(t, c, "kill", "-9", program)
	eventually(t, 10*time.Second, func() error {
		if now := mainPID(t, c); now == program || now == "0" {
			return fmt.Errorf("the program's pid is %s", now)
		}
		return nil
	})
	active(t, c, chain.Unit)
	time.Sleep(6 * time.Second) // a master that heard nothing would have taken over
	if err := peers(t, c, "192.0.2.21", "192.0.2.22"); err != nil {
		t.Error(err)
	}
	if now := daemonPID(t, c); now != daemon {
		t.Errorf("keepalived was %s and is %s", daemon, now)
	}
	unbroken(t, o)
	// The adopted daemon is not only looked at: it still does what the program says.
	if gone := stopUnit(t, c); gone > 200*time.Millisecond {
		t.Errorf("the adopted VIP was gone after %s", gone)
	}
}

// TestLongContainerKilled kills every process of keepalived's container, which leaves the VIP in the kernel with nobody to answer for it.
func TestLongContainerKilled(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	run(t, c, "sh", "-euc", "podman kill --signal KILL onprem-keepalived")
	killed := time.Now()
	wait(t, o, 5*time.Second)
	t.Logf("the stale VIP was gone after %s", time.Since(killed).Round(time.Millisecond))
	since := wait(t, o, 20*time.Second, "bootstrap")
	t.Logf("the VIP was back after %s", since.Sub(killed).Round(time.Millisecond))
	show(t, o.Report())
}

// TestLongAllKilled kills our program and the container in one go.
func TestLongAllKilled(t *testing.T) {
	needLong(t)
	c, o := booted(t)
	run(t, c, "sh", "-euc", "kill -9 "+mainPID(t, c)+"; podman kill --signal KILL onprem-keepalived")
	wait(t, o, 10*time.Second)
	wait(t, o, 20*time.Second, "bootstrap")
	active(t, c, chain.Unit)
	show(t, o.Report())
}

func mainPID(t *testing.T, c *chain.Chain) string {
	t.Helper()
	return strings.TrimSpace(run(t, c, "systemctl", "show", "--property=MainPID", "--value", chain.Unit))
}

// daemonPID is the pid of keepalived's container.
func daemonPID(t *testing.T, c *chain.Chain) string {
	t.Helper()
	return strings.TrimSpace(run(t, c, "podman", "inspect", "--format", "{{.State.Pid}}", "onprem-keepalived"))
}
