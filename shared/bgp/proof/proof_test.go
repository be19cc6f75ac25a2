package proof

import (
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/bgp"
)

func policies() (all []bgp.Policy) {
	for depth := range 4 {
		for _, ranks := range []int{0, 1, 2, 3, 5} {
			for _, bootstrap := range []bool{false, true} {
				all = append(all, bgp.Policy{Depth: depth, Ranks: ranks, Bootstrap: bootstrap})
			}
		}
	}
	return all
}

// TestProve holds that the policies of clusters have a proof, up to the paths that are too long.
func TestProve(t *testing.T) {
	for _, p := range policies() {
		got, err := Prove(p)
		if p.Depth == 3 && p.Ranks == 5 && p.Bootstrap {
			if err == nil || !strings.Contains(err.Error(), "use fewer ranks") {
				t.Errorf("%+v: %v, %+v", p, err, got)
			}
			continue
		}
		if err != nil || got.Cases == 0 || len(got.Statements) < 3 {
			t.Errorf("%+v: %v, %+v", p, err, got)
		}
	}
	for _, p := range []bgp.Policy{{Depth: -1}, {Ranks: -1}} {
		if _, err := Prove(p); err == nil {
			t.Errorf("%+v has a proof", p)
		}
	}
}

// TestProve_Wrong holds that a comparison which fails is found.
func TestProve_Wrong(t *testing.T) {
	for name, pair := range map[string][2]host{
		"a node as near as the bootstrap machine": {{bootstrap: true}, {grade: 2, Health: bgp.Health{Balancer: true}}},
		"a host that leaves beside one that stays": {{grade: 4, Health: bgp.Health{Balancer: true}},
			{leaving: true, grade: 6, Health: bgp.Health{Balancer: true}}},
		"a better rank no shorter": {{Health: bgp.Health{API: true}, grade: 2}, {rank: 1, grade: 4, Health: bgp.Health{Balancer: true}}},
		"better health with the longer path": {{Health: bgp.Health{Balancer: true}, grade: 2},
			{Health: bgp.Health{API: true}, grade: 1}},
	} {
		c := comparison{policy: bgp.Policy{Depth: 1, Ranks: 2, Bootstrap: true}}
		c.compare(pair[0], pair[1])
		if _, err := c.proof(nil); err == nil {
			t.Errorf("%s has a proof", name)
		}
	}
}

// fabric is a tree of routers as BGP sees it: leaves below spines below super-spines, each with a
// number of its own, and hosts at leaves.
type fabric struct {
	links map[int][]int // of routers both ways, and of a host to its leaf
	hosts map[int]bgp.Grade
}

// tree is a fabric with two routers below each one but the leaves.
func tree(depth int) (f fabric, leaves []int) {
	f = fabric{map[int][]int{}, map[int]bgp.Grade{}}
	level := []int{1}
	next := 2
	for range depth {
		var below []int
		for _, r := range level {
			for range 2 {
				f.link(r, next)
				below = append(below, next)
				next++
			}
		}
		level = below
	}
	return f, level
}

func (f fabric) link(a, b int) { f.links[a], f.links[b] = append(f.links[a], b), append(f.links[b], a) }

// choices are the hosts that a router uses: those with the shortest path, each router having passed
// on the best one that it knows.
func (f fabric) choices(router int) (all []int) {
	paths := map[int]int{}
	for h, grade := range f.hosts {
		for r, far := range f.distances(h) {
			if r == router {
				paths[h] = 1 + int(grade) + far - 1
			}
		}
	}
	least := 1 << 30
	for _, n := range paths {
		least = min(least, n)
	}
	for h, n := range paths {
		if n == least {
			all = append(all, h)
		}
	}
	slices.Sort(all)
	return all
}

func (f fabric) distances(from int) map[int]int {
	far := map[int]int{from: 0}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		for _, next := range f.links[queue[0]] {
			if _, known := far[next]; !known {
				far[next] = far[queue[0]] + 1
				queue = append(queue, next)
			}
		}
	}
	return far
}

// TestProve_Fabric holds what is proved against whole fabrics: every router of a tree uses what the
// statements promise, wherever the hosts are.
func TestProve_Fabric(t *testing.T) {
	const first, second = 1000, 1001 // hosts
	for depth := 1; depth <= 3; depth++ {
		p := bgp.Policy{Depth: depth, Ranks: 2, Bootstrap: true}
		healthy, own := bgp.Health{Balancer: true, API: true}, bgp.Health{API: true}
		node := func(rank int, h bgp.Health, leaving bool) bgp.Grade {
			g, _ := p.OfNode(rank, h, leaving)
			return g
		}
		for what, grades := range map[string][2]bgp.Grade{
			"the bootstrap machine before a node":     {p.OfBootstrap(false), node(0, healthy, false)},
			"a node before the leaving machine":       {node(1, own, false), p.OfBootstrap(true)},
			"a node before the leaving one":           {node(1, own, false), node(0, healthy, true)},
			"the better rank, whatever serves there":  {node(0, own, false), node(1, healthy, false)},
			"a node of the last rank, which is alone": {node(1, own, false), 1 << 20},
		} {
			f, leaves := tree(depth)
			for _, a := range leaves {
				for _, b := range leaves {
					f.hosts = map[int]bgp.Grade{first: grades[0], second: grades[1]}
					f.links[first], f.links[second] = []int{a}, []int{b}
					for router := 1; router < 1<<(depth+1); router++ {
						if got := f.choices(router); !slices.Equal(got, []int{first}) {
							t.Fatalf("depth %d, %s: router %d uses %v, hosts at %d and %d", depth, what, router, got, a, b)
						}
					}
				}
			}
		}
	}
}
