package keepalived

import (
	"fmt"
	"slices"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

const runDir = "/run/onprem-infra/keepalived"

// track makes the tracked files of a policy's checks, and their names.
func track(c vrrp.Candidates) (files []Track, names []vrrp.CheckName) {
	for _, w := range c.Weights {
		dir := "track"
		if w.Fault {
			dir = "fault"
		}
		files = append(files, Track{Name: w.Check, File: Path(fmt.Sprintf("%s/%s/%s", runDir, dir, w.Check)), Weight: w.Adds})
		names = append(names, w.Check)
	}
	return files, names
}

// node is one of three control plane nodes of ours: both VIPs, unicast, tracked files, and nobody
// but the peers is listened to.
func node() Config {
	policy := vrrp.Compat()
	apiFiles, apiNames := track(policy.ControlPlane)
	ingressFiles, ingressNames := track(policy.Ingress)
	config := master()
	config.NotifyFIFO, config.Leave, config.Checks, config.Tracks = fifo, leave, nil, slices.Concat(apiFiles, ingressFiles)
	api, ingress := &config.Instances[0], &config.Instances[1]
	api.Checks, api.Tracks, api.Known, api.Near = nil, apiNames, true, true
	ingress.Checks, ingress.Tracks, ingress.Known = nil, ingressNames, true
	return config
}

// grouped is a node of a platform on which both families of a VIP move together.
func grouped() Config {
	config := node()
	config.Groups = []SyncGroup{
		{Name: "VG_API", Members: []vrrp.InstanceName{"ostest_API_0", "ostest_API_1"}, Tracks: config.Instances[0].Tracks},
		{Name: "VG_INGRESS", Members: []vrrp.InstanceName{"ostest_INGRESS_0", "ostest_INGRESS_1"}, Tracks: config.Instances[1].Tracks},
	}
	for i, vip := range []string{"2001:db8::5", "2001:db8::6"} {
		six := unicast(bootstrap(vrrp.InstanceName([]string{"ostest_API_1", "ostest_INGRESS_1"}[i]), vip), "2001:db8::11", "2001:db8::12")
		six.ID, six.Priority, six.Grouped = config.Instances[i].ID, config.Instances[i].Priority, true
		config.Instances = append(config.Instances, six)
		config.Instances[i].Tracks, config.Instances[i].Grouped = nil, true
	}
	return config
}

// TestTracks holds the tracked files' text against the policy, and that what is lost is never taken
// for health: a bonus adds to a low base, and a file without a weight is tracked in reverse.
func TestTracks(t *testing.T) {
	policy := vrrp.Compat()
	conf := parseConf(t, Render(node()))
	for instance, candidates := range map[string]vrrp.Candidates{"ostest_API_0": policy.ControlPlane, "ostest_INGRESS_0": policy.Ingress} {
		block := conf.instance(t, instance)
		if block.number(t, "priority") != int(candidates.Base) {
			t.Errorf("%s starts from %d, want %d", instance, block.number(t, "priority"), candidates.Base)
		}
		var tracked []string
		for _, words := range block.block(t, "track_file").words {
			tracked = append(tracked, words...)
		}
		for _, w := range candidates.Weights {
			if !slices.Contains(tracked, string(w.Check)) {
				t.Errorf("%s does not track %s", instance, w.Check)
			}
			want := []string{"weight", fmt.Sprint(w.Adds)}
			if w.Fault {
				want = []string{"weight", "0", "reverse"}
			}
			file := conf.block(t, "track_file", string(w.Check))
			if !slices.ContainsFunc(file.words, func(words []string) bool { return slices.Equal(words, want) }) {
				t.Errorf("%s has %q, want %q", w.Check, file.words, want)
			}
		}
	}
}

// TestKnown holds whom an instance listens to.
func TestKnown(t *testing.T) {
	for _, tt := range []struct {
		known, near bool
		peer        []string
	}{
		{peer: []string{"192.0.2.12"}},
		{known: true, peer: []string{"192.0.2.12"}},
		{known: true, near: true, peer: []string{"192.0.2.12", "min_ttl", "255"}},
	} {
		i := unicast(bootstrap("x", "192.0.2.5"), "192.0.2.11", "192.0.2.12")
		i.Known, i.Near = tt.known, tt.near
		block := parseConf(t, Render(Config{Instances: []Instance{i}})).instance(t, "x")
		if peers := block.block(t, "unicast_peer").words; block.has("check_unicast_src") != tt.known || len(peers) != 1 || !slices.Equal(peers[0], tt.peer) {
			t.Errorf("known %t, near %t: %+v", tt.known, tt.near, block)
		}
	}
}
