package chain

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// Master stands in for a control plane node: real keepalived with the configuration that such a node has today, on which every check
// always passes. So it announces the highest priority that it ever can.
type Master struct {
	*lab.Host
	ip     netip.Addr
	dir    string
	daemon *exec.Cmd
	done   chan struct{}
}

func newMaster(host *lab.Host, i int, dir string) *Master {
	return &Master{Host: host, ip: masterIPs[i], dir: dir}
}

// config is today's API instance: unicast, the peers are the other masters, and the bootstrap machine is not among them.
func (m *Master) config(id vrrp.ID) keepalived.Config {
	c := keepalived.Config{}
	policy := vrrp.Compat().ControlPlane
	instance := keepalived.Instance{
		Name: Cluster + "_API_0", Interface: "eth0", ID: id, Version: vrrp.VersionFor(APIVIP), Priority: policy.Base,
		Advert: time.Second, Source: m.ip, AuthPass: vrrp.CompatAuth(Cluster, vrrp.API), VIP: APIVIP,
	}
	for _, ip := range masterIPs {
		if ip != m.ip {
			instance.Peers = append(instance.Peers, ip)
		}
	}
	for _, w := range policy.Weights {
		c.Checks = append(c.Checks, keepalived.Check{
			Name: w.Check, Command: "/bin/true", Interval: 2 * time.Second, Timeout: 1900 * time.Millisecond, Rise: 3, Fall: 3, Weight: w.Adds,
		})
		instance.Checks = append(instance.Checks, w.Check)
	}
	c.Instances = []keepalived.Instance{instance}
	return c
}

// Start runs keepalived. A real node does so half a minute after the API lists it and another one.
func (m *Master) Start(ctx context.Context) error {
	id, _, err := vrrp.IDs(Cluster)
	if err != nil {
		return err
	}
	base := filepath.Join(m.dir, m.Name)
	if err := os.WriteFile(base+".conf", keepalived.Render(m.config(id)), 0o644); err != nil {
		return err
	}
	log, err := os.Create(base + ".log")
	if err != nil {
		return err
	}
	defer log.Close()
	m.daemon = m.Command(context.WithoutCancel(ctx), "keepalived", "-n", "-l", "-D", "-P", "-f", base+".conf", "-p", base+".pid", "-r", base+".vrrp.pid")
	m.daemon.Stdout, m.daemon.Stderr = log, log
	if err := m.daemon.Start(); err != nil {
		return fmt.Errorf("start keepalived on %s: %w", m.Name, err)
	}
	m.done = make(chan struct{})
	go func() {
		defer close(m.done)
		_ = m.daemon.Wait() // how it ended is in its log
	}()
	return nil
}

// Stop ends keepalived in order. It does nothing if keepalived does not run.
func (m *Master) Stop(ctx context.Context) error {
	if m.done == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	err := m.daemon.Process.Signal(syscall.SIGTERM)
	select {
	case <-m.done:
		err = nil
	case <-ctx.Done():
		err = fmt.Errorf("stop keepalived on %s: %w", m.Name, ctx.Err())
	}
	m.done = nil
	return err
}

// Log is what its keepalived said.
func (m *Master) Log() string {
	text, err := os.ReadFile(filepath.Join(m.dir, m.Name+".log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// IP is the node's own address.
func (m *Master) IP() string { return m.ip.String() }
