package life

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/onprem-infra/onprem-infra/cluster"
	"github.com/onprem-infra/onprem-infra/cluster/haproxy"
	"github.com/onprem-infra/onprem-infra/cluster/vip/nodestate"
	hostinspect "github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/operator/doctor"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// configurations are what our monitors write by what they know of the cluster.
var configurations = []string{hostinspect.KeepalivedConf, haproxy.File, corednsFile}

// onlyKnown is what keepalived's configuration has for a VIP whose routers are all known.
var onlyKnown = regexp.MustCompile(`\n +check_unicast_src| min_ttl 255`)

// TestLongRights takes each right of a control plane node away from the nodes of a cluster, and has
// one node's monitors start anew, which lack it from their first request on: doctor names it and
// nothing else there, and each daemon keeps its configuration, except that a node which cannot read
// Nodes accepts adverts of unknown routers. No VIP moves and no client waits. A node that has never known another
// one takes no VIP without the right to read Nodes.
func TestLongRights(t *testing.T) {
	needLong(t)
	c := newClinic(t)
	c.must(c.recovers(t.Context()))
	for _, n := range c.Nodes {
		c.must(Until(t.Context(), 3*time.Minute, n.strict))
	}
	crowd := c.attend(2 * time.Second)
	for _, r := range cluster.RightsOf(c.Plan, role.Master) {
		t.Run(r.String(), func(t *testing.T) { c.without(t, crowd, r) })
	}
}

func (c *clinic) without(t *testing.T, crowd *Crowd, r cluster.Right) {
	c.roles()
	n, begin, before := c.other, time.Now(), c.other.configured(t)
	crowd.Probes.Forget()
	restore, err := c.withhold(r)
	c.must(err)
	defer func() {
		if err := restore(); err != nil {
			t.Errorf("restore it: %v", err)
		}
		if err := c.recovers(context.Background()); err != nil {
			t.Errorf("afterwards %v", err)
		}
	}()
	for _, monitor := range []string{KeepalivedMonitor, HAProxyMonitor, CoreDNSMonitor} {
		c.must(n.SignalAll(monitor, syscall.SIGTERM))
	}
	var last error
	for end := time.Now().Add(15 * time.Second); time.Now().Before(end); { // the last one counts
		last = n.lacks(t.Context(), r)
	}
	if last != nil {
		t.Error(last)
	}
	// A node that has read no Nodes since its start does not take what it knows for all routers.
	if nodes := r.Resource == "nodes"; nodes != (n.strict() != nil) {
		t.Errorf("adverts of unknown routers: %v", n.strict())
	}
	if after := n.configured(t); !slices.Equal(after, before) {
		t.Errorf("the configurations changed:\n%s\nbecame\n%s", before, after)
	}
	for _, span := range c.Report().Spans {
		if span.To.After(begin) && !slices.Equal(span.Holders, []string{c.holder.Name}) {
			t.Errorf("the VIP was held by %v for %v", span.Holders, span.Length())
		}
	}
	requests := crowd.Probes.So()
	if lost := requests.Unserved(); len(lost) > 0 || len(requests) < 500 {
		t.Errorf("%s", requests)
	}
	t.Logf("%s: %d requests, the VIP stays; doctor: without it %s", n.Name, len(requests), r.Without)
	if r.Resource == "nodes" {
		c.bootsWithout(t, c.third, r, restore)
	}
}

// strict reports that the node accepts adverts of unknown routers: it has read no Nodes since its
// start, or a bootstrap machine may still be there.
func (n *Node) strict() error {
	text, err := os.ReadFile(filepath.Join(n.Root, hostinspect.KeepalivedConf))
	if err == nil && strings.Count(string(text), "check_unicast_src") < 2 {
		err = fmt.Errorf("%s accepts adverts of unknown routers", n.Name)
	}
	return err
}

// bootsWithout boots a node while nodes may not read Nodes, and gives them the right then. The node
// does not know of an earlier run which routers there are.
func (c *clinic) bootsWithout(t *testing.T, n *Node, r cluster.Right, restore func() error) {
	c.must(n.CutPower())
	for _, path := range []string{hostinspect.KeepalivedConf, nodestate.Path} {
		c.must(os.Remove(filepath.Join(n.Root, path)))
	}
	c.must(n.Boot(t.Context()))
	names := func() error {
		missing, err := os.ReadFile(filepath.Join(n.Root, supervised.RunDir, hostinspect.RightsFile))
		if err == nil && !strings.Contains(string(missing), r.String()) {
			err = fmt.Errorf("%s lacks %s", n.Name, missing)
		}
		return err
	}
	c.must(Until(t.Context(), time.Minute, names))
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(sample) {
		if status, err := n.Status(); err != nil || len(status.Instances) > 0 {
			t.Fatalf("%s has a part in an election and knows no node: %+v, %v", n.Name, status, err)
		}
	}
	c.must(restore())
	begin := time.Now()
	c.must(Until(t.Context(), time.Minute, n.Candidate))
	t.Logf("%s may take the VIP %v after it has the right", n.Name, time.Since(begin).Round(time.Second))
}

// lacks reports why doctor finds anything but one missing right.
func (n *Node) lacks(ctx context.Context, r cluster.Right) error {
	got, err := n.doctor(ctx)
	if err == nil && (len(got.Findings) != 1 || got.Findings[0].Check != doctor.CheckRights ||
		got.Findings[0].Subject != "the right of this node's kubelet to "+r.String()) {
		err = fmt.Errorf("on %s:\n%s", n.Name, got)
	}
	return err
}

// configured are the texts of the configurations without onlyKnown.
func (n *Node) configured(t *testing.T) (texts []string) {
	t.Helper()
	for _, path := range configurations {
		text, err := os.ReadFile(filepath.Join(n.Root, path))
		if err != nil {
			t.Fatal(err)
		}
		texts = append(texts, onlyKnown.ReplaceAllString(string(text), ""))
	}
	return texts
}

// withhold takes a right from all nodes until restore.
func (c *clinic) withhold(r cluster.Right) (restore func() error, err error) {
	path := paths["ClusterRole"]
	if r.Namespace != "" {
		path = fmt.Sprintf(paths["Role"], r.Namespace)
	}
	path += "/onprem-infra-nodes"
	admin := c.holder.API.Admin()
	var all rbacv1.ClusterRole // a Role has the same fields
	if err := admin.Do(c.Context(), http.MethodGet, path, nil, &all); err != nil {
		return nil, err
	}
	all.ResourceVersion = "" // it may be replaced whatever it is then
	less := all
	less.Rules = slices.DeleteFunc(slices.Clone(all.Rules), func(one rbacv1.PolicyRule) bool {
		return slices.Contains(one.Resources, r.Resource) && slices.Equal(one.ResourceNames, r.Names) && slices.Equal(one.Verbs, r.Verbs)
	})
	if len(less.Rules) != len(all.Rules)-1 {
		return nil, fmt.Errorf("%s has no rule of its own for %s: %+v", path, r, all.Rules)
	}
	restore = func() error { return admin.Do(context.Background(), http.MethodPut, path, all, nil) }
	return restore, admin.Do(c.Context(), http.MethodPut, path, less, nil)
}
