package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/spec"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// TestTracking_Healthy holds that keepalived reports the priorities that its tracked files give,
// with a sync group and without, in both versions and both modes: no task fails and nothing is
// reloaded on a healthy node, neither as holder nor when a check fails.
func TestTracking_Healthy(t *testing.T) {
	t.Parallel()
	type host struct {
		*supervisor
		name, weighted string
	}
	var all []host
	// the latter has sync groups
	for _, platform := range []spec.Platform{spec.BareMetal, spec.OpenStack} {
		for _, timing := range []string{vrrp.ProfileLan, vrrp.ProfileCompat} { // versions 3 and 2
			for _, mode := range []spec.Mode{spec.Unicast, spec.Multicast} {
				s, weighted := tracks(t, platform, timing, mode)
				all = append(all, host{s, fmt.Sprint(platform, " ", timing, " ", mode), weighted})
			}
		}
	}
	for _, h := range all {
		h.untilMaster(20 * time.Second)
	}
	for _, number := range []string{"1\n", "0\n"} {
		for _, h := range all {
			put(t, h.weighted, number)
		}
		// five beats would count
		for end := time.Now().Add(7 * time.Second); time.Now().Before(end); time.Sleep(200 * time.Millisecond) {
			for _, h := range all {
				if st := h.status(); len(st.Troubles) != 0 || st.Restarts != 0 ||
					st.Instances["demo_API_0"].State != supervised.Master {
					t.Fatalf("%s: beside %q: %+v", h.name, number, st)
				}
			}
		}
	}
	for _, h := range all {
		t.Logf("%s: %+v", h.name, h.status().Instances)
		if h.log.count("reload keepalived") != 0 || h.log.count("its tracked files") != 0 {
			t.Errorf("%s: a keepalived that follows its files was reloaded", h.name)
		}
	}
}

// tracks starts a node whose checks all pass, alone on its link, and names a file with a weight.
func tracks(t *testing.T, platform spec.Platform, timing string,
	mode spec.Mode) (s *supervisor, weighted string) {
	t.Helper()
	l := newLAN(t)
	p, links := demo(t, platform, timing, mode), l.links(t)
	config := aNode(addr.Candidate{Name: "master-0", InternalIPs: host},
		addr.Candidate{Name: "master-1", InternalIPs: peer})(t, p, links)
	config.Groups = slices.DeleteFunc(config.Groups, func(g keepalived.SyncGroup) bool {
		return !slices.ContainsFunc(config.Instances,
			func(i keepalived.Instance) bool { return slices.Contains(g.Members, i.Name) })
	})
	if grouped := platform == spec.OpenStack; len(config.Instances) != 2 ||
		(len(config.Groups) == 1) != grouped {
		t.Fatalf("instances %+v, groups %+v", config.Instances, config.Groups)
	}
	s = newRealKeepalived(t)
	for _, track := range config.Tracks {
		path := strings.Replace(string(track.File), supervised.RunDir, s.dir, 1)
		if filepath.Base(filepath.Dir(path)) == supervised.HolderDir {
			continue // the supervisor's own
		}
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		put(t, path, "1\n")
		if track.Weight != 0 && slices.Contains(append(config.Instances[0].Tracks,
			groupTracks(config)...), track.Name) {
			weighted = path
		}
	}
	if weighted == "" {
		t.Fatal("nothing with a weight is tracked")
	}
	s.proposeConfig(config)
	s.start(l.host)
	return s, weighted
}

// groupTracks are those that sync groups follow for their members.
func groupTracks(config keepalived.Config) (all []vrrp.CheckName) {
	for _, g := range config.Groups {
		all = append(all, g.Tracks...)
	}
	return all
}
