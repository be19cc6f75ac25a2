package podvip

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"

	fleet "github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// agrees is an error if a machine is not as it must be at a step that status reports of its host.
func (m *machine) agrees(step fleet.Step) error {
	marks, err := m.marks()
	from, written := strings.Join(m.booted(), " "), false
	switch step {
	case fleet.Booting, fleet.NotReady, fleet.Joined:
		written = true
	case fleet.Provisioning, fleet.Leaving:
		written = len(marks) == inUse // it is being written, or wiped
	}
	if err == nil && written != (len(marks) == inUse) {
		err = fmt.Errorf("%s is %q, and its disk has %v", m.name, step, marks)
	}
	for want, steps := range map[string][]fleet.Step{"": {fleet.Waiting, fleet.Registering}, "Pxe": {fleet.Preparing, fleet.Available, fleet.Provisioning},
		"Pxe Hdd": {fleet.Booting, fleet.NotReady, fleet.Joined}} {
		if slices.Contains(steps, step) && (from != want || m.IsOn() != (want != "")) {
			err = errors.Join(err, fmt.Errorf("%s is %q, on: %v, and started from %q", m.name, step, m.IsOn(), from))
		}
	}
	return err
}

// TestLongWorkers has a cluster get three workers from power-off to Nodes that are Ready by "hosts add",
// and lose one again by "hosts remove". Real are: keepalived, dnsmasq and the monitors in the product's
// pods on three control plane nodes, Ironic and metal3's operator in the pods of their Deployments, what
// Ironic fetches and serves, the API server with the product's objects, three bare machines in qemu with
// their firmware, the ramdisk with Ironic's agent, the operating system with Ignition, containerd and
// kubelet. FAKE are the BMCs, and the network plugin of the new nodes. Nothing balances the API, a name
// in /etc/hosts is Ironic's Service, and a kubelet has its certificate from the start.
func TestLongWorkers(t *testing.T) {
	if os.Getenv("ONPREM_INFRA_LONG") == "" {
		t.Skip("set ONPREM_INFRA_LONG=1, as make e2e does")
	}
	c := openScaling(t)
	c.until("Ironic's pod serves all files", 5*time.Minute, func() bool {
		client := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{DialContext: c.beside.Dial, DisableKeepAlives: true}}
		for _, name := range []string{"agent.kernel", "agent.initramfs", "os.raw"} {
			answer, err := client.Head("http://" + provisioningVIP + ":6180/images/" + name)
			if err != nil {
				return false
			}
			if answer.Body.Close(); answer.StatusCode != http.StatusOK {
				return false
			}
		}
		return true
	})
	c.lap("Ironic's pod serves, all machines are off")
	c.administer()
	c.operate()
	phases := c.install()
	c.lap("three nodes are Ready")
	phases.log(t)
	c.answered()
	c.scaleDown(c.machines[2], c.machines[:2])
	c.answered()
	for _, m := range c.machines[:2] {
		if whole, err := m.TrapIsWhole(); err != nil || !whole {
			t.Errorf("the trap of %s is whole: %v, %v", m.name, whole, err)
		}
	}
}

// phases are when status reported each step of each host first.
type phases map[string]map[fleet.Step]time.Time

// install has all machines become nodes. Meanwhile it holds what status reports to the machines
// themselves, and to the order of the steps.
func (c *scaling) install() phases {
	c.t.Helper()
	seen := phases{}
	for _, m := range c.machines {
		seen[m.name] = map[fleet.Step]time.Time{}
	}
	c.look(seen)
	var programs []<-chan error
	for _, m := range c.machines {
		programs = append(programs, c.order(m.name))
	}
	c.until("all machines are nodes", 30*time.Minute, func() bool {
		time.Sleep(time.Second)
		c.look(seen)
		return !slices.ContainsFunc(c.machines, func(m *machine) bool { return seen[m.name][fleet.Joined].IsZero() })
	})
	c.ended(programs...)
	for name, steps := range seen {
		// Nothing is to be prepared, and an available host is ordered at once: both may last no second.
		for _, step := range []fleet.Step{fleet.Waiting, fleet.Registering, fleet.Inspecting, fleet.Provisioning, fleet.Booting, fleet.Joined} {
			if steps[step].IsZero() {
				c.t.Errorf("%s was never %q", name, step)
			}
		}
	}
	return seen
}

// look notes the steps that are new.
func (c *scaling) look(seen phases) {
	c.t.Helper()
	w, order := c.world(), fleet.Steps()
	for _, h := range w.Hosts {
		one, of := w.Worker(h, time.Now()), seen[h.Name]
		if one.LastError != "" {
			c.t.Fatal(one.Line(time.Now()))
		}
		if _, known := of[one.Step]; known {
			continue
		}
		c.lap("%s", one.Line(time.Now()))
		for _, later := range order[slices.Index(order, one.Step)+1:] {
			if _, was := of[later]; was {
				c.t.Errorf("%s is %q behind %q", h.Name, one.Step, later)
			}
		}
		of[one.Step] = time.Now()
		i := slices.IndexFunc(c.machines, func(m *machine) bool { return m.name == h.Name })
		if err := c.machines[i].agrees(one.Step); err != nil {
			c.t.Error(err)
		}
	}
}

// log prints the minutes of each phase, over all hosts.
func (p phases) log(t *testing.T) {
	t.Helper()
	for _, phase := range []struct {
		name     string
		from, to fleet.Step
	}{{"off to inspected", fleet.Registering, fleet.Provisioning}, {"inspected to written", fleet.Provisioning, fleet.Booting},
		{"written to Node Ready", fleet.Booting, fleet.Joined}, {"off to Node Ready", fleet.Registering, fleet.Joined}} {
		var took []time.Duration
		for _, steps := range p {
			took = append(took, steps[phase.to].Sub(steps[phase.from]))
		}
		slices.Sort(took)
		t.Logf("%s: %.1f, %.1f, %.1f minutes (min, median, max of %d)", phase.name, took[0].Minutes(), took[len(took)/2].Minutes(), took[len(took)-1].Minutes(), len(took))
	}
}

// answered holds that each DHCP answer which a machine, or the worker that asks all the time, has got
// came from the node that has the shared address, with the reserved one.
func (c *scaling) answered() {
	c.t.Helper()
	heard := map[string][]answer{"w1": c.worker.answers(time.Time{})}
	for _, m := range c.machines {
		heard[m.name] = m.wire.answers()
	}
	now, spans := time.Now(), []lab.Span(nil)
	c.until("the holder is observed", time.Minute, func() bool {
		spans = c.holders.Report().Spans
		return len(spans) > 0 && spans[len(spans)-1].To.After(now)
	})
	for name, all := range heard {
		kinds := map[string]int{}
		for _, a := range all {
			kinds[a.MessageType().String()]++
		}
		c.lap("%s: DHCP answers %v", name, kinds)
		if strays := strays(all, spans, c.reserved(name)); len(strays) > 0 || len(all) == 0 || name != "w1" && kinds["ACK"] == 0 {
			c.t.Errorf("%s: %d answers, of which these must not be: %q", name, len(all), strays)
		}
	}
	if wrong := c.worker.wrong(); len(wrong) > 0 {
		c.t.Errorf("answers that differ: %q", wrong)
	}
}

// strays are the answers that came from another machine than the holder of the shared address, or
// have another address than the one that is reserved.
func strays(all []answer, holders []lab.Span, reserved string) (texts []string) {
	for _, a := range all {
		held := slices.ContainsFunc(holders, func(s lab.Span) bool {
			return !a.at.Before(s.From) && !a.at.After(s.To) && slices.Equal(s.Holders, []string{a.by})
		})
		if !held || a.ServerIdentifier().String() != provisioningVIP || a.YourIPAddr.String() != reserved {
			texts = append(texts, a.by+": "+a.text())
		}
	}
	return texts
}

// kept is what must not change of a machine that stays.
type kept struct {
	starts int
	boot   string // of its operating system
	uid    string // of its Node
	marks  string
}

func (c *scaling) kept(m *machine) kept {
	c.t.Helper()
	var n corev1.Node
	c.do(http.MethodGet, "/api/v1/nodes/"+m.name, nil, &n)
	marks, err := m.marks()
	if err != nil {
		c.t.Fatal(err)
	}
	return kept{len(m.Starts()), n.Status.NodeInfo.BootID, string(n.UID), fmt.Sprint(marks)}
}

// scaleDown removes one machine by "hosts remove": it is off, with an erased disk, and neither a host nor
// a node. The others are as they were, and their kubelets at work.
func (c *scaling) scaleDown(gone *machine, stay []*machine) {
	c.t.Helper()
	former, err := gone.marks()
	if err != nil || len(former) != inUse {
		c.t.Fatalf("the disk of %s has %v: %v", gone.name, former, err)
	}
	before := map[string]kept{}
	for _, m := range stay {
		before[m.name] = c.kept(m)
	}
	begun, program := time.Now(), c.hosts("remove", gone.name)
	c.leave(gone)
	c.ended(program)
	c.lap("%s has left after %.1f minutes", gone.name, time.Since(begun).Minutes())
	if from := strings.Join(gone.booted(), " "); gone.IsOn() || from != "Pxe Hdd Pxe" {
		c.t.Errorf("%s is on: %v, and started from %q", gone.name, gone.IsOn(), from)
	}
	left, err := gone.left(former)
	if err != nil || len(left) > 0 {
		c.t.Errorf("the disk of %s has %v: %v", gone.name, left, err)
	}
	if slices.ContainsFunc(c.world().Nodes, func(n fleet.Node) bool { return n.Name == gone.name }) {
		c.t.Errorf("%s is a node still", gone.name)
	}
	ended := time.Now()
	for _, m := range stay {
		if now := c.kept(m); now != before[m.name] || !m.IsOn() {
			c.t.Errorf("%s was %+v, and is %+v, on: %v", m.name, before[m.name], now, m.IsOn())
		}
		c.until("the kubelet of "+m.name+" reports", time.Minute, func() bool {
			var l coordinationv1.Lease
			c.do(http.MethodGet, "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/"+m.name, nil, &l)
			return l.Spec.RenewTime != nil && l.Spec.RenewTime.After(ended)
		})
	}
	if len(gone.Starts()) != 3 {
		c.t.Errorf("%s started from %v", gone.name, gone.booted())
	}
}

// leave waits until a machine is no host any more, and notes its steps, of which none may be one that
// keeps it.
func (c *scaling) leave(gone *machine) {
	c.t.Helper()
	last := ""
	c.until(gone.name+" leaves", 15*time.Minute, func() bool {
		time.Sleep(time.Second)
		w := c.world()
		var h fleet.Host
		if i := slices.IndexFunc(w.Hosts, func(h fleet.Host) bool { return h.Name == gone.name }); i >= 0 {
			h = w.Hosts[i]
		}
		if one := w.Worker(h, time.Now()); h.Exists && one.Does != last {
			last = one.Does
			c.lap("%s", one.Line(time.Now()))
			if one.LastError != "" || one.Step != fleet.Joined && one.Step != fleet.Leaving && one.Step != fleet.Available {
				c.t.Errorf("%s leaves, and is %q: %s", gone.name, one.Step, one.LastError)
			}
		}
		return !h.Exists
	})
}
