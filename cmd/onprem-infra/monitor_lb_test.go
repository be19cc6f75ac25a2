//go:build remote

package main

import (
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/lb"
	"github.com/onprem-infra/onprem-infra/cluster/vip/probes"
	"github.com/onprem-infra/onprem-infra/shared/health"
	"github.com/onprem-infra/onprem-infra/shared/host/services"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// onPaper is a FAKE host: what is written there is nowhere.
type onPaper struct {
	lbHost
	written map[string]bool
}

func (onPaper) Read(string) ([]byte, error) { return nil, nil }
func (h onPaper) Write(path string, _ []byte, _ fs.FileMode) (bool, error) {
	h.written[path] = true
	return true, nil
}

// noTrust is that of a machine without a kubeconfig.
type noTrust struct{}

func (noTrust) Trust() ([]byte, string, error) { return nil, "", nil }

// TestPrepareLB holds that the directory of HAProxy's sockets, which kubelet makes for everybody to
// enter, is root's alone before HAProxy starts, and that one which cannot be closed is said and
// stops nothing.
func TestPrepareLB(t *testing.T) {
	open := t.TempDir()
	if err := os.Chmod(open, 0o755); err != nil {
		t.Fatal(err)
	}
	for dir, complaint := range map[string]string{open: "", filepath.Join(open, "absent"): "sockets"} {
		var logged strings.Builder
		host := onPaper{written: map[string]bool{}}
		room := lb.New(lb.Options{Host: host, Trust: noTrust{}})
		if err := prepareLB(t.Context(), slog.New(slog.NewTextHandler(&logged, nil)), dir, room); err != nil || !host.written[haproxy.File] {
			t.Errorf("%s: %v, written %v", dir, err, host.written)
		}
		if (logged.Len() > 0) != (complaint != "") || !strings.Contains(logged.String(), complaint) {
			t.Errorf("%s: said %q", dir, logged.String())
		}
	}
	if info, err := os.Stat(open); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v, want it for its owner alone", info.Mode(), err)
	}
}

// TestBalancerIsAskedInside holds that the redirect and the VIP hang on what HAProxy says on the
// loopback: the ports on which it says so to everybody can be filled by anybody.
func TestBalancerIsAskedInside(t *testing.T) {
	balancer := httptest.NewServer(http.NotFoundHandler())
	defer balancer.Close()
	inside, asked := netip.MustParseAddrPort(strings.TrimPrefix(balancer.URL, "http://")), map[string]bool{}
	balancer.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { asked[r.URL.Path] = true })
	p := plan.Plan{Ports: map[string]uint16{port.LBStats: inside.Port()}} // nobody listens on port 0
	p.Timing.Model.Redirect.Timeout = time.Minute
	if healthy, err := services.NewHAProxy(p).Healthy(t.Context()); !healthy || err != nil {
		t.Errorf("the redirect's monitor: %v, %v", healthy, err)
	}
	if serves, err := services.NewHAProxy(p).ServesIronic(t.Context()); !serves || err != nil {
		t.Errorf("the redirect of Ironic: %v, %v", serves, err)
	}
	own := services.Node(p, nil)
	own.Redirected = func() (bool, error) { return true, nil }
	if found, why := probes.New(own).Probe(t.Context(), vrrp.CheckLB); found != health.Passed {
		t.Errorf("the VIP's monitor: %v, %s", found, why)
	}
	if !asked["/haproxy_monitor"] || !asked["/haproxy_ready"] || !asked["/haproxy_ironic"] {
		t.Errorf("asked for %v", asked)
	}
}
