package handover

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/test/kubeapi"
	"github.com/onprem-infra/onprem-infra/test/lab"
	"github.com/onprem-infra/onprem-infra/test/need"
	"github.com/onprem-infra/onprem-infra/test/traffic"
)

// What the clients of the API do.
const (
	watches  = 50
	every    = 10 * time.Millisecond
	patience = time.Second // the clients, the API servers and other tests share two cores
	drain    = 15 * time.Second
)

// install is a cluster while it is being installed: an API server on the bootstrap machine and on
// each master, and clients elsewhere.
type install struct {
	*stage
	*machine
	servers map[string]*kubeapi.Server
	clients *lab.Host
	tls     *tls.Config
}

func newInstall(t *testing.T) *install {
	t.Helper()
	need.Command(t, "etcd")
	if err := kubeapi.Programs(t.Context()); err != nil {
		need.Missing(t, "needs kube-apiserver: "+err.Error())
	}
	s := newStage(t, 3)
	add := func(name, address string) *lab.Host {
		h, err := s.lab.Add(name, netip.MustParsePrefix(address+"/24"))
		if err != nil {
			t.Fatal(err)
		}
		return h
	}
	i := &install{stage: s, servers: map[string]*kubeapi.Server{}, clients: add("clients", "192.0.2.99")}
	cluster, err := kubeapi.Open(t.Context(), kubeapi.Config{
		Dir: t.TempDir(), Etcd: add("etcd", "192.0.2.2"), Address: netip.MustParseAddr("192.0.2.2"), Addresses: []netip.Addr{vip},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Close(); err != nil {
			t.Error(err)
		}
	})
	for _, r := range s.all() {
		server, err := cluster.Add(kubeapi.Server{Name: r.Name, Place: r.Host, Address: netip.AddrPortFrom(r.ip, 6443), ShutdownDelay: drain})
		if err != nil {
			t.Fatal(err)
		}
		if err := server.Launch(t.Context()); err != nil {
			t.Fatal(err)
		}
		i.servers[r.Name] = server
	}
	for _, server := range i.servers {
		if err := server.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	i.trust(cluster)
	i.machine = &machine{router: s.bootstrap, masters: s.masters, client: &http.Client{
		Transport: &http.Transport{DialContext: s.bootstrap.Dial, TLSClientConfig: i.tls, DisableKeepAlives: true},
	}}
	return i
}

// trust makes the clients known to the API, and the other way round.
func (i *install) trust(cluster *kubeapi.Cluster) {
	i.stage.Helper()
	id, err := cluster.Sign(kubeapi.Admin())
	if err != nil {
		i.Fatal(err)
	}
	cert, err := tls.X509KeyPair(id.Cert, id.Key)
	if err != nil {
		i.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(cluster.CA())
	i.tls = &tls.Config{RootCAs: pool, Certificates: []tls.Certificate{cert}}
}

// change changes an object that all watches follow, by an API server that stays.
func (i *install) change(ctx context.Context) {
	admin, path := i.servers["master-0"].Admin(), "/api/v1/namespaces/default/configmaps"
	object := &corev1.ConfigMap{}
	object.Name = "clock"
	if err := admin.Do(ctx, http.MethodPost, path, object, nil); err != nil && ctx.Err() == nil {
		i.Error(err)
	}
	for n := 0; ctx.Err() == nil; n++ {
		object.Data = map[string]string{"n": fmt.Sprint(n)}
		if err := admin.Do(ctx, http.MethodPut, path+"/clock", object, nil); err != nil && ctx.Err() == nil {
			i.Error(err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// TestLongClients holds the hand-over as its clients see it: the bootstrap's real API server
// announces its end, and no connection attempt is refused or late, only what was open at the
// instant of the move is cut, every watch is cut at once and is back within a second, and the VIP
// is on a master while the bootstrap's API still serves.
func TestLongClients(t *testing.T) {
	if !long() {
		t.Skip("not in the short run")
	}
	i := newInstall(t)
	i.startMasters(true)
	i.run(t)
	ctx, stop := context.WithCancel(t.Context())
	changing := make(chan struct{})
	go func() { defer close(changing); i.change(ctx) }()
	defer func() { stop(); <-changing }()
	i.ready()
	url := "https://" + netip.AddrPortFrom(vip, 6443).String()
	held := traffic.Watch(watches, i.clients.Dial, url+"/api/v1/namespaces/default/configmaps?watch=true", i.tls)
	defer held.Stop()
	for n := range repetitions() {
		i.once(n, url, held)
	}
}

// once is one hand-over and the way back.
func (i *install) once(n int, url string, held *traffic.Watches) {
	t := i.stage.T
	t.Helper()
	for end := time.Now().Add(30 * time.Second); held.Running() != watches; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("run %d: %d watches run", n, held.Running())
		}
	}
	probe := traffic.Probe(i.clients.Dial, url+"/readyz?exclude=shutdown", i.tls, every, patience)
	time.Sleep(2 * time.Second) // probes before the event, to compare with
	held.Forget()
	server := i.servers["bootstrap"]
	begin := time.Now()
	if err := server.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	m := i.moved(begin, i.masters()...)
	serving := server.PID() != 0 && m.took < drain
	i.judge(fmt.Sprintf("run %d", n), m, noise, briefly)
	i.router.until("gone", func(st supervised.Status) bool { return st.Leaving == supervised.Left })
	time.Sleep(2 * time.Second) // requests that the move cost are answered or lost by now
	requests := probe.Stop()
	breaks, silentFor := held.Report()
	i.orderly(n, begin, m, requests, breaks, silentFor)
	if !serving {
		t.Errorf("run %d: the VIP was on a master only after %s, when the bootstrap's API had ended", n, m.took)
	}
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	i.ready()
}

func (i *install) masters() []*router { return i.stage.masters }

// orderly is what targets of a hand-over say of its clients.
func (i *install) orderly(n int, begin time.Time, m move, requests traffic.Requests, breaks []traffic.Break, silentFor time.Duration) {
	i.stage.Helper()
	since, moved := requests.Since(begin), begin.Add(m.took)
	cut := since.With(traffic.Reset)
	longest := time.Duration(0)
	for _, r := range since.With(traffic.Served) {
		longest = max(longest, r.End.Sub(r.Start))
	}
	slowest := time.Duration(0)
	for _, b := range breaks {
		slowest = max(slowest, b.Back.Sub(b.At))
	}
	i.Logf("run %d: %s; %d watches cut, back after %s at most, silent for %s at most", n, since, len(breaks), slowest.Round(time.Millisecond), silentFor.Round(time.Millisecond))
	for _, r := range since.Unserved()[:min(len(since.Unserved()), 10)] {
		i.Logf("run %d: %s, begun %s after the move, ended %s after it: %v", n, r.Outcome, r.Start.Sub(moved).Round(time.Millisecond), r.End.Sub(moved).Round(time.Millisecond), r.Err)
	}
	if bad := since.With(traffic.Refused, traffic.Silent, traffic.Late, traffic.Failed); len(bad) != 0 {
		i.Errorf("run %d: not orderly: %s", n, bad)
	}
	// While two hold the VIP, each of their announcements is another instant at which it moves.
	if most := 1 + int((longest+m.both)/every); len(cut) > most {
		i.Errorf("run %d: %d requests were cut, want at most %d", n, len(cut), most)
	}
	if len(breaks) != watches || silentFor > time.Second+noise || slices.ContainsFunc(breaks, func(b traffic.Break) bool { return b.Back.IsZero() }) {
		i.Errorf("run %d: %d of %d watches were cut, silent for %s at most: %v", n, len(breaks), watches, silentFor, breaks)
	}
}
