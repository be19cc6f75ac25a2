//go:build remote

package main

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"strings"
	"syscall"
	"testing"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestStatusVerdict holds the first line of status, and the exit code that an alert goes by.
func TestStatusVerdict(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	no := errors.New("operation not permitted")
	for _, tt := range []struct {
		name   string
		change func(*inspect.Inspector)
		line   string
		code   int
	}{
		{"all is well", func(*inspect.Inspector) {}, "OK: held: 192.0.2.5 (api) by this host, 192.0.2.6 (ingress) by 192.0.2.12\n", 0},
		{"no host answers", func(l *inspect.Inspector) {
			l.Neighbour = func(context.Context, string, netip.Addr) (addr.Neighbour, error) {
				return addr.Neighbour{Absent: true}, nil
			}
		}, "DOWN: no host answers for the ingress VIP 192.0.2.6\n", exitFindings},
		{"nothing can be asked", func(l *inspect.Inspector) {
			l.Neighbour = func(context.Context, string, netip.Addr) (addr.Neighbour, error) { return addr.Neighbour{}, no }
		}, "UNKNOWN: it could not be seen which host answers for the ingress VIP 192.0.2.6\n", exitHost},
		{"links cannot be read", func(l *inspect.Inspector) {
			l.Links = func() (addr.Snapshot, error) { return addr.Snapshot{}, no }
		}, "UNKNOWN: it could not be seen which host answers for the api VIP 192.0.2.5\n", exitHost},
		{"a server is down", func(l *inspect.Inspector) {
			l.Backends = func(context.Context) ([]haproxy.Stat, error) {
				return []haproxy.Stat{{Backend: haproxy.Masters, Server: "m0", Status: "UP"}, {Backend: haproxy.Masters, Server: "m1", Status: "DOWN"}}, nil
			}
		}, "DEGRADED: API server m1 is DOWN behind this node's balancer\n", exitFindings},
		{"the balancer is dead", func(l *inspect.Inspector) {
			l.Backends = func(context.Context) ([]haproxy.Stat, error) { return nil, errors.New("connection refused") }
		}, "DEGRADED: the balancer of this host does not answer\n", exitFindings},
		{"the name server is dead", func(l *inspect.Inspector) {
			l.Lookup = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("connection refused") }
		}, "DEGRADED: the name server of this host does not answer\n", exitFindings},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := fakehost.Holder(p)
			files["/etc/kubernetes/manifests/haproxy.yaml"] = "kind: Pod\n"
			host := fakehost.New(t, p, files)
			host.Lookup = func(_ context.Context, name string) ([]netip.Addr, error) {
				for _, r := range p.Records {
					if strings.HasSuffix(name, string(r.Name)) {
						return r.Addresses, nil
					}
				}
				return nil, no
			}
			tt.change(host)
			r := status.Inspect(t.Context(), host)
			if text := r.Text(width()); !strings.HasPrefix(text, tt.line) {
				t.Errorf("%s", text)
			}
			code, exit := exitHost, exitError{}
			switch err := printVerdict(streams{out: io.Discard}, r, "text"); {
			case err == nil:
				code = 0
			case errors.As(err, &exit):
				code = exit.code
			}
			if code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
			if err := printVerdict(streams{out: fullDisk{}}, r, "json"); !errors.Is(err, syscall.ENOSPC) || errors.As(err, &exit) {
				t.Errorf("on a full disk: %v", err)
			}
		})
	}
}
