//go:build remote

package main

import (
	"context"
	"errors"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/judge"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestStatusVerdict holds the first line of status, and the exit code that an alert goes by.
func TestStatusVerdict(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	no := errors.New("operation not permitted")
	for _, tt := range []struct {
		name   string
		change func(*statusLook)
		line   string
		code   int
	}{
		{"all is well", func(*statusLook) {}, "OK: held: 192.0.2.5 (api) by this host, 192.0.2.6 (ingress) by 192.0.2.12\n", 0},
		{"no host answers", func(l *statusLook) {
			l.ask = func(context.Context, string, netip.Addr) (addr.Neighbour, error) {
				return addr.Neighbour{Absent: true}, nil
			}
		}, "DOWN: no host answers for the ingress VIP 192.0.2.6\n", exitFindings},
		{"nothing can be asked", func(l *statusLook) {
			l.ask = func(context.Context, string, netip.Addr) (addr.Neighbour, error) { return addr.Neighbour{}, no }
		}, "UNKNOWN: it could not be seen who answers for the ingress VIP 192.0.2.6\n", exitHost},
		{"links cannot be read", func(l *statusLook) {
			l.links = func() (addr.Snapshot, error) { return addr.Snapshot{}, no }
		}, "UNKNOWN: it could not be seen who answers for the api VIP 192.0.2.5\n", exitHost},
		{"a server is down", func(l *statusLook) {
			l.stats = func(context.Context) ([]haproxy.Stat, error) {
				return []haproxy.Stat{{Backend: haproxy.Masters, Server: "m0", Status: "UP"}, {Backend: haproxy.Masters, Server: "m1", Status: "DOWN"}}, nil
			}
		}, "DEGRADED: API server m1 is DOWN behind this node's balancer\n", exitFindings},
		{"the balancer is dead", func(l *statusLook) {
			l.stats = func(context.Context) ([]haproxy.Stat, error) { return nil, errors.New("connection refused") }
		}, "DEGRADED: the balancer of this host does not answer\n", exitFindings},
		{"the name server is dead", func(l *statusLook) {
			l.name = func(context.Context, string) ([]netip.Addr, error) { return nil, errors.New("connection refused") }
		}, "DEGRADED: the name server of this host does not answer\n", exitFindings},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := holderOf(t, p)
			files["/etc/kubernetes/manifests/haproxy.yaml"] = "kind: Pod\n"
			look := statusOf(t, p, files)
			look.name = func(_ context.Context, name string) ([]netip.Addr, error) {
				for _, r := range p.Records {
					if strings.HasSuffix(name, string(r.Name)) {
						return r.Addresses, nil
					}
				}
				return nil, no
			}
			tt.change(look)
			r := look.report(t.Context())
			if text := statusText(r); !strings.HasPrefix(text, tt.line) {
				t.Errorf("%s", text)
			}
			code, exit := exitHost, exitError{}
			switch err := alerted(r.Verdict); {
			case err == nil:
				code = 0
			case errors.As(err, &exit):
				code = exit.code
			}
			if code != tt.code {
				t.Errorf("exit %d, want %d", code, tt.code)
			}
		})
	}
}

// TestStatusVerdict_NotStarted holds that a node that should run keepalived and does not is no node
// where all is well.
func TestStatusVerdict_NotStarted(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	r := statusOf(t, p, map[string]string{"/etc/kubernetes/manifests/haproxy.yaml": "kind: Pod\n"}).report(t.Context())
	if r.Verdict.Level != judge.Degraded || r.Verdict.Why[0] != "keepalived has not been started on this host" {
		t.Errorf("%+v", r.Verdict)
	}
}

// TestStatus_LooksSideBySide holds that status takes as long as the slowest of its questions, where
// nothing answers any.
func TestStatus_LooksSideBySide(t *testing.T) {
	p := statusPlan(t, vrrp.ProfileLan)
	files := holderOf(t, p)
	synctest.Test(t, func(t *testing.T) {
		look := statusOf(t, p, files)
		look.links = func() (addr.Snapshot, error) {
			own := []addr.Address{{Prefix: netip.MustParsePrefix("192.0.2.11/24")}}
			return addr.Snapshot{Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: own}}}, nil
		}
		look.ask = func(ctx context.Context, _ string, _ netip.Addr) (addr.Neighbour, error) {
			<-ctx.Done()
			return addr.Neighbour{Absent: true}, nil
		}
		look.hear = func(ctx context.Context, _ string, _ func(overhear.Heard)) error {
			<-ctx.Done()
			return nil
		}
		look.stats = func(ctx context.Context) ([]haproxy.Stat, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		look.name = func(ctx context.Context, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begin := time.Now()
		r := look.report(t.Context())
		if took := time.Since(begin); took != statusWithin {
			t.Errorf("took %v", took)
		}
		if r.Verdict.Level != judge.Down || len(r.Verdict.Why) < 2 {
			t.Errorf("%+v", r.Verdict)
		}
	})
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 s ago", 59*time.Second + 900*time.Millisecond: "59 s ago", time.Minute: "1 min 0 s ago",
		3*time.Hour + 59*time.Minute: "3 h 59 min ago", 49 * time.Hour: "2 d 1 h ago", -time.Second: "in the future",
	} {
		if got := age(d); got != want {
			t.Errorf("%v: got %q, want %q", d, got, want)
		}
	}
}
