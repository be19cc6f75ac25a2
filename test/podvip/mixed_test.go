package podvip

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"text/template"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/test/lab"
)

// todays is the configuration that a control plane node of today's OpenShift has, by the figures of
// its Machine Config Operator: scripts with weights, preemption, unicast peers.
var todays = template.Must(template.New("").Parse(`global_defs {
    enable_script_security
    script_user root
    max_auto_priority -1
    vrrp_garp_master_refresh 60
}
vrrp_script chk_ocp_lb {
    script "/usr/bin/timeout 1.9 {{.Dir}}/lb"
    interval 2
    weight 20
    rise 3
    fall 3
}
vrrp_script chk_ocp_both {
    script "/usr/bin/timeout 1.9 {{.Dir}}/both"
    interval 2
    weight 5
    rise 3
    fall 3
}
vrrp_script chk_mcs {
    script "/usr/bin/timeout 1.9 /bin/false"
    interval 2
    weight 3
    rise 3
    fall 3
}
vrrp_script chk_ingress {
    script "/usr/bin/timeout 0.9 /bin/false"
    interval 1
    rise 3
    fall 2
}
vrrp_instance ostest_API_0 {
    state BACKUP
    interface eth0
    virtual_router_id {{.API}}
    priority 40
    advert_int 1
    unicast_src_ip {{.Own}}
    unicast_peer {
{{- range .Peers}}
        {{.}}
{{- end}}
    }
    authentication {
        auth_type PASS
        auth_pass {{.APIAuth}}
    }
    virtual_ipaddress {
        {{.VIP}}/32 label vip
    }
    track_script {
        chk_ocp_lb
        chk_ocp_both
        chk_mcs
    }
}
vrrp_instance ostest_INGRESS_0 {
    state BACKUP
    interface eth0
    virtual_router_id {{.Ingress}}
    priority 20
    advert_int 1
    unicast_src_ip {{.Own}}
    unicast_peer {
{{- range .Peers}}
        {{.}}
{{- end}}
    }
    authentication {
        auth_type PASS
        auth_pass {{.IngressAuth}}
    }
    virtual_ipaddress {
        192.0.2.6/32 label vip
    }
    track_script {
        chk_ingress
    }
}
`))

// served is whether the node's balancer serves, as today's script asks, by the shell's own sockets.
const served = `#!/bin/bash
exec 3<>/dev/tcp/127.0.0.1/9444 || exit 1
printf 'GET /haproxy_ready HTTP/1.0\r\n\r\n' >&3
read -r _ status _ <&3 && [ "$status" = 200 ]
`

// former is a node that still has today's layout: keepalived and its scripts, and nothing of ours.
type former struct {
	*node
	cmd *exec.Cmd
	log string
}

// startFormer runs keepalived as today's static pod does.
func (l *lan) startFormer(n *node, own string, peers []string) *former {
	l.t.Helper()
	// keepalived runs no script below a directory that others may write, as that of tests is.
	dir, err := os.MkdirTemp("/var/lib", "onprem-former.")
	if err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() { os.RemoveAll(dir) })
	var config strings.Builder
	if err := todays.Execute(&config, map[string]any{
		"Dir": dir, "API": l.plan.VRRP.API.ID, "Ingress": l.plan.VRRP.Ingress.ID, "Own": own, "Peers": peers, "VIP": apiVIP,
		"APIAuth": vrrp.CompatAuth("ostest", vrrp.API), "IngressAuth": vrrp.CompatAuth("ostest", vrrp.Ingress),
	}); err != nil {
		l.t.Fatal(err)
	}
	for name, text := range map[string]string{"lb": served, "both": served, "keepalived.conf": config.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), map[bool]os.FileMode{true: 0o644, false: 0o755}[name == "keepalived.conf"]); err != nil {
			l.t.Fatal(err)
		}
	}
	f := &former{node: n, log: filepath.Join(dir, "log")}
	log, err := os.Create(f.log)
	if err != nil {
		l.t.Fatal(err)
	}
	defer log.Close()
	f.cmd = n.Host.Contained(context.WithoutCancel(l.t.Context()), "keepalived", "-n", "-l", "-D", "-P", "-f", filepath.Join(dir, "keepalived.conf"),
		"-p", filepath.Join(dir, "pid"), "-r", filepath.Join(dir, "vrrp.pid"))
	f.cmd.Stdout, f.cmd.Stderr = log, log
	if err := f.cmd.Start(); err != nil {
		l.t.Fatal(err)
	}
	l.t.Cleanup(func() {
		f.end()
		if text, err := os.ReadFile(f.log); err == nil && l.t.Failed() {
			l.t.Logf("today's keepalived of %s:\n%s", n.Host.Name, text)
		}
	})
	return f
}

// end ends keepalived in order, as kubelet does before a node reboots.
func (f *former) end() {
	if f.cmd.ProcessState != nil {
		return
	}
	_ = f.cmd.Process.Signal(syscall.SIGTERM) // it may have ended by itself
	_ = f.cmd.Wait()                          // how it ended is in its log
}

// TestMixed has a cluster of four control plane nodes, two of them with today's layout and two with
// ours in compat, go over to ours node by node, the holder of the VIP among them, and then to lan.
// In each step the VIP has one holder: never two for longer than an advert takes, and never none for
// longer than it takes to notice that a holder is gone.
func TestMixed(t *testing.T) {
	t.Parallel() // it has a network of its own, and waits most of the time
	l := open(t, vrrp.ProfileCompat)
	l.monitor = []string{"--migrate-every=" + migrateEvery.String(), "--migrate-lead=" + migrateLead.String()}
	var hosts []*lab.Host
	var addresses []string
	for i := range 4 {
		n := l.node(i+1, role.Master)
		n.balancer.Store(&balancer{up: true, check: "L7OK"})
		hosts, addresses = append(hosts, n.Host), append(addresses, fmt.Sprintf("%s%d", l.network, 11+i))
	}
	observer, err := lab.Observe(netip.MustParseAddr(apiVIP), 5*time.Millisecond, hosts...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { observer.Stop() })
	others := func(i int) []string { return slices.Delete(slices.Clone(addresses), i, i+1) }
	formers := []*former{l.startFormer(l.nodes[0], addresses[0], others(0)), l.startFormer(l.nodes[3], addresses[3], others(3))}
	held := func(what string) {
		t.Helper()
		l.until(what+": one node holds the VIP", 20*time.Second, func() bool { return len(observer.Holders()) == 1 })
		time.Sleep(5 * time.Second) // a better one would preempt
		if holders := observer.Holders(); len(holders) != 1 {
			t.Fatalf("%s: held by %v", what, holders)
		}
		t.Logf("%s: held by %v", what, observer.Holders())
	}
	held("today's nodes alone")
	from := len(observer.Report().Spans)
	for _, n := range l.nodes[1:3] {
		n.end()
		n.start()
		l.until(n.Host.Name+" advertises its health", 30*time.Second, func() bool { return n.priority() == full })
		held(n.Host.Name + " is ours")
	}
	for _, f := range formers {
		f.end()
		l.until("the VIP goes on without "+f.Host.Name, 20*time.Second, func() bool { return len(observer.Holders()) == 1 && observer.Holders()[0] != f.Host.Name })
		f.node.end()
		f.start()
		l.until(f.Host.Name+" advertises its health", 30*time.Second, func() bool { return f.priority() == full })
		held(f.Host.Name + " is ours")
	}
	g := &rollout{T: t, lan: l, observer: observer}
	g.judge("node by node", from, 0, observer.Holders())
	g.over(today, lanUnicast)
}
