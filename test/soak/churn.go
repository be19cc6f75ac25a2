package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/test/life"
)

// The paces of what changes beside the faults.
const (
	relabels = 10 * time.Second
	rotates  = 5 * time.Minute // kubelets' certificates, and with them their kubeconfigs
	logs     = 10 * time.Minute
)

// churn changes what changes in a cluster that lives, until ctx ends. What fails beside a fault is
// tried the next time.
func (r *run) churn(ctx context.Context) {
	for n := 0; ; n++ {
		for what, change := range map[string]struct {
			every time.Duration
			do    func(ctx context.Context, n *life.Node, round int) error
		}{
			"a Node relabelled":       {relabels, r.relabel},
			"a kubelet's certificate": {rotates, func(_ context.Context, n *life.Node, _ int) error { return n.RotateKubelet() }},
			"the logs of a node":      {logs, func(_ context.Context, n *life.Node, _ int) error { return rotateLogs(n) }},
		} {
			rounds := int(change.every / time.Second)
			if n%rounds != rounds-1 {
				continue
			}
			for _, node := range r.stage.Nodes {
				if change.do(ctx, node, n) == nil {
					r.mu.Lock()
					r.churned[what]++
					r.mu.Unlock()
				}
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Second):
		}
	}
}

// relabel gives a Node another label, by whichever API server serves.
func (r *run) relabel(ctx context.Context, n *life.Node, round int) (err error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	body := map[string]any{"metadata": map[string]any{"labels": map[string]string{"example.com/soak": fmt.Sprint(round)}}}
	for _, server := range r.stage.Nodes {
		if err = server.API.Admin().Do(ctx, http.MethodPatch, "/api/v1/nodes/"+n.Name, body, nil); err == nil {
			return nil
		}
	}
	return err
}

// rotateLogs empties the containers' logs, which is all that a container sees of a rotation.
func rotateLogs(n *life.Node) error {
	paths, err := filepath.Glob(filepath.Join(filepath.Dir(n.Root), "logs", "*"))
	for _, path := range paths {
		if err := os.Truncate(path, 0); err != nil {
			return err
		}
	}
	return err
}
