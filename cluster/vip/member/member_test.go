package member

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/notice"
)

// aged are control plane nodes by the ranks that they claim, the oldest first.
func aged(ranks ...string) (out []Node) {
	for i, rank := range ranks {
		out = append(out, Node{
			Candidate: addr.Candidate{Name: fmt.Sprintf("n%d", 1+i)}, ControlPlane: true, Rank: rank,
			Created: time.Unix(int64(1000+i), 0),
		})
	}
	return out
}

func TestPlaceOf(t *testing.T) {
	const five = 5
	twins := aged("0", "0")
	twins[1].Created = twins[0].Created
	for _, tt := range []struct {
		name  string
		self  string
		nodes []Node
		kept  string
		want  Place
	}{
		{"the first claims the best", "n1", aged(""), "", Place{Rank: NoRank, Free: 0}},
		{"the lowest that is free", "n4", aged("0", "2", "1", ""), "", Place{Rank: NoRank, Free: 3}},
		{"one that has left", "n3", aged("0", "2", ""), "", Place{Rank: NoRank, Free: 1}},
		{"it has what it claimed", "n2", aged("0", "3", "2"), "", Place{Rank: 3, Free: NoRank}},
		{"two of one rank: the elder keeps it", "n1", aged("0", "0", ""), "0", Place{Rank: 0, Free: NoRank}},
		{"two of one rank: the younger takes another", "n2", aged("0", "0", ""), "0", Place{Rank: NoRank, Free: 1}},
		{"two of one age: the name decides", "n1", twins, "", Place{Rank: 0, Free: NoRank}},
		{"two of one age: and the other takes another", "n2", twins, "", Place{Rank: NoRank, Free: 1}},
		{"three of one rank", "n3", aged("0", "0", "0"), "", Place{Rank: NoRank, Free: 1}},
		{"its Node was made anew", "n3", aged("0", "1", ""), "3", Place{Rank: 3, Free: 3}},
		{"its Node was made anew, and the rank is another's", "n3", aged("0", "3", ""), "3", Place{Rank: NoRank, Free: 1}},
		{"what it claims is no rank", "n2", aged("0", "7"), "", Place{Rank: NoRank, Free: 1}},
		{"what it claims is no rank any more", "n2", aged("0", "best"), "2", Place{Rank: 2, Free: 2}},
		{"what others claim is no rank", "n2", aged("first", ""), "", Place{Rank: NoRank, Free: 0}},
		{"more nodes than ranks", "n6", aged("0", "1", "2", "3", "4", ""), "", Place{Rank: NoRank, Free: NoRank, Full: true}},
		{"more nodes than ranks, and one is free again", "n6", aged("0", "", "2", "3", "4", ""), "", Place{Rank: NoRank, Free: 1}},
		{"the API does not name it", "n9", aged("0", "1"), "2", Place{Rank: 2, Free: NoRank}},
		{"the API does not name it, and its rank is another's", "n9", aged("0", "2"), "2", Place{Rank: NoRank, Free: NoRank}},
		{"nothing is known", "", nil, "", Place{Rank: NoRank, Free: NoRank}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Node = tt.self
			if got := PlaceOf(tt.self, tt.nodes, tt.kept, five); got != tt.want {
				t.Errorf("%+v, want %+v", got, tt.want)
			}
		})
	}
}

// TestRanksConverge has nodes join, leave, lose what is on their Nodes and claim at one time, each
// with a view that is late: when all have seen all, every node up to the fifth has a rank of its
// own, and nobody has changed one that nobody else had.
func TestRanksConverge(t *testing.T) {
	const ranks = 5
	for seed := range uint64(2000) {
		random := rand.New(rand.NewPCG(seed, 5))
		api, views, kept, made := []Node{}, map[string][]Node{}, map[string]string{}, 0
		claim := func(name string) {
			p := PlaceOf(name, views[name], kept[name], ranks)
			if p.Rank != NoRank {
				kept[name] = notice.EncodeRank(p.Rank)
			}
			i := slices.IndexFunc(api, func(n Node) bool { return n.Name == name })
			if i < 0 || p.Free == NoRank {
				return
			}
			before := api[i].Rank
			if j := slices.IndexFunc(views[name], func(n Node) bool { return n.Name == name }); j < 0 || views[name][j].Rank != before {
				return // a node sees its own claim before it claims again
			}
			clash := slices.ContainsFunc(views[name], func(n Node) bool { return n.Name != name && n.Rank == before })
			if before != "" && !clash {
				t.Fatalf("seed %d: %s gives up rank %s, which nobody else had as it saw it, for %d", seed, name, before, p.Free)
			}
			api[i].Rank = notice.EncodeRank(p.Free)
		}
		for range 40 {
			switch random.IntN(8) {
			case 0:
				if len(api) < ranks {
					made++
					n := Node{Candidate: addr.Candidate{Name: fmt.Sprintf("n%d", made)}, ControlPlane: true}
					n.Created = time.Unix(int64(made/2), 0) // two of one second
					api = append(api, n)
				}
			case 1:
				if len(api) > 0 && random.IntN(3) == 0 {
					i := random.IntN(len(api))
					api = slices.Delete(api, i, i+1)
				}
			case 2:
				if len(api) > 0 && random.IntN(3) == 0 {
					api[random.IntN(len(api))].Rank = "" // its Node was made anew
				}
			case 3, 4:
				for _, n := range api { // in one moment: all see what was
					views[n.Name] = slices.Clone(api)
				}
			default:
				if len(api) > 0 {
					one := api[random.IntN(len(api))].Name
					if random.IntN(2) == 0 {
						views[one] = slices.Clone(api)
					}
					claim(one)
				}
			}
		}
		for range ranks {
			for _, n := range slices.Clone(api) {
				views[n.Name] = slices.Clone(api)
			}
			for _, n := range slices.Clone(api) {
				claim(n.Name)
			}
		}
		seen := map[string]bool{}
		for _, n := range api {
			if n.Rank == "" || seen[n.Rank] {
				t.Fatalf("seed %d: %d nodes end with the ranks %v", seed, len(api), api)
			}
			seen[n.Rank] = true
		}
	}
}

// TestSelf holds who a machine is: a VIP that it holds is nobody's name, and what a network plugin
// once saw on another host, an egress address for instance, makes it no other node as long as it
// has one of its own.
func TestSelf(t *testing.T) {
	here := addr.Snapshot{Links: []addr.Link{{Name: "eth0", Addresses: []addr.Address{
		{Prefix: netip.MustParsePrefix("192.0.2.5/32")}, {Prefix: netip.MustParsePrefix("192.0.2.11/24")}, {Prefix: netip.MustParsePrefix("192.0.2.200/32")},
	}}}}
	node := func(name string, born int64, internal, annotated string) Node {
		n := Node{Candidate: addr.Candidate{Name: name}, Created: time.Unix(born, 0)}
		if internal != "" {
			n.InternalIPs = []netip.Addr{netip.MustParseAddr(internal)}
		}
		if annotated != "" {
			n.Annotated = []netip.Addr{netip.MustParseAddr(annotated)}
		}
		return n
	}
	for _, tt := range []struct {
		name  string
		nodes []Node
		want  string
	}{
		{"nobody", nil, ""},
		{"a node with the VIP that is here", []Node{node("a", 1, "192.0.2.5", "192.0.2.5")}, ""},
		{"its own address", []Node{node("a", 1, "192.0.2.10", ""), node("b", 1, "192.0.2.11", "")}, "b"},
		{"known by its network plugin alone", []Node{node("a", 1, "", "192.0.2.10"), node("b", 1, "", "192.0.2.11")}, "b"},
		{"a younger one had an address that is here now", []Node{node("a", 2, "192.0.2.10", "192.0.2.200"), node("b", 1, "192.0.2.11", "")}, "b"},
		{"its former name", []Node{node("a", 2, "192.0.2.11", ""), node("b", 1, "192.0.2.11", "")}, "a"},
	} {
		if got := Self(tt.nodes, here, []netip.Addr{netip.MustParseAddr("192.0.2.5")}); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
