// Package kubeapi runs a real Kubernetes API for a test: Debian's etcd, and any number of
// kube-apiservers upon it, each on a host of the lab or on this machine, with the certificates,
// kubeconfigs and authorization that a cluster has.
package kubeapi

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/test/cache"
	"github.com/onprem-infra/onprem-infra/test/owner"
)

// startWithin bounds the start of etcd and of an API server on a busy machine.
const startWithin = 90 * time.Second

// Config has the names and addresses of a cluster's API, and where its etcd runs.
type Config struct {
	Dir       string       // for certificates and logs; it must exist
	Etcd      Place        // nil is Here
	Address   netip.Addr   // of etcd, as the API servers reach it; without one it is the loopback
	Names     []string     // of the API, such as api-int.example.com; localhost is always one
	Addresses []netip.Addr // of the API, such as the VIPs; each server adds its own
}

// Cluster is one etcd, and the identity of the cluster whose state it stores.
type Cluster struct {
	config    Config
	authority *Authority
	accounts  Identity // signs the tokens of service accounts
	admin     Identity
	etcd      *process
	clients   netip.AddrPort // where etcd listens
	data      string         // etcd's, in memory
	servers   []*Server
}

// Open starts etcd. Nothing is served until a Server has started.
func Open(ctx context.Context, config Config) (*Cluster, error) {
	if config.Etcd == nil {
		config.Etcd = Here{}
	}
	c := &Cluster{config: config}
	var err error
	if c.authority, err = NewAuthority(); err != nil {
		return nil, err
	}
	if c.accounts, err = c.Sign(User{Name: "service accounts"}); err != nil {
		return nil, err
	}
	if c.admin, err = c.Sign(Admin()); err != nil {
		return nil, err
	}
	for name, content := range map[string][]byte{"ca.crt": c.CA(), "accounts.key": c.accounts.Key} {
		if err := os.WriteFile(c.path(name), content, 0o600); err != nil {
			return nil, err
		}
	}
	if err := c.startEtcd(ctx); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) path(name string) string { return filepath.Join(c.config.Dir, name) }

func (c *Cluster) startEtcd(ctx context.Context) error {
	ports := [2]uint16{2379, 2380}
	address := c.config.Address
	if !address.IsValid() {
		address = netip.AddrFrom4([4]byte{127, 0, 0, 1})
		for i := range ports {
			port, err := freePort()
			if err != nil {
				return err
			}
			ports[i] = port
		}
	}
	c.clients = netip.AddrPortFrom(address, ports[0])
	var err error
	if c.data, err = inMemory(c.config.Dir); err != nil {
		return err
	}
	url, peer := "http://"+c.clients.String(), "http://"+netip.AddrPortFrom(address, ports[1]).String()
	c.etcd, err = start(c.config.Etcd, c.path("etcd.log"), "/usr/bin/etcd", "--name=test", "--data-dir="+c.data,
		"--listen-client-urls="+url, "--advertise-client-urls="+url, "--listen-peer-urls="+peer, "--initial-advertise-peer-urls="+peer,
		"--initial-cluster=test="+peer, "--logger=zap", "--log-level=warn", "--snapshot-count=100000", "--quota-backend-bytes=8589934592")
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, startWithin)
	defer cancel()
	return c.etcd.await(ctx, c.etcdAnswers)
}

func (c *Cluster) etcdAnswers(ctx context.Context) error {
	conn, err := c.config.Etcd.Dial(ctx, "tcp", c.clients.String())
	if err != nil {
		return err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		return err
	}
	if _, err := fmt.Fprintf(conn, "GET /health HTTP/1.0\r\n\r\n"); err != nil {
		return err
	}
	status, err := bufio.NewReader(conn).ReadString('\n')
	if err == nil && !strings.Contains(status, " 200 ") {
		err = errors.New(strings.TrimSpace(status))
	}
	return err
}

// Close ends the API servers at once and etcd last, without which they would not end.
func (c *Cluster) Close() error {
	var errs []error
	for _, s := range c.servers {
		errs = append(errs, s.Kill())
	}
	if c.etcd != nil {
		errs = append(errs, c.etcd.kill())
	}
	if c.data != "" {
		errs = append(errs, os.RemoveAll(c.data))
	}
	return errors.Join(errs...)
}

// Programs builds missing programs. It may take minutes, so call it before a measurement begins.
func Programs(ctx context.Context) error {
	_, err := cache.KubeAPIServer(ctx)
	return err
}

// shm is a file system in memory. etcd waits for the disk at each write, and its state need not
// outlive a test.
const shm = "/dev/shm"

// inMemory makes a directory for etcd, in memory where that is possible. What killed tests left
// there goes.
func inMemory(otherwise string) (string, error) {
	const prefix = "onprem-etcd."
	self, err := owner.Self()
	if err != nil {
		return "", err
	}
	entries, err := os.ReadDir(shm)
	if err != nil {
		return os.MkdirTemp(otherwise, "etcd")
	}
	for _, e := range entries {
		if name, ours := strings.CutPrefix(e.Name(), prefix); ours && owner.Dead(name) {
			_ = os.RemoveAll(filepath.Join(shm, e.Name())) // another test may be faster
		}
	}
	return os.MkdirTemp(shm, prefix+self+".")
}

// freePort is a free port of the loopback. The kernel does not assign it again soon.
func freePort() (uint16, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer listener.Close()
	return netip.MustParseAddrPort(listener.Addr().String()).Port(), nil
}
