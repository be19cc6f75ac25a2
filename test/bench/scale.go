package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/onprem-infra/onprem-infra/test/life"
)

// scale is what a node's monitors cost at a number of Node objects.
type scale struct {
	Profile  string         `json:"profile"`
	Scenario string         `json:"scenario"`
	Nodes    int            `json:"nodes"`
	Host     string         `json:"host"`
	Seconds  float64        `json:"seconds"`
	RSS      map[string]int `json:"rss_kb"` // by container
	Requests map[string]int `json:"api_requests"`
	Sent     int64          `json:"api_sent_bytes"`
	Read     int64          `json:"api_read_bytes"`
}

const (
	// listen is how long a cluster of a size is observed, digest what it has before to forget what
	// it read first.
	listen = 30 * time.Second
	digest = 15 * time.Second
	// heartbeat is how often a Node renews its lease, as kubelets do.
	heartbeat = 5 * time.Minute
)

// scaleAll measures it for every profile.
func (r *run) scaleAll(ctx context.Context) error {
	var errs []error
	for _, profile := range r.profiles {
		if err := r.scaleOf(ctx, profile); err != nil {
			errs = append(errs, fmt.Errorf("%s %s: %w", profile, scaling, err))
		}
	}
	return errors.Join(errs...)
}

func (r *run) scaleOf(ctx context.Context, profile string) (err error) {
	l, err := cluster(ctx, profile, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.Close(context.WithoutCancel(ctx))) }()
	have := len(l.Nodes) + len(l.Workers)
	for _, n := range r.nodes {
		if err := crowd(have, n, func(i int) error { return l.API.Admin().Do(ctx, http.MethodPost, "/api/v1/nodes", grown(i), nil) }); err != nil {
			return err
		}
		have = max(have, n)
		found, err := listening(ctx, l, profile, have)
		if err != nil {
			return err
		}
		for _, one := range found {
			r.scales = append(r.scales, one)
			r.write(one)
		}
	}
	return nil
}

// crowd does something for every number from low to below high, some at a time.
func crowd(low, high int, f func(i int) error) error {
	work := make(chan int)
	errs := make([]error, 4*runtime.NumCPU())
	var running sync.WaitGroup
	for w := range errs {
		running.Go(func() {
			for i := range work {
				errs[w] = errors.Join(errs[w], f(i))
			}
		})
	}
	for i := low; i < high; i++ {
		work <- i
	}
	close(work)
	running.Wait()
	return errors.Join(errs...)
}

// listening observes a control plane node and at a worker, while Nodes renew their leases.
func listening(ctx context.Context, l *life.Life, profile string, n int) ([]scale, error) {
	beating, stop := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { beats(beating, l, n) })
	defer running.Wait()
	defer stop()
	if err := pause(ctx, digest); err != nil {
		return nil, err
	}
	hosts := []*life.Node{l.Nodes[1], l.Workers[0]}
	costs := make([]cost, len(hosts))
	errs := make([]error, len(hosts))
	var measuring sync.WaitGroup
	for i, h := range hosts {
		measuring.Go(func() { errs[i] = costs[i].measure(ctx, l, h, func() error { return pause(ctx, listen) }) })
	}
	measuring.Wait()
	var found []scale
	for i, c := range costs {
		one := scale{Profile: profile, Scenario: scaling, Nodes: n, Host: hosts[i].Name, Seconds: c.Seconds, RSS: map[string]int{}, Requests: c.Requests, Sent: c.Sent, Read: c.Read}
		for _, p := range c.Processes {
			if p.Program == "onprem-infra" {
				one.RSS[p.Container] = p.RSS
			}
		}
		found = append(found, one)
	}
	return found, errors.Join(errs...)
}

// beats has the Nodes without a machine renew their leases, each once in heartbeat.
func beats(ctx context.Context, l *life.Life, n int) {
	first := len(l.Nodes) + len(l.Workers)
	if n <= first {
		return
	}
	tick := time.NewTicker(heartbeat / time.Duration(n))
	defer tick.Stop()
	for i := first; ; i++ {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		node := grown(first + (i-first)%(n-first))
		patch := map[string]any{"status": map[string]any{"conditions": node.Status.Conditions}}
		// One that is missed is missed.
		_ = l.API.Admin().Do(ctx, http.MethodPatch, "/api/v1/nodes/"+node.Name+"/status", patch, nil)
	}
}

// grown is a worker's Node as a cluster that has lived for a while has it, of a network that is
// none of the cluster's own machines.
func grown(i int) *corev1.Node {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("scale-%05d", i), Labels: map[string]string{"kubernetes.io/arch": "amd64", "kubernetes.io/os": "linux", "node-role.kubernetes.io/worker": ""},
		Annotations: map[string]string{"machineconfiguration.openshift.io/lastAppliedDrain": strings.Repeat("uncordon-rendered-worker-", 8),
			"csi.volume.kubernetes.io/nodeid": strings.Repeat(`{"driver":"id"}`, 10)},
	}}
	n.Status.Addresses = []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: fmt.Sprintf("10.%d.%d.%d", 1+i/62500, i/250%250, 1+i%250)}}
	for j := range 50 {
		n.Status.Images = append(n.Status.Images, corev1.ContainerImage{SizeBytes: int64(j) << 20, Names: []string{
			fmt.Sprintf("quay.io/openshift-release-dev/ocp-v4.0-art-dev@sha256:%064x", j*7919+i%7), fmt.Sprintf("<none>:%064x", j)}})
	}
	for _, kind := range []corev1.NodeConditionType{"Ready", "MemoryPressure", "DiskPressure", "PIDPressure"} {
		n.Status.Conditions = append(n.Status.Conditions, corev1.NodeCondition{Type: kind, Status: corev1.ConditionFalse, LastHeartbeatTime: metav1.Now(),
			Reason: "KubeletHas" + string(kind), Message: "kubelet has no " + string(kind)})
	}
	return n
}

// scaleTable has the memory and the API traffic by the number of Nodes.
func scaleTable(all []scale) string {
	rows := [][]string{{"profile", "host", "Nodes", "vip kB", "lb kB", "dns kB", "API requests", "sent", "read"}}
	for _, s := range all {
		rows = append(rows, []string{s.Profile, s.Host, fmt.Sprint(s.Nodes), number(float64(s.RSS[life.KeepalivedMonitor])), number(float64(s.RSS[life.HAProxyMonitor])),
			number(float64(s.RSS[life.CoreDNSMonitor])), fmt.Sprint(s.Requests), fmt.Sprint(s.Sent), fmt.Sprint(s.Read)})
	}
	return table(fmt.Sprintf("Memory of the monitors, and what they ask of the API in %.0f s, by the number of Nodes, each of which reports every %.0f minutes that it lives",
		listen.Seconds(), heartbeat.Minutes()), rows)
}
