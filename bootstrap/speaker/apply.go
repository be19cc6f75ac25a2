package speaker

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/speak"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// leaveBound is how long the speaker may take to leave. Its own bounds are shorter: after this one
// it counts as stuck.
const leaveBound = 10 * time.Second

// established is the state of a session in which routes are exchanged (RFC 4271 8.2.2).
const established = "Established"

// passwordsDir is mounted whole: a file would stay the old one when it is replaced.
var passwordsDir = path.Dir(spoken.PasswordsFile)

// healthAt is where the speaker serves its health and metrics: on the loopback alone.
func healthAt(p plan.Plan) string { return fmt.Sprintf("127.0.0.1:%d", p.Ports[port.Speaker]) }

// Apply brings the machine to the desired state. It saves the VIPs and the nodes before it
// announces a VIP: after a restart without them it might refuse to announce the VIP beside the
// nodes. If they cannot be saved, the VIP is announced all the same.
func (r *Room) Apply(ctx context.Context, d Desired) error {
	switch {
	case !d.Config.Router.IsValid():
		return r.reporter.Report(!d.Held, d.Lacks)
	case !d.Held && d.Handover:
		return r.handOver(ctx, d)
	}
	r.asked = time.Time{}
	if err := r.options.Host.Leave(false); err != nil {
		return fmt.Errorf("withdraw the request to leave: %w", err)
	}
	kept := r.kept.Keep(union(r.options.Host.Announced(), vips(d.Routes)), r.options.Host.Keep)
	if len(d.Nodes) > 0 { // the saved ones stay while the API lists none
		kept = errors.Join(kept, r.nodes.Keep(d.Nodes, r.options.Host.KeepNodes))
	}
	return errors.Join(r.run(ctx, d), kept)
}

// run has the speaker run as desired, and reports its state.
func (r *Room) run(ctx context.Context, d Desired) error {
	if err := r.propose(d); err != nil {
		return err
	}
	if err := r.options.Daemon.Ensure(ctx, Container(r.options.Plan)); err != nil {
		return err
	}
	status, err := r.options.Host.Status()
	if err != nil {
		return fmt.Errorf("read the speaker's status: %w", err)
	}
	ready := !d.Held || len(d.Waits) == 0 && d.Lacks == "" && announces(status, vips(d.Routes))
	return r.reporter.Report(ready, summary(d, status))
}

// propose hands the configuration and the wish over.
func (r *Room) propose(d Desired) error {
	if err := r.options.Host.Configure(d.Config); err != nil {
		return fmt.Errorf("hand the configuration over: %w", err)
	}
	wish := spoken.Wish{Beat: r.options.Now(), Routes: d.Routes}
	if err := r.options.Host.Wish(wish); err != nil {
		return fmt.Errorf("hand over what is announced: %w", err)
	}
	return nil
}

// handOver has the speaker leave: it makes its paths longer from far to near, so that routers move
// to the nodes while it still serves, withdraws them, and removes the addresses. Then FRR ends.
func (r *Room) handOver(ctx context.Context, d Desired) error {
	now := r.options.Now()
	if r.asked.IsZero() {
		r.asked = now
	}
	err := errors.Join(r.options.Host.Leave(true), r.propose(d))
	if err != nil {
		return errors.Join(fmt.Errorf("ask the speaker to leave: %w", err),
			r.options.Daemon.Stop(ctx, containerName))
	}
	status, err := r.options.Host.Status()
	if err != nil {
		return fmt.Errorf("read the speaker's status: %w", err)
	}
	left := status.Left && !status.At.Before(r.asked)
	if !left && !status.At.IsZero() && now.Sub(r.asked) < leaveBound {
		return r.reporter.Report(true, "hands the API VIP over to a control plane node")
	}
	if err := r.options.Daemon.Stop(ctx, containerName); err != nil {
		return err
	}
	return r.reporter.Report(true, "the API VIP is not announced here")
}

// Leave withdraws in order: the speaker does so on SIGTERM.
func (r *Room) Leave(ctx context.Context) error {
	return errors.Join(r.options.Daemon.Stop(ctx, containerName), r.options.Host.End())
}

// announces reports whether a router has every VIP from this machine.
func announces(s spoken.Status, all []netip.Addr) bool {
	return !slices.ContainsFunc(all, func(vip netip.Addr) bool { return len(routers(s, vip)) == 0 })
}

// routers are those that have a VIP from this machine.
func routers(s spoken.Status, vip netip.Addr) (all []string) {
	for _, session := range s.Sessions {
		if slices.Contains(session.Advertised, vip) {
			all = append(all, session.Peer)
		}
	}
	return all
}

// summary is the line that `systemctl status` shows.
func summary(d Desired, s spoken.Status) string {
	var parts []string
	for _, v := range s.VIPs {
		if to := routers(s, v.VIP); len(to) > 0 {
			parts = append(parts, fmt.Sprintf("%s announced to %s", v.VIP, strings.Join(to, ", ")))
		} else if slices.Contains(vips(d.Routes), v.VIP) && v.Phase != speak.Announced {
			parts = append(parts, fmt.Sprintf("%s %s", v.VIP, v.Phase))
		}
	}
	if !d.Held {
		parts = append(parts, "the API VIP is not announced here")
	}
	parts = append(parts, d.Waits...)
	for _, session := range s.Sessions {
		switch {
		case session.State != established:
			text := fmt.Sprintf("session with %s: %s", session.Peer, session.State)
			if session.Why != "" {
				text += ", the last one ended: " + session.Why
			}
			parts = append(parts, text)
		case session.BFD != "" && session.BFD != "Up":
			parts = append(parts, fmt.Sprintf("BFD with %s: %s", session.Peer, session.BFD))
		}
	}
	if d.Lacks != "" {
		parts = append(parts, d.Lacks)
	}
	return strings.Join(append(parts, s.Troubles...), "; ")
}

func vips(routes []spoken.Route) (all []netip.Addr) {
	for _, route := range routes {
		all = append(all, route.VIP)
	}
	return all
}

// union is sorted, and has each VIP once.
func union(a, b []netip.Addr) []netip.Addr {
	all := slices.Concat(a, b)
	slices.SortFunc(all, netip.Addr.Compare)
	return slices.Compact(all)
}
