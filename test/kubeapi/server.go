package kubeapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/test/cache"
)

// Server is a kube-apiserver. It can be started again after any end.
type Server struct {
	Name          string
	Place         Place          // nil is Here
	Address       netip.AddrPort // by which other hosts reach it; it listens on all addresses of Place, of Here on this one alone
	ShutdownDelay time.Duration  // between SIGTERM and the last connection that it accepts
	Audit         bool           // whether it logs each request, for Requests
	Flags         []string       // further ones

	cluster *Cluster
	process *process
	client  *Client
}

// Add prepares a server of the cluster. Address may be zero for one that runs Here: it gets a free
// port of the loopback.
func (c *Cluster) Add(s Server) (*Server, error) {
	s.cluster = c
	if s.Place == nil {
		s.Place = Here{}
	}
	if !s.Address.IsValid() {
		port, err := freePort()
		if err != nil {
			return nil, err
		}
		s.Address = netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), port)
	}
	id, err := c.authority.Server(c.config.Names, append(c.config.Addresses[:len(c.config.Addresses):len(c.config.Addresses)], s.Address.Addr()))
	if err != nil {
		return nil, err
	}
	if s.client, err = c.Client(&s, c.admin); err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{".crt": id.Cert, ".key": id.Key, ".audit.yaml": []byte(auditPolicy)} {
		if err := os.WriteFile(s.path(name), content, 0o600); err != nil {
			return nil, err
		}
	}
	c.servers = append(c.servers, &s)
	return &s, nil
}

func (s *Server) path(end string) string { return s.cluster.path(s.Name + end) }

// URL is by which other hosts reach it.
func (s *Server) URL() string { return "https://" + s.Address.String() }

// Start runs the server and returns when it is ready.
func (s *Server) Start(ctx context.Context) error {
	if err := s.Launch(ctx); err != nil {
		return err
	}
	return s.Ready(ctx)
}

// Launch runs the server and does not wait for it.
func (s *Server) Launch(ctx context.Context) error {
	if s.process != nil && s.process.running() {
		return fmt.Errorf("%s runs already", s.Name)
	}
	program, err := cache.KubeAPIServer(ctx)
	if err != nil {
		return err
	}
	s.process, err = start(s.Place, s.path(".log"), program, s.flags()...)
	return err
}

// Ready waits until the server reports that it is ready.
func (s *Server) Ready(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	return s.process.await(ctx, func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
		return s.client.Do(ctx, http.MethodGet, "/readyz", nil, nil)
	})
}

func (s *Server) flags() []string {
	bind, advertise := "::", s.Address.Addr().String()
	if s.Address.Addr().IsLoopback() {
		bind, advertise = advertise, "192.0.2.1" // no client uses it, but it must not be a loopback address
	}
	flags := []string{
		"--etcd-servers=http://" + s.cluster.clients.String(), "--bind-address=" + bind, "--advertise-address=" + advertise,
		fmt.Sprintf("--secure-port=%d", s.Address.Port()), "--endpoint-reconciler-type=none",
		"--tls-cert-file=" + s.path(".crt"), "--tls-private-key-file=" + s.path(".key"), "--client-ca-file=" + s.cluster.path("ca.crt"),
		"--service-account-issuer=https://kubernetes.default.svc", "--service-account-key-file=" + s.cluster.path("accounts.key"),
		"--service-account-signing-key-file=" + s.cluster.path("accounts.key"), "--service-cluster-ip-range=172.30.0.0/16",
		"--authorization-mode=Node,RBAC", "--enable-admission-plugins=NodeRestriction", "--allow-privileged=true", "--profiling=false",
		fmt.Sprintf("--shutdown-delay-duration=%s", s.ShutdownDelay),
	}
	if s.Audit {
		flags = append(flags, "--audit-policy-file="+s.path(".audit.yaml"), "--audit-log-path="+s.path(".audit"), "--audit-log-mode=blocking")
	}
	return append(flags, s.Flags...)
}

// PID is the server's process, 0 when it does not run.
func (s *Server) PID() int {
	if s.process == nil || !s.process.running() {
		return 0
	}
	return s.process.cmd.Process.Pid
}

// Signal sends SIGSTOP, SIGCONT, SIGTERM or another signal and waits for nothing.
func (s *Server) Signal(signal syscall.Signal) error {
	if s.PID() == 0 {
		return fmt.Errorf("%s does not run", s.Name)
	}
	return s.process.cmd.Process.Signal(signal)
}

// Done is closed when the server has ended.
func (s *Server) Done() <-chan struct{} { return s.process.done }

// Stop ends the server in order: it waits out ShutdownDelay and what the server needs beyond that.
func (s *Server) Stop() error {
	if s.PID() == 0 {
		return nil
	}
	return s.process.end(s.ShutdownDelay + 70*time.Second)
}

// Kill ends the server at once.
func (s *Server) Kill() error {
	if s.PID() == 0 {
		return nil
	}
	return s.process.kill()
}

// Log is the end of what the server wrote.
func (s *Server) Log() string {
	if s.process == nil {
		return ""
	}
	return s.process.tail()
}

// auditPolicy logs each request once, when it is answered, and a watch when it begins.
const auditPolicy = `apiVersion: audit.k8s.io/v1
kind: Policy
rules: [{level: Metadata}]
`

// Requests are the requests of a user so far, as "VERB URI", oldest first.
func (s *Server) Requests(user string) ([]string, error) {
	if !s.Audit {
		return nil, errors.New("the server writes no audit log")
	}
	text, err := os.ReadFile(s.path(".audit"))
	if err != nil {
		return nil, err
	}
	return audited(text, user)
}
