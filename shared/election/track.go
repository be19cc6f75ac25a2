package election

import (
	"slices"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/keepalived"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// AddInstances adds the local host's instances to a configuration, with the files that they
// track, and the sync group of instances that must be on one host.
func (e Election) AddInstances(c *keepalived.Config, instances []keepalived.Instance) {
	if len(instances) == 0 {
		return
	}
	var checks []vrrp.CheckName
	for _, w := range e.Scheme.Checks {
		checks = append(checks, w.Check)
		file := keepalived.Path(TrackFile(w.Check, w.Fault))
		c.Tracks = append(c.Tracks, keepalived.Track{Name: w.Check, File: file, Weight: w.Adds})
	}
	if !e.Together || len(instances) == 1 {
		for i := range instances {
			instances[i].Tracks = slices.Concat(checks, e.trackHolder(c, instances[i].Name))
		}
	} else {
		group := keepalived.SyncGroup{
			Name: vrrp.InstanceName("VG_" + strings.ToUpper(string(e.Kind))),
		}
		for i := range instances {
			group.Members = append(group.Members, instances[i].Name)
			instances[i].Grouped = true
		}
		// The members hold their VIPs together, and the group's tracked files count for each of
		// them.
		group.Tracks = slices.Concat(checks, e.trackHolder(c, instances[0].Name))
		c.Groups = append(c.Groups, group)
	}
	c.Instances = append(c.Instances, instances...)
}

// trackHolder adds the tracked file that gives the holder its bonus, and names it; nothing in
// elections without a holder bonus.
func (e Election) trackHolder(c *keepalived.Config, instance vrrp.InstanceName) []vrrp.CheckName {
	if e.Scheme.Holder == 0 {
		return nil
	}
	name := string(instance)
	track := keepalived.Track{
		Name:   vrrp.CheckName("holder_" + string(e.Kind) + name[strings.LastIndex(name, "_"):]),
		File:   keepalived.Path(supervised.RunDir + "/" + supervised.HolderTrack(name)),
		Weight: e.Scheme.Holder,
	}
	c.Tracks = append(c.Tracks, track)
	return []vrrp.CheckName{track.Name}
}
