package host

import (
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/rules"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/schedule"
	"github.com/onprem-infra/onprem-infra/shared/operator/simulate/provisioning/world"
)

// Write has the ramdisk write the disk: it fetches the image, and goes on by itself even if
// Ironic ends.
func Write(w *world.World, h *world.Host) {
	rules.Writes(w, h)
	source := Source(w, h)
	h.Disk = world.Disk{Writing: true, Since: w.Now, At: h.Disk.At, Source: source,
		Origin: origin(w, source)}
	w.Note(h.Plan.Name, "writes its disk")
	w.Mark(schedule.Mark(h.Plan.Name, schedule.Writing))
	w.Soon(world.Fetch, h.Event(world.EvWrite))
}

// origin changes with each start of the machine that an image comes from.
func origin(w *world.World, s world.Site) uint32 {
	switch {
	case s == world.BootSite:
		return w.Boot.Boots
	case s >= 0:
		return w.Hosts[s].Boot.Count
	}
	return 0
}

// Fetched is the end of the fetch or, after that, of the write. A transfer whose other end has
// gone, or that a network does not carry, has failed.
func Fetched(w *world.World, h *world.Host) {
	d := &h.Disk
	if !d.Writing {
		return
	}
	if d.Fetched {
		d.Writing, d.Complete = false, true
		w.Note(h.Plan.Name, "its disk is complete")
		w.Mark(schedule.Mark(h.Plan.Name, schedule.Written))
		return
	}
	on := d.Source != world.NoSite && origin(w, d.Source) == d.Origin && serves(w, d.Source) &&
		w.OnBootNetwork(d.Source, world.Site(h.Index))
	if !on {
		d.Writing, d.Failed = false, true
		w.Note(h.Plan.Name, "cannot fetch its image")
		return
	}
	d.Fetched, d.At = true, w.Now
	w.Soon(world.Drive, h.Event(world.EvWrite))
}

// Join is a system's attempt to be a node, repeated until it reaches the cluster's API.
func Join(w *world.World, h *world.Host) {
	if h.Boot.Stage != world.System || h.Up {
		return
	}
	if !h.HasJoined() && !w.API(world.Site(h.Index)) {
		w.Soon(world.Retry, h.Event(world.EvJoin))
		return
	}
	h.Up = true
	if !h.HasJoined() {
		h.Joined = w.Now
		w.Note(h.Plan.Name, "joins")
		w.Mark(schedule.Mark(h.Plan.Name, schedule.Joined))
	}
}
