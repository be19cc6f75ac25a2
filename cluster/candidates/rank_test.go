package candidates

import (
	"fmt"
	"math/rand/v2"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/plan"
)

func addrs(texts ...string) []netip.Addr {
	var out []netip.Addr
	for _, text := range texts {
		out = append(out, netip.MustParseAddr(text))
	}
	return out
}

// dual is a cluster of both families.
func dual() plan.Plan {
	return plan.Plan{
		MachineNetworks: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("10.0.0.0/16"), netip.MustParsePrefix("2001:db8::/64")},
		VIPs:            plan.VIPs{API: addrs("192.0.2.5", "2001:db8::5"), Ingress: addrs("192.0.2.6", "2001:db8::6")},
	}
}

func node(name string, addresses ...string) Node {
	return Node{Candidate: addr.Candidate{Name: name, InternalIPs: addrs(addresses...)}, Ready: true}
}

func master(name string, addresses ...string) Node {
	n := node(name, addresses...)
	n.ControlPlane = true
	return n
}

func with(n Node, change func(*Node)) Node {
	change(&n)
	return n
}

func TestRankAddresses(t *testing.T) {
	annotated := func(addresses ...string) Node {
		return Node{Candidate: addr.Candidate{Name: "worker-0", Annotated: addrs(addresses...)}, Ready: true}
	}
	for _, tt := range []struct {
		name string
		node Node
		want []string // none: not listed
	}{
		{"both families", node("worker-0", "192.0.2.10", "2001:db8::10"), []string{"192.0.2.10", "2001:db8::10"}},
		{"K-16: one family for now", node("worker-0", "2001:db8::10"), []string{"2001:db8::10"}},
		{"the last of a family", node("worker-0", "192.0.2.10", "192.0.2.11"), []string{"192.0.2.11"}},
		{"no address yet", node("worker-0"), nil},
		{"outside of the machine networks", node("worker-0", "198.51.100.10"), nil},
		{"a VIP only", node("worker-0", "192.0.2.6"), nil},
		{"by the network plugin: all that may be its own", annotated("192.0.2.12", "192.0.2.11", "192.0.2.5", "198.51.100.1", "2001:db8::10", "10.0.0.1"),
			[]string{"192.0.2.12", "192.0.2.11", "10.0.0.1", "2001:db8::10"}},
		{"by the network plugin: not without end", annotated("192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14", "192.0.2.15", "2001:db8::11", "2001:db8::12", "2001:db8::13", "2001:db8::14", "2001:db8::15"),
			[]string{"192.0.2.11", "192.0.2.12", "192.0.2.13", "192.0.2.14", "2001:db8::11", "2001:db8::12", "2001:db8::13", "2001:db8::14"}},
		{"an arbiter, or a worker elsewhere", with(node("worker-0", "192.0.2.10"), func(n *Node) { n.NoVIP = true }), nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			want := []notice.Candidate{}
			if tt.want != nil {
				want = []notice.Candidate{{Name: "worker-0", Addresses: addrs(tt.want...)}}
			}
			got := Rank(dual(), []Node{tt.node}, nil, nil)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("Rank() = %v, want %v", got, want)
			}
			if _, err := notice.ReadCandidates(notice.EncodeCandidates(got), Cluster(dual())); err != nil {
				t.Errorf("what is written is not read: %v", err)
			}
		})
	}
}

// TestRank_Claimed holds to which of several nodes an address counts: its kubelet can write any
// address on its own Node, so neither a name nor an annotation may take one from another node.
func TestRank_Claimed(t *testing.T) {
	born := func(n Node, age int64) Node {
		n.Created = time.Unix(1000+age, 0)
		return n
	}
	annotated := func(name string, age int64, addresses ...string) Node {
		n := born(node(name), age)
		n.Annotated = addrs(addresses...)
		return n
	}
	for _, tt := range []struct {
		name  string
		nodes []Node
		want  map[string][]string
	}{
		{"an annotation takes no InternalIP, whatever the name and age",
			[]Node{annotated("a", 0, "192.0.2.11", "192.0.2.12", "192.0.2.10"),
				born(node("b", "192.0.2.11"), 1), born(node("c", "192.0.2.12"), 1)},
			map[string][]string{"a": {"192.0.2.10"}, "b": {"192.0.2.11"}, "c": {"192.0.2.12"}}},
		{"what two nodes annotate is the older one's",
			[]Node{annotated("a", 2, "192.0.2.11", "192.0.2.12", "192.0.2.10"),
				annotated("b", 1, "192.0.2.11", "192.0.2.21")},
			map[string][]string{"a": {"192.0.2.12", "192.0.2.10"}, "b": {"192.0.2.11", "192.0.2.21"}}},
		{"the oldest takes one address of others, so that these still know each other",
			[]Node{annotated("a", 0, "192.0.2.11", "192.0.2.12", "192.0.2.13"),
				annotated("b", 1, "192.0.2.11"), annotated("c", 2, "192.0.2.12"),
				annotated("d", 3, "192.0.2.13")},
			map[string][]string{"a": {"192.0.2.11"}, "c": {"192.0.2.12"}, "d": {"192.0.2.13"}}},
		{"an InternalIP of two nodes is the older one's",
			[]Node{born(node("a", "192.0.2.11"), 2), born(node("b", "192.0.2.11"), 1)},
			map[string][]string{"b": {"192.0.2.11"}}},
		{"only the InternalIP that counts",
			[]Node{born(node("a", "192.0.2.11", "192.0.2.10"), 1), annotated("b", 2, "192.0.2.11")},
			map[string][]string{"a": {"192.0.2.10"}, "b": {"192.0.2.11"}}},
		{"the usual address first", []Node{annotated("a", 1, "10.0.0.1", "192.0.2.10")},
			map[string][]string{"a": {"192.0.2.10", "10.0.0.1"}}},
		{"each family by itself",
			[]Node{with(annotated("a", 1, "192.0.2.10", "2001:db8::12"),
				func(n *Node) { n.InternalIPs = addrs("2001:db8::10") }),
				born(node("b", "2001:db8::12", "192.0.2.12"), 2)},
			map[string][]string{"a": {"192.0.2.10", "2001:db8::10"},
				"b": {"192.0.2.12", "2001:db8::12"}}},
	} {
		got := map[string][]string{}
		for _, c := range Rank(dual(), tt.nodes, nil, nil) {
			for _, a := range c.Addresses {
				got[c.Name] = append(got[c.Name], a.String())
			}
		}
		if !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func names(list []notice.Candidate) []string {
	out := []string{}
	for _, c := range list {
		out = append(out, c.Name)
	}
	return out
}

func TestRankOrder(t *testing.T) {
	down := with(node("worker-0", "192.0.2.10"), func(n *Node) { n.Ready = false })
	nodes := []Node{node("worker-2", "192.0.2.12"), down, master("master-0", "192.0.2.20"), node("worker-1", "192.0.2.11")}
	for _, tt := range []struct {
		name    string
		nodes   []Node
		routers []string
		listed  []notice.Candidate
		want    []string
	}{
		{"by name, those that work first", nodes, nil, nil, []string{"master-0", "worker-1", "worker-2", "worker-0"}},
		{"a ready router first", nodes, []string{"worker-2"}, nil, []string{"worker-2", "master-0", "worker-1", "worker-0"}},
		{"also on a node that does not work otherwise", nodes, []string{"worker-0"}, nil, []string{"worker-0", "master-0", "worker-1", "worker-2"}},
		{"a router on a node that nobody knows", nodes, []string{"worker-9"}, nil, []string{"master-0", "worker-1", "worker-2", "worker-0"}},
		{"who is listed comes before who is not", nodes, []string{"worker-1"}, []notice.Candidate{{Name: "worker-0"}, {Name: "gone"}}, []string{"worker-1", "worker-0", "master-0", "worker-2"}},
		{"an address of two nodes is the first one's", []Node{node("b", "192.0.2.10"), node("a", "192.0.2.10")}, nil, nil, []string{"a"}},
		{"nobody", nil, nil, nil, []string{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := names(Rank(dual(), tt.nodes, tt.routers, tt.listed)); !slices.Equal(got, tt.want) {
				t.Errorf("Rank() = %v, want %v", got, tt.want)
			}
		})
	}
}

// In a cluster of thousands the list is full: it is the same whatever the order of the Nodes,
// small, and stays when nothing about it changes.
func TestRankOfMany(t *testing.T) {
	var nodes []Node
	for i := range 5000 {
		nodes = append(nodes, node(fmt.Sprintf("worker-%04d", i), fmt.Sprintf("10.0.%d.%d", i/250, 1+i%250)))
	}
	routers := []string{"worker-4000", "worker-3999"}
	first := Rank(dual(), nodes, routers, nil)
	if len(first) != notice.MostCandidates || first[0].Name != "worker-3999" || first[1].Name != "worker-4000" || first[2].Name != "worker-0000" {
		t.Fatalf("Rank() = %d: %v", len(first), names(first))
	}
	if size := len(notice.EncodeCandidates(first)["candidates"]); size > 8000 {
		t.Errorf("the list has %d bytes", size)
	}
	for range 5 {
		rand.Shuffle(len(nodes), func(i, j int) { nodes[i], nodes[j] = nodes[j], nodes[i] })
		if again := Rank(dual(), nodes, routers, nil); !slices.EqualFunc(again, first, notice.Candidate.Equal) {
			t.Fatalf("another order gives %v", names(again))
		}
	}
	more := append(nodes, node("a-newcomer", "10.0.200.1"))
	if again := Rank(dual(), more, routers, first); !slices.EqualFunc(again, first, notice.Candidate.Equal) {
		t.Errorf("a newcomer whose name comes first gives %v, want no change", names(again))
	}
	moved := Rank(dual(), nodes, []string{"worker-4000", "worker-3000"}, first)
	if got := names(moved); len(got) != notice.MostCandidates || !slices.Equal(got[:4], []string{"worker-4000", "worker-3000", "worker-0000", "worker-0001"}) {
		t.Errorf("a router that moved gives %v, want its new node among the first", got)
	}
}
