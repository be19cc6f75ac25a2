package provision

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/bootstrap/provision/handover"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/ledger"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/orders"
)

// fakeCluster is a FAKE cluster of OpenShift: its API, the operator of metal3, and metal3, which begins
// with no host that is paused.
type fakeCluster struct {
	away     bool // the API does not answer
	refuses  bool // it refuses changes
	notice   map[string]string
	operator scale.Operator
	replicas int       // of Ironic's Deployment
	since    time.Time // when Ironic's pod started; zero without one
	hosts    []scale.Host
	begun    map[string]time.Time
	stops    []string // which commands a person ran
}

const workers = 60

func newCluster() fakeCluster {
	c := fakeCluster{operator: scale.Operator{Exists: true, Paused: true, Handover: true}, begun: map[string]time.Time{}}
	for i := range workers {
		c.hosts = append(c.hosts, scale.Host{Name: fmt.Sprintf("worker-%02d", i), Exists: true, Paused: true, Handover: true})
	}
	c.hosts = append(c.hosts, scale.Host{Name: "master-0", Exists: true, External: true, State: "externally provisioned"})
	return c
}

func ownCluster() handover.Cluster {
	return handover.Cluster{Metal3: true, Operator: true, Returns: true, Hosts: []string{"worker-00"}, Address: netip.MustParseAddr("172.22.0.3"),
		Cards: map[string]string{"02:00:00:00:00:01": "master-1"}}
}

// tick lets a second pass: an operator that is not paused keeps Ironic's Deployment, and metal3 inspects
// hosts in a minute.
func (c *fakeCluster) tick(now time.Time) {
	if !c.operator.Paused {
		c.replicas = 1
	}
	if c.replicas == 0 {
		c.since = time.Time{}
	} else if c.since.IsZero() {
		c.since = now
	}
	for i := range c.hosts {
		if at := c.begun[c.hosts[i].Name]; !at.IsZero() {
			c.hosts[i].State = map[bool]string{true: "available", false: "inspecting"}[now.Sub(at) > time.Minute]
		}
	}
}

// stop is a person who runs the command that the product names.
func (c *fakeCluster) stop(command string) {
	c.stops = append(c.stops, command)
	if strings.Contains(command, "annotate --overwrite provisionings.metal3.io provisioning-configuration provisioning.metal3.io/paused=\"until the handover\"") {
		c.operator.Paused, c.operator.Handover = true, true
	}
	if strings.Contains(command, "--namespace openshift-machine-api scale deployment metal3 --replicas=0") {
		c.replicas = 0
	}
}

var errAway = errors.New("connection refused")

type clusterOf struct{ r *rig }

func (c clusterOf) Published(context.Context) (notice.Progress, error) {
	if c.r.cluster.away {
		return notice.Progress{}, errAway
	}
	return notice.ReadHandover(c.r.cluster.notice), nil
}

// change is a change of the API's objects.
func (c clusterOf) change(what string, do func()) error {
	return c.r.effect(what, func() error {
		if c.r.cluster.away || c.r.cluster.refuses {
			return errAway
		}
		do()
		return nil
	})
}

func (c clusterOf) Publish(_ context.Context, p notice.Progress) error {
	return c.change("publish", func() { c.r.cluster.notice = notice.EncodeHandover(p) })
}

func (c clusterOf) Fleet(context.Context) (scale.Fleet, error) {
	k := &c.r.cluster
	if k.away {
		return scale.Fleet{}, errAway
	}
	// The bootstrap machine publishes itself until it is deleted.
	return scale.Fleet{Hosts: slices.Clone(k.hosts), Bootstrap: true, Operator: k.operator, Pods: k.replicas, Ironic: k.ready(c.r.world.Now, 20*time.Second)}, nil
}

func (c *fakeCluster) ready(now time.Time, after time.Duration) bool {
	return !c.since.IsZero() && now.Sub(c.since) >= after
}

func (c clusterOf) Pause(_ context.Context, pause bool) error {
	return c.change("pause", func() { c.r.cluster.operator.Paused, c.r.cluster.operator.Handover = pause, pause })
}

func (c clusterOf) Begin(_ context.Context, hosts []string) error {
	for _, name := range hosts {
		if err := c.change("begin "+name, func() { c.r.cluster.free(name, c.r.world.Now) }); err != nil {
			return err
		}
	}
	return nil
}

func (c *fakeCluster) free(name string, now time.Time) {
	for i := range c.hosts {
		if h := &c.hosts[i]; h.Name == name && h.Handover {
			h.Paused, h.Handover = false, false
			c.begun[name] = now
		}
	}
}

func (c clusterOf) Holders() ([]string, error) {
	if c.r.cluster.ready(c.r.world.Now, 25*time.Second) {
		return []string{"02:00:00:00:00:01"}, nil
	}
	return nil, nil
}

func (r *rig) Reversal() (orders.Reversal, error) { return r.reversal, nil }

// reverse is a person who leads the handover back, or on again.
func (r *rig) reverse(back bool) {
	r.reversal = orders.Reversal{Back: back, Of: r.memory().HandoverSince, At: r.world.Now, Why: "a person asked for it"}
}

// judgeCluster holds that the cluster's Ironic and this machine's parts are never on together, that no
// host of the cluster begins while they are, and that they never go on once one has begun.
func (r *rig) judgeCluster(m ledger.Memory) {
	on := false
	for _, p := range orders.Parts() {
		on = on || r.reports[p].On && r.orders.Generation > 0
	}
	if !on {
		return
	}
	k := &r.cluster
	if k.ready(r.world.Now, 0) {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: the cluster's own Ironic runs beside that of this machine, in the phase %s", r.world.Now.Format(time.TimeOnly), m.Phase))
	}
	if len(k.begun) > 0 {
		r.wrong = append(r.wrong, fmt.Sprintf("%s: %d hosts of the cluster have begun, and parts are on in the phase %s", r.world.Now.Format(time.TimeOnly), len(k.begun), m.Phase))
	}
}
