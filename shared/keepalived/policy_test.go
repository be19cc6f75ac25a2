package keepalived

import (
	"fmt"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
	"github.com/onprem-infra/onprem-infra/shared/vrrp/proof"
)

// read is an election as a configuration's text describes it, without a look at what it was made
// from.
type read struct {
	base    int
	weights map[string]int // by script, 0 for one that takes the node out
	sum     int
}

func readElection(t *testing.T, conf section, instance string) read {
	t.Helper()
	block := conf.instance(t, instance)
	got := read{base: block.number(t, "priority"), weights: map[string]int{}}
	got.sum = got.base
	if !block.has("track_script") {
		return got
	}
	for _, words := range block.block(t, "track_script").words {
		if len(words) != 1 {
			t.Errorf("%s tracks %q: the weight stands at the script", instance, words)
		}
		weight, script := 0, conf.block(t, "vrrp_script", words[0])
		if script.has("weight") {
			weight = script.number(t, "weight")
		}
		got.weights[words[0]] = weight
		got.sum += weight
	}
	return got
}

func (r read) hold(t *testing.T, c vrrp.Candidates) {
	t.Helper()
	if r.base != int(c.Base) || len(r.weights) != len(c.Weights) || r.sum != int(c.Highest()) {
		t.Errorf("the text says base %d, %d checks, at most %d; the policy %d, %d, %d", r.base, len(r.weights), r.sum, c.Base, len(c.Weights), c.Highest())
	}
	for _, w := range c.Weights {
		if weight, ok := r.weights[string(w.Check)]; !ok || weight != w.Adds || (weight == 0) != w.Fault {
			t.Errorf("check %s weighs %d in the text (tracked: %t), %d in the policy (fault: %t)", w.Check, weight, ok, w.Adds, w.Fault)
		}
	}
}

// TestPolicy holds the text against the policy, and against the one rule that keeps the VIP where
// the API is while a cluster is installed.
func TestPolicy(t *testing.T) {
	policy := vrrp.Compat()
	if _, err := proof.Prove(policy); err != nil {
		t.Fatal(err)
	}
	api, ingress, err := vrrp.IDs("ostest")
	if err != nil {
		t.Fatal(err)
	}
	node := parseConf(t, Render(master()))
	onNode := readElection(t, node, "ostest_API_0")
	onNode.hold(t, policy.ControlPlane)
	readElection(t, node, "ostest_INGRESS_0").hold(t, policy.Ingress)
	if got := node.instance(t, "ostest_INGRESS_0"); got.number(t, "virtual_router_id") != int(ingress) {
		t.Errorf("the ingress VIP has VRID %s, want %d", got.value(t, "virtual_router_id"), ingress)
	}
	for name, config := range goldens() {
		for _, i := range config.Instances {
			if i.Priority != policy.Bootstrap {
				continue // a cluster node's
			}
			conf := parseConf(t, Render(config))
			got, block := readElection(t, conf, string(i.Name)), conf.instance(t, string(i.Name))
			if got.base != int(policy.Bootstrap) || len(got.weights) != 0 {
				t.Errorf("%s: %s starts from %d with %d checks, the policy from %d without any", name, i.Name, got.base, len(got.weights), policy.Bootstrap)
			}
			if onNode.sum >= got.base {
				t.Errorf("%s: %s: a node reaches %d, the bootstrap machine has %d", name, i.Name, onNode.sum, got.base)
			}
			same := node.instance(t, "ostest_API_0")
			if id := block.value(t, "virtual_router_id"); id != fmt.Sprint(api) || id != same.value(t, "virtual_router_id") {
				t.Errorf("%s: %s has VRID %s, want %d as on the nodes", name, i.Name, id, api)
			}
			if pass := "authentication"; block.has(pass) && block.block(t, pass).value(t, "auth_pass") != same.block(t, pass).value(t, "auth_pass") {
				t.Errorf("%s: %s: the password is not the nodes'", name, i.Name)
			}
		}
	}
}

// TestConduct holds what every instance does whatever it is made for.
func TestConduct(t *testing.T) {
	for name, config := range goldens() {
		conf := parseConf(t, Render(config))
		for _, i := range config.Instances {
			block := conf.instance(t, string(i.Name))
			if block.value(t, "state") != "BACKUP" || block.has("nopreempt") || block.has("strict_mode") {
				t.Errorf("%s: %s is not a BACKUP that preempts: %+v", name, i.Name, block)
			}
			if vips := block.block(t, "virtual_ipaddress").words; len(vips) != 1 {
				t.Errorf("%s: %s carries %q, want one VIP", name, i.Name, vips)
			}
			if (block.value(t, "version") == "3") && block.has("authentication") {
				t.Errorf("%s: %s: VRRPv3 has no password", name, i.Name)
			}
		}
		if global := conf.block(t, "global_defs"); global.number(t, "vrrp_garp_master_refresh") != 60 || global.number(t, "vrrp_garp_master_delay") != 1 || global.value(t, "vrrp_higher_prio_send_advert") != "true" || global.number(t, "max_auto_priority") != -1 {
			t.Errorf("%s: %+v", name, global)
		}
	}
}

// TestLeave holds that a router which leaves sinks below every other one, whatever it started from
// and gained.
func TestLeave(t *testing.T) {
	policy := vrrp.Compat()
	top := max(int(policy.Bootstrap), int(policy.ControlPlane.Highest()), int(policy.Ingress.Highest()))
	for name, config := range goldens() {
		if config.Leave == "" {
			continue
		}
		conf := parseConf(t, Render(config))
		file := conf.block(t, "track_file", "leave")
		if file.value(t, "file") != leave || top+file.number(t, "weight") > int(vrrp.MinPriority) || file.number(t, "weight") <= -254 {
			t.Errorf("%s: %+v leaves a priority of %d, or makes FAULT of it", name, file, top)
		}
		for _, i := range config.Instances {
			if i.Grouped {
				continue
			}
			tracks := conf.instance(t, string(i.Name)).block(t, "track_file").words
			if len(tracks) != 1+len(i.Tracks) || tracks[0][0] != "leave" {
				t.Errorf("%s: %s tracks %q", name, i.Name, tracks)
			}
		}
		for _, g := range config.Groups {
			tracks := conf.block(t, "vrrp_sync_group", string(g.Name)).block(t, "track_file").words
			if len(tracks) != 1+len(g.Tracks) || tracks[0][0] != "leave" {
				t.Errorf("%s: %s tracks %q", name, g.Name, tracks)
			}
		}
	}
}
