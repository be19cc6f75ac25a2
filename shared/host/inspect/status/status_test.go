package status_test

import (
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect/status"
	"github.com/onprem-infra/onprem-infra/shared/operator/judge"
	width "github.com/onprem-infra/onprem-infra/shared/operator/layout"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/provision"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/layout"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/fakehost"
)

// TestInspect holds that the report of a holder has who holds what, and why, and that the parts of
// a priority sum up to it.
func TestInspect(t *testing.T) {
	for _, timing := range []string{vrrp.ProfileLan, vrrp.ProfileCompat} {
		t.Run(timing, func(t *testing.T) {
			p := fakehost.Plan(t, timing)
			r := status.Inspect(t.Context(), fakehost.New(t, p, fakehost.Holder(p)))
			if len(r.VIPs) != 2 || len(r.Unseen) > 0 {
				t.Fatalf("%+v", r)
			}
			api, ingress := r.VIPs[0], r.VIPs[1]
			if !api.Here || !api.Holder.Self || api.State != supervised.Master ||
				api.Why != "no better router was observed" ||
				!api.Since.Equal(fakehost.Begin.Add(time.Minute)) ||
				api.Link != "ens3" {
				t.Errorf("api: %+v", api)
			}
			if ingress.Here || ingress.Holder.Self ||
				ingress.Holder.Address.String() != "192.0.2.12" ||
				ingress.State != supervised.Backup ||
				ingress.Why != "" ||
				len(ingress.Adverts) != 1 ||
				ingress.Adverts[0].AgeMs != 70 {
				t.Errorf("ingress: %+v", ingress)
			}
			for _, v := range r.VIPs {
				sum := 0
				for _, part := range v.Parts {
					if part.Counts {
						sum += part.Adds
					}
					if v.For == vrrp.API && part.Name == "unexplained" ||
						part.Name == string(vrrp.CheckMCS) && (part.Counts || part.Since.IsZero()) {
						t.Errorf("%s: %+v", v.Address, part)
					}
				}
				if sum != v.Priority || sum == 0 {
					t.Errorf(
						"%s: the parts sum up to %d, and the priority is %d: %+v", v.Address, sum,
						v.Priority, v.Parts)
				}
			}
			if len(r.Balancer) != 1 || r.Balancer[0].Sessions != 12 || r.Gate != "open" ||
				r.Daemon == nil ||
				r.Daemon.Restarts != 2 {
				t.Errorf("%+v, gate %q, keepalived %+v", r.Balancer, r.Gate, r.Daemon)
			}
			if len(r.Names) != 3 || !r.Names[0].Right || r.Names[2].Right {
				t.Errorf("%+v", r.Names)
			}
		})
	}
}

// TestInspect_DNSVIP holds that the DNS VIP is reported like the others, on a node and on the
// bootstrap machine.
func TestInspect_DNSVIP(t *testing.T) {
	c := spec.Cluster{
		Name:                 "ostest",
		BaseDomain:           "example.com",
		Platform:             spec.BareMetal,
		ControlPlaneReplicas: 3,
		Timing:               vrrp.ProfileLan,
		DNSVIP:               netip.MustParseAddr("192.0.2.7"),
		MachineNetworks: []netip.Prefix{
			netip.MustParsePrefix("192.0.2.0/24"),
		},
		APIVIPs:     []netip.Addr{netip.MustParseAddr("192.0.2.5")},
		IngressVIPs: []netip.Addr{netip.MustParseAddr("192.0.2.6")},
	}
	p, err := plan.Compile(c)
	if err != nil {
		t.Fatal(err)
	}
	scheme := p.VRRP.DNSNodes.Candidates()
	for _, tt := range []struct {
		name     string
		memory   string
		priority int
		want     []string
	}{
		{"a node", `{"open":true,"rank":"1"}`, int(scheme.Base) + scheme.Rank(1) + scheme.Holder + 120, []string{"base", "rank", "holder", "dns"}},
		{"the bootstrap machine", "", int(p.VRRP.DNSBootstrapPriority), []string{"bootstrap"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files := map[string]string{
				vip.AgreedDir + "/ipv4":                                          "192.0.2.11",
				election.TrackFile(vrrp.CheckDNS, false):                         "1\n",
				supervised.RunDir + "/" + supervised.HolderTrack("ostest_DNS_0"): "1\n",
				supervised.RunDir + "/" + supervised.StatusFile: string(
					supervised.Encode(
						supervised.Status{PID: 9, Instances: map[string]supervised.Instance{
							"ostest_DNS_0": {State: supervised.Master, Priority: tt.priority}}},
					),
				),
			}
			if tt.memory != "" {
				files[nodestate.Path] = tt.memory
			}
			host := fakehost.New(t, p, files)
			host.Neighbour = func(context.Context, string, netip.Addr) (addr.Neighbour, error) {
				return addr.Neighbour{Absent: true}, nil
			}
			r := status.Inspect(t.Context(), host)
			if len(r.VIPs) != 3 || r.VIPs[2].For != vrrp.DNS || r.VIPs[2].ID != p.VRRP.DNS.ID ||
				r.VIPs[2].State != supervised.Master {
				t.Fatalf("%+v", r.VIPs)
			}
			var parts []string
			for _, part := range r.VIPs[2].Parts {
				parts = append(parts, part.Name)
			}
			if !slices.Equal(parts, tt.want) {
				t.Errorf("%v make up %d, want %v", r.VIPs[2].Parts, tt.priority, tt.want)
			}
		})
	}
}

// TestInspect_StaleState holds that the state of a monitor that does not run any more is ignored,
// and that status then listens itself.
func TestInspect_StaleState(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	host := fakehost.New(t, p, fakehost.Monitored(p, fakehost.Holder(p)))
	host.Now = func() time.Time { return fakehost.Begin.Add(time.Hour + time.Minute) }
	r := status.Inspect(t.Context(), host)
	if len(r.Clashes) > 0 ||
		!slices.ContainsFunc(
			r.Unseen,
			func(u string) bool { return strings.Contains(u, "they were written 1m2s ago: no monitor runs here") },
		) {
		t.Errorf("clashes %+v, unseen %q", r.Clashes, r.Unseen)
	}
}

// TestVerdict_NotStarted holds that a node that should run keepalived and does not is degraded.
func TestVerdict_NotStarted(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	r := status.Inspect(
		t.Context(),
		fakehost.New(
			t, p, map[string]string{"/etc/kubernetes/manifests/haproxy.yaml": "kind: Pod\n"}),
	)
	if r.Verdict.Level != judge.Degraded ||
		r.Verdict.Why[0] != "keepalived has not been started on this host" {
		t.Errorf("%+v", r.Verdict)
	}
}

// TestInspect_Provisioning holds that a bootstrap machine reports the hosts that it installs, and is
// not healthy while one of them is blocked.
func TestInspect_Provisioning(t *testing.T) {
	blocked := progress.Encode(progress.Progress{Phase: progress.Ended, Hosts: []progress.Host{{Name: "master-1", Blocker: "its BMC is dead: replace it"}}})
	r := status.Inspect(t.Context(), fakehost.New(t, fakehost.Plan(t, vrrp.ProfileLan), map[string]string{layout.Progress: string(blocked)}))
	if r.Provisioning == nil || r.Verdict.Level == judge.OK || !slices.Contains(r.Verdict.Why, "host master-1 is not installed: its BMC is dead: replace it") {
		t.Errorf("%+v: %+v", r.Verdict, r.Provisioning)
	}
	if text := r.Text(width.Of(200)); !strings.Contains(text, "\nmaster-1: blocked: its BMC is dead") || !strings.Contains(text, "\nprovisioning: DHCP is off\n") {
		t.Error(text)
	}
}

// TestInspect_ProvisioningUnreported holds that a machine that is to install hosts is not healthy
// before its phase machine reports, and that each host of the plan has its line.
func TestInspect_ProvisioningUnreported(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	p.Provisioning = &provision.Plan{Hosts: []provision.Host{{Name: "master-0", Phase: provision.Bootstrap, BMC: "redfish://192.0.2.1"}, {Name: "worker-0", Phase: provision.Cluster, BMC: "redfish://192.0.2.2"}}}
	r := status.Inspect(t.Context(), fakehost.New(t, p, map[string]string{layout.Hosts: "{}"}))
	text := r.Text(width.Of(200))
	if !strings.Contains(text, "\nmaster-0: waiting for the first report of its phase machine\n") || strings.Contains(text, "worker-0") ||
		!slices.ContainsFunc(r.Verdict.Why, func(why string) bool { return strings.HasPrefix(why, "provisioning does not go on: ") }) {
		t.Errorf("%+v\n%s", r.Verdict, text)
	}
}

// TestInspect_Concurrent holds that status takes as long as the slowest of its questions, where
// nothing answers any.
func TestInspect_Concurrent(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	files := fakehost.Holder(p)
	synctest.Test(t, func(t *testing.T) {
		host := fakehost.New(t, p, files)
		host.Links = func() (addr.Snapshot, error) {
			own := []addr.Address{{Prefix: netip.MustParsePrefix("192.0.2.11/24")}}
			return addr.Snapshot{
				Links: []addr.Link{{Index: 2, Name: "ens3", Up: true, Addresses: own}},
			}, nil
		}
		host.Neighbour = func(ctx context.Context, _ string, _ netip.Addr) (addr.Neighbour, error) {
			<-ctx.Done()
			return addr.Neighbour{Absent: true}, nil
		}
		host.Adverts = func(ctx context.Context, _ string, _ func(capture.Received)) error {
			<-ctx.Done()
			return nil
		}
		host.Backends = func(ctx context.Context) ([]haproxy.Stat, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		host.Lookup = func(ctx context.Context, _ string) ([]netip.Addr, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		begin := time.Now()
		r := status.Inspect(t.Context(), host)
		if took := time.Since(begin); took != inspect.Timeout {
			t.Errorf("took %v", took)
		}
		if r.Verdict.Level != judge.Down || len(r.Verdict.Why) < 2 {
			t.Errorf("%+v", r.Verdict)
		}
	})
}

// TestInspect_Workers holds that hosts that the cluster provisions are reported where its API was
// asked, that one with an error is in the verdict and names what to do, and that an API that does not
// answer costs nothing else.
func TestInspect_Workers(t *testing.T) {
	p := fakehost.Plan(t, vrrp.ProfileLan)
	host := fakehost.New(t, p, fakehost.Holder(p))
	asked := host.Now()
	worker := func(name, state string) workers.Host {
		return workers.Host{Host: scale.Host{Name: name, State: state, On: true}, Inspect: workers.Operation{Start: asked.Add(-4 * time.Minute)}}
	}
	broken := worker("worker-2", "inspecting")
	broken.Fault, broken.Problem, broken.Failures = "inspection error", "timeout", 1
	host.Workers = func(_ context.Context, now time.Time) (workers.World, error) {
		if !now.Equal(asked) {
			t.Errorf("asked at %v", now)
		}
		return workers.World{Ironic: workers.Ironic{Ready: true}, Hosts: []workers.Host{worker("worker-0", "provisioned"), worker("worker-1", "inspecting"), broken},
			Nodes: []workers.Node{{Name: "worker-0", Ready: true}}, Unread: []string{"host worker-9: no time"}}, nil
	}
	r := status.Inspect(t.Context(), host)
	text := r.Text(width.Of(200))
	for _, want := range []string{"\nworkers: the handover is done, 3 of 3 hosts are released\n", "\nworkers: 1 of 3 hosts have joined\n", "\nworker-1: being inspected, 4 m of 30 m; power on\n",
		"\nworker-2: being inspected, 4 m; power on; attempt 1 failed: timeout\n", "\nworker-2: to do: see its console", "\nnot seen: hosts that the cluster provisions: host worker-9: no time\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if r.Verdict.Level != judge.Degraded || !slices.ContainsFunc(r.Verdict.Why, func(why string) bool {
		return strings.HasPrefix(why, "host worker-2 is not installed: inspection error: timeout: see its console")
	}) {
		t.Errorf("%+v", r.Verdict)
	}
	var typed struct{ Workers *workers.Report }
	if line, err := json.Marshal(r); err != nil || json.Unmarshal(line, &typed) != nil || typed.Workers == nil || typed.Workers.Hosts[0].Step != workers.Inspecting ||
		!typed.Workers.Hosts[0].Deadline.Equal(asked.Add(26*time.Minute)) || typed.Workers.Hosts[1].ErrorType != "inspection error" || typed.Workers.Handover.Phase != workers.Done {
		t.Errorf("%s, %v", line, err)
	}

	host.Workers = func(context.Context, time.Time) (workers.World, error) {
		return workers.World{}, errors.New("forbidden")
	}
	r = status.Inspect(t.Context(), host)
	if text := r.Text(width.Of(200)); r.Workers != nil || strings.Contains(text, "workers:") || !strings.Contains(text, "\nnot seen: hosts that the cluster provisions: forbidden\n") {
		t.Errorf("%s", text)
	}
	host.Workers = nil
	if r = status.Inspect(t.Context(), host); r.Workers != nil || strings.Contains(strings.Join(r.Unseen, "\n"), "hosts that") {
		t.Errorf("not asked for: %+v", r)
	}
}
