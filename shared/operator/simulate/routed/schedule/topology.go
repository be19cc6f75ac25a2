package schedule

import (
	"fmt"
	"slices"
)

// VIP is one of the VIPs of a run.
type VIP int

// The VIPs.
const (
	API VIP = iota
	Ingress
)

// VIPs are both.
func VIPs() [2]VIP { return [2]VIP{API, Ingress} }

func (v VIP) String() string { return [...]string{"API VIP", "ingress VIP"}[v] }

// Level is where a box is: a host, a router of a rack (leaf), or one above.
type Level int

// The levels.
const (
	HostLevel Level = iota
	LeafLevel
	SpineLevel
)

// Box is a host or a router.
type Box struct {
	Name  string
	Level Level
	Rack  int // of a host or a leaf; -1 above
	// Number is a bit for the AS number: routers of the same level above a group of racks have the
	// same one (RFC 7938, 5.2.1), and so have leaves for which the plan has the same.
	Number uint64
}

// Link is a cable between a box and a router above it, by their indexes.
type Link struct{ Below, Above int }

// Topology is what is connected to what. Hosts come first, the bootstrap machine before all others.
type Topology struct {
	Boxes []Box
	Links []Link
	Hosts int
	Tops  []int // the routers behind which clients are
}

// LinkName is the name of a link: master-0/leaf-0-1.
func (t Topology) LinkName(i int) string {
	l := t.Links[i]
	return t.Boxes[l.Below].Name + "/" + t.Boxes[l.Above].Name
}

// Find is the index of a box; -1 if there is none of that name.
func (t Topology) Find(name string) int {
	return slices.IndexFunc(t.Boxes, func(b Box) bool { return b.Name == name })
}

// FindLink is the index of a link; -1 if there is none of that name.
func (t Topology) FindLink(name string) int {
	for i := range t.Links {
		if t.LinkName(i) == name {
			return i
		}
	}
	return -1
}

// two are the routers of a group above the racks: the loss of one is survived.
func two() []int { return []int{0, 1} }

// topology builds the fabric: the racks' routers, spines above groups of racks, and with a deeper
// fabric routers above those.
func (c Cluster) topology() (t Topology) {
	racks := len(c.Racks)
	add := func(name string, level Level, rack int, number uint64) int {
		t.Boxes = append(t.Boxes, Box{name, level, rack, number})
		return len(t.Boxes) - 1
	}
	add(BootstrapName, HostLevel, c.Home[0], 0)
	for i := range c.Masters {
		add(MasterName(i), HostLevel, c.Home[i%len(c.Home)], 0)
	}
	for i := range c.Ingress {
		add(ingressName(i), HostLevel, c.Home[i%len(c.Home)], 0)
	}
	t.Hosts = len(t.Boxes)
	bits := numbers{}
	leaves := make([][]int, racks)
	for rack, r := range c.Racks {
		for i, number := range r {
			name := fmt.Sprintf("leaf-%d-%d", rack, i)
			leaves[rack] = append(leaves[rack], add(name, LeafLevel, rack, bits.of(number)))
		}
	}
	for h := range t.Hosts {
		for _, leaf := range leaves[t.Boxes[h].Rack] {
			t.Links = append(t.Links, Link{h, leaf})
		}
	}
	below := leaves
	for depth := range c.BGP.FabricDepth {
		below = t.above(below, depth, depth+1 == c.BGP.FabricDepth, &bits)
	}
	t.Tops = slices.Concat(below...)
	return t
}

// above adds two routers above each group of two groups below, or above all of them at the top.
func (t *Topology) above(below [][]int, depth int, top bool, bits *numbers) (groups [][]int) {
	size := len(two())
	if top {
		size = len(below)
	}
	for group := range slices.Chunk(below, size) {
		number := bits.next()
		var routers []int
		for range two() {
			name := fmt.Sprintf("spine-%d-%d", depth, len(routers)+len(groups)*len(two()))
			t.Boxes = append(t.Boxes, Box{name, SpineLevel + Level(depth), -1, number})
			routers = append(routers, len(t.Boxes)-1)
			for _, b := range slices.Concat(group...) {
				t.Links = append(t.Links, Link{b, len(t.Boxes) - 1})
			}
		}
		groups = append(groups, routers)
	}
	return groups
}

// numbers gives each AS number a bit.
type numbers struct {
	known []string
}

// of is the bit of a number; 0 if there is none left.
func (n *numbers) of(number string) uint64 {
	i := slices.Index(n.known, number)
	if i < 0 {
		i = len(n.known)
		n.known = append(n.known, number)
	}
	return 1 << i
}

func (n *numbers) next() uint64 { return n.of(fmt.Sprint("own ", len(n.known))) }
