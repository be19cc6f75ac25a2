package machines

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/workers"
	"github.com/onprem-infra/onprem-infra/shared/provisioning/progress"
)

const (
	// stale is how long the heartbeat stands still until the bootstrap machine counts as gone: it
	// was removed without ending in order.
	stale = 2 * time.Minute
	// unread is the longest gap between two reads that counts for stale: a longer outage of the
	// API restarts the count. A shorter one does no harm, as the machine beats every 30 s.
	unread = stale / 4
	// silent is the age of the last change of the bootstrap machine's object, by the API's clock
	// and this machine's, from which the machine counts as gone for a caller that reads it once.
	// The two clocks may differ.
	silent = 5 * time.Minute
)

// published is an object of the bootstrap machine. ManagedFields are the API's: when which program
// changed it last.
type published struct {
	Metadata struct {
		Namespace     string                     `json:"namespace"`
		ManagedFields []struct{ Time time.Time } `json:"managedFields"`
	} `json:"metadata"`
	Data map[string]string `json:"data"`
}

// changed is when it was changed last; zero if the API does not note that.
func (p published) changed() (last time.Time) {
	for _, f := range p.Metadata.ManagedFields {
		if f.Time.After(last) {
			last = f.Time
		}
	}
	return last
}

// recent reports whether it was changed less than silent ago; true if the API has no time of it.
func (p published) recent(now time.Time) bool {
	last := p.changed()
	return last.IsZero() || now.Sub(last) < silent
}

// published reads the objects of a name in which the bootstrap machine may have published. Without
// a namespace they are sought in all of them: a description may have chosen any.
func (c *Client) published(ctx context.Context, name string) ([]published, error) {
	if c.Namespace != "" {
		var p published
		path := fmt.Sprintf("/api/v1/namespaces/%s/configmaps/%s", c.Namespace, name)
		found, err := c.API.JSON(ctx, http.MethodGet, path, nil, &p)
		if !found || err != nil {
			return nil, err
		}
		return []published{p}, nil
	}
	var all list[published]
	_, err := c.API.JSON(ctx, http.MethodGet,
		"/api/v1/configmaps?fieldSelector=metadata.name%3D"+name, nil, &all)
	return all.Items, err
}

// pulse is a heartbeat, since when it has not changed by the clock of this machine, and when it
// was read last.
type pulse struct {
	beat        string
	since, read time.Time
}

// beating reports whether the heartbeat in an object changes. While the API does not answer, the
// bootstrap machine cannot change it either: that time does not count.
func (c *Client) beating(object, beat string) bool {
	now := time.Now()
	p, known := c.beats[object]
	if !known || p.beat != beat || now.Sub(p.read) > unread {
		p.beat, p.since = beat, now
	}
	if c.beats == nil {
		c.beats = map[string]pulse{}
	}
	p.read = now
	c.beats[object] = p
	return now.Sub(p.since) < stale
}

// machine is what the bootstrap machine has published.
type machine struct {
	handover published       // the last one that was written
	at       notice.Progress // of that
	// The objects in which it has not left, or still provisions, and whose heartbeat changes. Of
	// several namespaces one live object is enough, whatever the others have.
	holdsVIP, provisions []published
	known                bool // there is an object of it, of whatever age
}

// machine reads it.
func (c *Client) machine(ctx context.Context) (m machine, err error) {
	itself, err := c.published(ctx, notice.Bootstrap)
	if err != nil {
		return machine{}, err
	}
	handover, err := c.published(ctx, notice.Handover)
	if err != nil {
		return machine{}, err
	}
	m.known = len(itself)+len(handover) > 0
	for _, p := range itself {
		if !notice.BootstrapLeft(p.Data) &&
			c.beating(notice.Bootstrap+" "+p.Metadata.Namespace, p.Data[notice.Beat]) {
			m.holdsVIP = append(m.holdsVIP, p)
		}
	}
	for _, p := range handover {
		// One that has taken provisioning back may have left as the holder of the API VIP.
		at := notice.ReadHandover(p.Data)
		if at.Phase != "" && !progress.Phase(at.Phase).Past(progress.Unpause) &&
			c.beating(notice.Handover+" "+p.Metadata.Namespace, at.At.String()) {
			m.provisions = append(m.provisions, p)
		}
		if m.at.Phase == "" || at.At.After(m.at.At) {
			m.handover, m.at = p, at
		}
	}
	return m, nil
}

// Bootstrap reports whether the bootstrap machine is there: it has not left, or it provisions,
// and its heartbeat changes.
func (c *Client) Bootstrap(ctx context.Context) (bool, error) {
	m, err := c.machine(ctx)
	return len(m.holdsVIP)+len(m.provisions) > 0, err
}

// Installs is why the bootstrap machine still needs the provisioning address, by the clock of this
// machine; empty if it has given it up, is gone, or is none. known reports whether one has ever
// published anything. It needs no other right than to get the two objects of that machine in the
// client's Namespace.
func (c *Client) Installs(
	ctx context.Context, now time.Time,
) (why string, known bool, err error) {
	m, err := c.machine(ctx)
	if err != nil {
		return "", false, err
	}
	there := func(p published) bool { return p.recent(now) }
	switch {
	case slices.ContainsFunc(m.provisions, there):
		return fmt.Sprintf("the bootstrap machine %s is in the phase %q", m.at.Machine,
			m.at.Phase), true, nil
	case m.at.Phase == "" && slices.ContainsFunc(m.holdsVIP, there):
		return "the bootstrap machine has not begun to hand provisioning over", true, nil
	}
	return "", m.known, nil
}

// handover reads how far the bootstrap machine has handed over, and whether it still provisions.
// Release knows a silent one by its heartbeat; a caller that reads once, by its last change.
func (c *Client) handover(ctx context.Context, w *workers.World, now time.Time) error {
	m, err := c.machine(ctx)
	if err != nil {
		return err
	}
	w.Bootstrap = slices.ContainsFunc(slices.Concat(m.holdsVIP, m.provisions),
		func(p published) bool { return p.recent(now) })
	w.Handed = m.at
	w.HandsOver = w.Handed.Phase != "" && m.handover.recent(now)
	return nil
}

// Handover is the data of the object in which the bootstrap machine publishes how far it has handed
// provisioning over; none if there is no such object.
func (c *Client) Handover(ctx context.Context) (map[string]string, error) {
	m, err := c.machine(ctx)
	return m.handover.Data, err
}
