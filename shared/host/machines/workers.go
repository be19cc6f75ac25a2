package machines

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers/objects"
)

// Workers is what the API has of the hosts that the cluster provisions, at a time of this machine's
// clock. It only reads.
func (c *Client) Workers(ctx context.Context, now time.Time) (workers.World, error) {
	w := workers.World{Place: c.place()}
	var hosts list[objects.Host]
	var machines list[objects.Machine]
	var nodes list[objects.Node]
	found, err := c.API.JSON(ctx, http.MethodGet, c.Hosts(), nil, &hosts)
	if err == nil && !found {
		err = errors.New("the cluster's API has no BareMetalHosts: its hosts are provisioned by " +
			"another program than metal3")
	}
	if err != nil {
		return w, err
	}
	more := map[string]any{nodePath: &nodes}
	if w.Place.Machines {
		more[machinePath] = &machines
	}
	for path, out := range more {
		if _, err := c.API.JSON(ctx, http.MethodGet, path, nil, out); err != nil {
			return w, err
		}
	}
	ironic, runs, err := c.ironic(ctx)
	if err != nil {
		return w, err
	}
	if err := c.handover(ctx, &w, now); err != nil {
		return w, fmt.Errorf("read whether the bootstrap machine has ended: %w", err)
	}
	if w.Operator, err = c.operator(ctx); err != nil {
		return w, err
	}
	for _, h := range hosts.Items {
		host, odd := h.Worker()
		w.Hosts, w.Unread = append(w.Hosts, host), append(w.Unread, odd...)
	}
	for _, m := range machines.Items {
		w.Machines = append(w.Machines, m.Worker())
	}
	for _, n := range nodes.Items {
		node, odd := n.Worker()
		w.Nodes, w.Unread = append(w.Nodes, node), append(w.Unread, odd...)
	}
	is, odd := ironic.Ironic()
	if runs {
		is.Pods = ironic.Pods()
	}
	w.Ironic, w.Unread = is, append(w.Unread, odd...)
	return w, nil
}
