package lab

import (
	"fmt"
	"slices"

	"github.com/google/nftables"
	"github.com/google/nftables/expr"
	"github.com/vishvananda/netns"
)

// Way is a direction on a host's wire.
type Way int

// The directions, as the host sees them.
const (
	Both Way = iota
	Out
	In
)

// String is the way as a word.
func (w Way) String() string { return [...]string{"both", "out", "in"}[w] }

// cut is a pair of hosts, of which the first does not reach the second; nil is every host.
type cut struct{ from, to *Host }

// Cut drops the frames from the host to the others (Out), from them to it (In), or both. The switch
// drops the frames and links stay up, so no host is notified.
func (h *Host) Cut(way Way) error { return h.CutFrom(nil, way) }

// CutFrom is Cut between two hosts alone.
func (h *Host) CutFrom(other *Host, way Way) error {
	h.lab.mu.Lock()
	defer h.lab.mu.Unlock()
	for _, c := range []struct {
		way Way
		cut cut
	}{{Out, cut{h, other}}, {In, cut{other, h}}} {
		if (way == Both || way == c.way) && !slices.Contains(h.lab.cuts, c.cut) {
			h.lab.cuts = append(h.lab.cuts, c.cut)
		}
	}
	return h.lab.filter()
}

// Reconnect ends every cut of the host.
func (h *Host) Reconnect() error {
	h.lab.mu.Lock()
	defer h.lab.mu.Unlock()
	h.lab.cuts = slices.DeleteFunc(h.lab.cuts, func(c cut) bool { return c.from == h || c.to == h })
	return h.lab.filter()
}

// filter has the switch drop exactly the frames that are cut, from one frame to the next.
func (l *Lab) filter() error {
	ns, err := netns.GetFromPath(l.wires())
	if err != nil {
		return fmt.Errorf("open the network of the switch: %w", err)
	}
	defer ns.Close()
	c, err := nftables.New(nftables.WithNetNSFd(int(ns)))
	if err != nil {
		return fmt.Errorf("open netfilter on the switch: %w", err)
	}
	table := &nftables.Table{Name: "cuts", Family: nftables.TableFamilyBridge}
	c.AddTable(table) // so that there is one to remove
	c.DelTable(table)
	c.AddTable(table)
	chain := c.AddChain(&nftables.Chain{Name: "forward", Table: table, Type: nftables.ChainTypeFilter, Hooknum: nftables.ChainHookForward,
		Priority: nftables.ChainPriorityFilter})
	for _, one := range l.cuts {
		for _, from := range one.from.plugs() {
			for _, to := range one.to.plugs() {
				match := slices.Concat(
					plugged(expr.MetaKeyIIFNAME, from), plugged(expr.MetaKeyOIFNAME, to),
				)
				c.AddRule(&nftables.Rule{Table: table, Chain: chain, Exprs: append(
					match, &expr.Verdict{Kind: expr.VerdictDrop},
				)})
			}
		}
	}
	if err := c.Flush(); err != nil {
		return fmt.Errorf("cut wires on the switch: %w", err)
	}
	return nil
}

// plugs are the names that a host's wire may have at the switch; an empty one for every host.
func (h *Host) plugs() []string {
	if h == nil {
		return []string{""}
	}
	return []string{h.port(), h.relayed()}
}

// plugged compares a frame's port; the empty name is every port.
func plugged(key expr.MetaKey, port string) []expr.Any {
	if port == "" {
		return nil
	}
	name := make([]byte, 16) // IFNAMSIZ
	copy(name, port)
	return []expr.Any{
		&expr.Meta{Key: key, Register: 1}, &expr.Cmp{Op: expr.CmpOpEq, Register: 1, Data: name},
	}
}
