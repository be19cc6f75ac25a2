// Package clients is what the holder of a VIP reports of its clients to the nodes that may succeed
// it, and what a successor does with that.
//
// When a holder vanishes, a client with a request notices it: it sends again, and the new holder's
// kernel resets a connection that it does not know. A client that only waits, as a watch does,
// sends nothing and hangs until its own keep-alive gives up. So the new holder sends each of them
// an empty segment from the VIP. The client's kernel answers a segment out of its window (RFC 9293
// 3.10.7.4, RFC 5961 5), the new holder's kernel resets that answer (RFC 9293 3.10.7.1), and the
// client connects anew.
//
// Nothing acknowledges a report. Each change is reported in several rounds, and all of it again and
// again, so a report that is lost, late or twice costs nothing. A client that is gone already and
// gets a segment resets it.
package clients

import (
	"net/netip"
	"slices"
	"time"
)

const (
	// Every is the time between two rounds of reports.
	Every = 250 * time.Millisecond
	// Life is how long a client is kept that is reported no more: longer than any successor waits
	// before it takes a VIP, and than three whole cycles of reports.
	Life = 3*cycle*Every + 5*time.Second
	// Most bounds the clients of one VIP that are reported and kept. There may be more
	// connections: those are not reported.
	Most = 1 << 14

	repeats = 3  // rounds in which a change is reported
	cycle   = 40 // rounds in which everything is
)

// Client is the other end of a connection to a VIP.
type Client struct {
	Remote netip.AddrPort
	Port   uint16 // of the VIP, as the client knows it
}

// Peer is another node that may hold VIPs which this node may hold too.
type Peer struct {
	Addresses []netip.Addr
	Key       string // as the node has published it
	VIPs      []netip.Addr
}

// Equal compares all of two peers.
func (p Peer) Equal(o Peer) bool {
	return p.Key == o.Key && slices.Equal(p.Addresses, o.Addresses) && slices.Equal(p.VIPs, o.VIPs)
}

// Reporter makes the reports of one VIP on its holder. It is for one goroutine.
type Reporter struct {
	vip   netip.Addr
	round int
	fresh map[Client]int // rounds in which a client is still reported as new
	gone  map[Client]int // rounds in which one is still reported as gone
}

// NewReporter has reported nothing.
func NewReporter(vip netip.Addr) *Reporter {
	return &Reporter{vip: vip, fresh: map[Client]int{}, gone: map[Client]int{}}
}

// Next makes the reports of one round, in which the VIP has these clients: none if there is
// nothing to report. If there are more than Most, those stay that have been reported before.
func (r *Reporter) Next(now []Client) [][]byte {
	r.update(now)
	r.round++
	out := newWriter(r.vip)
	for c, left := range r.fresh {
		if left > 0 {
			r.fresh[c]--
		}
		if left > 0 || c.roundOf() == r.round%cycle {
			out.add(c, true)
		}
	}
	for c, left := range r.gone {
		out.add(c, false)
		if r.gone[c]--; left == 1 {
			delete(r.gone, c)
		}
	}
	return out.reports
}

// update records the clients of this round.
func (r *Reporter) update(now []Client) {
	present := make(map[Client]bool, len(now))
	for _, c := range now {
		present[c] = true
	}
	for c := range r.fresh {
		if !present[c] {
			delete(r.fresh, c)
			r.gone[c] = repeats
		}
	}
	for _, c := range now {
		if _, reported := r.fresh[c]; reported || len(r.fresh) >= Most || !c.of(r.vip) {
			continue
		}
		r.fresh[c] = repeats
		delete(r.gone, c)
	}
}

// roundOf is the round of a cycle in which the client is reported again.
func (c Client) roundOf() int {
	a := c.Remote.Addr().As16()
	return (int(a[15]) + int(c.Remote.Port())) % cycle
}

// of reports whether the client can be one of a VIP.
func (c Client) of(vip netip.Addr) bool {
	a := c.Remote.Addr()
	return a.BitLen() == vip.BitLen() && !a.Is4In6() && a.Zone() == "" && a.IsGlobalUnicast() &&
		a != vip && c.Remote.Port() != 0 && c.Port != 0
}

// Table has what holders reported. It is for one goroutine.
type Table struct {
	vips map[netip.Addr]map[Client]time.Time
}

// NewTable knows of no client.
func NewTable() *Table { return &Table{vips: map[netip.Addr]map[Client]time.Time{}} }

// Add records a report. It refuses a VIP for which of is false: the sender cannot hold that one.
func (t *Table) Add(report []byte, of func(vip netip.Addr) bool, now time.Time) error {
	vip, entries, err := read(report)
	if err != nil {
		return err
	}
	if !of(vip) {
		return errForeign(vip)
	}
	known := t.vips[vip]
	if known == nil {
		known = map[Client]time.Time{}
		t.vips[vip] = known
	}
	if len(known) >= Most {
		forget(known, now)
	}
	for _, e := range entries {
		if e.gone {
			delete(known, e.Client)
			continue
		}
		if _, again := known[e.Client]; !again && len(known) >= Most {
			continue
		}
		known[e.Client] = now
	}
	return nil
}

// Take returns the clients that a vanished holder of a VIP had, in no order, and forgets them.
func (t *Table) Take(vip netip.Addr, now time.Time) (list []Client) {
	known := t.vips[vip]
	delete(t.vips, vip)
	forget(known, now)
	for c := range known {
		list = append(list, c)
	}
	return list
}

// Known is how many clients of a VIP are known.
func (t *Table) Known(vip netip.Addr, now time.Time) int {
	forget(t.vips[vip], now)
	return len(t.vips[vip])
}

func forget(known map[Client]time.Time, now time.Time) {
	for c, at := range known {
		if now.Sub(at) > Life {
			delete(known, c)
		}
	}
}
