package services

import (
	"context"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	haproxyd "github.com/onprem-infra/onprem-infra/shared/host/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
)

// HAProxy is the HAProxy of a node's pod.
type HAProxy struct {
	health string        // URL of its health check
	ironic string        // URL that answers if it serves Ironic
	answer time.Duration // the probe's timeout
}

// NewHAProxy probes a port of the loopback: no other host can use up its connections.
func NewHAProxy(p plan.Plan) HAProxy {
	url := fmt.Sprintf("http://127.0.0.1:%d/", p.Ports[port.LBStats])
	return HAProxy{health: url + "haproxy_monitor", ironic: url + "haproxy_ironic",
		answer: p.Timing.Model.Redirect.Timeout}
}

// Running reports the structure of the running configuration; false if none runs.
func (HAProxy) Running(ctx context.Context) (string, bool, error) {
	structure, err := haproxyd.Structure(ctx, haproxy.Run.Socket())
	if err != nil && haproxyd.Absent(err) {
		return "", false, nil
	}
	return structure, err == nil, err
}

// Stats are the states of its servers.
func (HAProxy) Stats(ctx context.Context) ([]haproxy.Stat, error) {
	text, err := haproxyd.Ask(ctx, haproxy.Run.Socket(), "show stat")
	if err != nil {
		return nil, err
	}
	return haproxy.ParseStats(text)
}

// Command sends commands to its socket.
func (HAProxy) Command(ctx context.Context, commands ...string) error {
	_, err := haproxyd.Ask(ctx, haproxy.Run.Socket(), commands...)
	return err
}

// Reload makes it read its configuration again.
func (HAProxy) Reload(ctx context.Context, structure string) (bool, error) {
	return haproxyd.Reload(ctx, haproxy.Run.MasterSocket(), haproxy.Run.Socket(), structure)
}

// Healthy reports whether it passes its health check.
func (d HAProxy) Healthy(ctx context.Context) (bool, error) {
	return haproxyd.Healthy(ctx, d.health, d.answer)
}

// ServesIronic reports whether it has the frontends of Ironic.
func (d HAProxy) ServesIronic(ctx context.Context) (bool, error) {
	return haproxyd.Healthy(ctx, d.ironic, d.answer)
}
