// Package e2e holds the chain to its promises on a machine that really boots.
package e2e

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/chain"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/vm"
)

// oneAdvert is the longest that two machines may hold the VIP: what one of them says the other one
// hears.
const oneAdvert = time.Second

// TestBootstrapVM is the first slice in one run: from an install-config to a VIP that serves, names
// that resolve, a cluster that joins, and a VIP that leaves when it is told to.
func TestBootstrapVM(t *testing.T) {
	c, observer := booted(t)

	t.Run("the daemons come from images", func(t *testing.T) { fromImages(t, c) })
	t.Run("our programs are installed from our image", func(t *testing.T) { programs(t, c) })
	t.Run("no container is privileged", func(t *testing.T) { unprivileged(t, c) })
	t.Run("our programs have no privilege", func(t *testing.T) { leastPrivilege(t, c) })
	t.Run("the VIP serves", func(t *testing.T) { serves(t, c) })
	t.Run("the cluster's names resolve", func(t *testing.T) { resolves(t, c) })
	t.Run("masters join and never hold the VIP", func(t *testing.T) { join(t, c, observer) })
	t.Run("the VIP leaves at once and comes back", func(t *testing.T) { leave(t, c, observer) })
	t.Run("resolv.conf names this machine", func(t *testing.T) { resolvRuns(t, c) })
	t.Run("nothing of ours can be written by others", func(t *testing.T) { leastFiles(t, c) })
	t.Run("static pods get the daemons' places", func(t *testing.T) { givesWay(t, c) })

	r := observer.Stop()
	if r.Err != nil {
		t.Error(r.Err)
	}
	show(t, r)
}

// TestLongReleases is TestBootstrapVM with every release of Debian that a bootstrap machine may
// have.
func TestLongReleases(t *testing.T) {
	needLong(t)
	for _, suite := range vm.Suites {
		t.Run(suite, func(t *testing.T) {
			t.Setenv(vm.SuiteVariable, suite)
			TestBootstrapVM(t)
		})
	}
}

// enter has two masters in the cluster, each with its highest priority.
func enter(t *testing.T, c *chain.Chain) {
	t.Helper()
	before := time.Now()
	must(t, c.Kubeconfig(t.Context()))
	for _, m := range c.Masters {
		must(t, c.Register(t.Context(), m))
	}
	eventually(t, 15*time.Second, func() error { return peers(t, c, "192.0.2.21", "192.0.2.22") })
	t.Logf("unicast with both masters after %s", time.Since(before).Round(10*time.Millisecond))
	for _, m := range c.Masters {
		must(t, m.Start(t.Context()))
	}
	// Two master-down times of a node: long enough for one that does not hear the bootstrap
	// machine.
	time.Sleep(8 * time.Second)
}

// join lets two masters of today into the cluster while the bootstrap machine serves.
func join(t *testing.T, c *chain.Chain, o *lab.Observer) {
	enter(t, c)
	for _, m := range c.Masters {
		if highest := fmt.Sprintf(" to %d\n", vrrp.Compat().ControlPlane.Highest()); !strings.Contains(m.Log(), highest) {
			t.Errorf("%s never announced the highest priority of a master:\n%s", m.Name, m.Log())
		}
	}
	unbroken(t, o)
	serves(t, c)
}

// peers says whether keepalived's configuration in force is unicast with exactly these peers.
func peers(t *testing.T, c *chain.Chain, want ...string) error {
	got, err := c.Peers(t.Context())
	if err == nil && !slices.Equal(got, want) {
		err = fmt.Errorf("unicast peers %v, want %v", got, want)
	}
	return err
}

// leave stops the unit while masters are ready to take over, and starts it again.
func leave(t *testing.T, c *chain.Chain, o *lab.Observer) {
	gone := stopUnit(t, c)
	t.Logf("the VIP was gone %s after systemctl stop", gone.Round(time.Millisecond))
	if gone > time.Second { // a backup waits for three
		t.Errorf("the VIP was gone after %s, want a second at most", gone)
	}
	eventually(t, 10*time.Second, func() error {
		if h := o.Holders(); len(h) != 1 || h[0] == "bootstrap" {
			return fmt.Errorf("held by %v", h)
		}
		return nil
	})
	gaps := o.Report().Gaps()
	t.Logf("%v took over %s later", o.Holders(), gaps[len(gaps)-1].Length().Round(10*time.Millisecond))
	run(t, c, "systemctl", "start", "--no-block", chain.Unit)
	wait(t, o, 20*time.Second, "bootstrap")
	noDoubles(t, o, time.Time{})
}

func stopUnit(t *testing.T, c *chain.Chain) time.Duration {
	t.Helper()
	gone, err := c.StopVIP(t.Context())
	must(t, err)
	return gone
}

// givesWay has manifests of static pods appear, as the Machine Config Operator's bootstrap command
// has them appear minutes after our units have started: the units leave in order and stay away,
// with the VIP and the port free.
func givesWay(t *testing.T, c *chain.Chain) {
	sh(t, c, "systemctl start "+chain.Unit+" "+dnsUnit)
	active(t, c, chain.Unit, dnsUnit)
	for unit, name := range map[string]string{chain.Unit: "keepalived", dnsUnit: "coredns"} {
		sh(t, c, "mkdir -p /etc/kubernetes/manifests && echo 'kind: Pod' >/etc/kubernetes/manifests/"+name+".yaml")
		eventually(t, 45*time.Second, func() error {
			// By the condition, or at a restart with systemd 254 and later by ExecCondition=.
			state := property(t, c, unit, "ActiveState")
			condition, result := property(t, c, unit, "ConditionResult"), property(t, c, unit, "Result")
			if state != "inactive" || condition != "no" && result != "exec-condition" {
				return fmt.Errorf("%s is %s, condition %s, result %s", unit, state, condition, result)
			}
			return nil
		})
		if out := sh(t, c, "podman ps --quiet --filter name=onprem-"+name); out != "" {
			t.Errorf("%s has left its container", unit)
		}
		if log := c.Journal(t.Context(), strings.TrimSuffix(unit, ".service")); !strings.Contains(log, "kubelet runs the daemon from") {
			t.Errorf("%s does not say why it has left:\n%s", unit, log)
		}
	}
	if out := sh(t, c, "ip -br addr; ss -lnu 'sport = 53'"); strings.Contains(out, chain.APIVIP.String()) || strings.Contains(out, ":53 ") {
		t.Errorf("the VIP, or port 53, is still in use:\n%s", out)
	}
}
