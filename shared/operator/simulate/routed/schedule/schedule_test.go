package schedule

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/plan/routed"
	"github.com/onprem-infra/onprem-infra/test/racks"
)

func cluster(t testing.TB, fabric string) Cluster {
	t.Helper()
	c, err := Of(racks.Fabrics()[fabric].Plan(t), 3)
	if err != nil {
		t.Fatal(err)
	}
	c.Bootstrap = true
	return c
}

// TestOf holds where there is nothing to simulate.
func TestOf(t *testing.T) {
	for want, change := range map[string]func(*plan.Plan) (nodes int){
		"announce no VIP to routers":        func(p *plan.Plan) int { p.BGP = nil; return 3 },
		"simulate takes 16 of each at most": func(*plan.Plan) int { return 17 },
		"has no racks":                      func(p *plan.Plan) int { p.BGP.Racks = nil; return 3 },
		"more AS numbers than simulate takes": func(p *plan.Plan) int {
			rack := p.BGP.Racks[0]
			rack.Peers = make([]routed.Peer, 4) // of whichever number each
			p.BGP.Racks = slices.Repeat([]routed.Rack{rack}, 16)
			return 3
		},
	} {
		p := racks.Fabrics()["one rack"].Plan(t)
		if _, err := Of(p, change(&p)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestOf_Fabric holds how racks are connected: each host to all routers of its rack, those to all
// spines above them, and only routers that the plan gives one number have one.
func TestOf_Fabric(t *testing.T) {
	c := cluster(t, "super-spines")
	for name, want := range map[string][]string{
		"master-0": {"leaf-0-0", "leaf-0-1"}, "master-1": {"leaf-1-0"}, "leaf-0-1": {"spine-0-0", "spine-0-1"}, "leaf-3-0": {"spine-0-2", "spine-0-3"},
		"spine-0-3": {"spine-1-0", "spine-1-1"}, "spine-1-0": nil,
	} {
		var got []string
		for i, l := range c.Links {
			if c.Boxes[l.Below].Name == name {
				_, above, _ := strings.Cut(c.LinkName(i), "/")
				got = append(got, above)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s is below %v, want %v", name, got, want)
		}
	}
	number := func(name string) uint64 { return c.Boxes[c.Find(name)].Number }
	if number("leaf-0-0") != number("leaf-0-1") || number("leaf-0-0") == number("leaf-2-0") || number("spine-0-0") != number("spine-0-1") ||
		number("spine-0-0") == number("spine-0-2") || len(c.Tops) != 2 {
		t.Errorf("%+v", c.Boxes)
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       Fault
		err        string
	}{
		{"a link", "seed 7\n\n1.5s cut master-0/leaf-0-0 for 3s # the cable\n", Fault{At: 1500 * time.Millisecond, Kind: Cut, Host: "master-0/leaf-0-0", For: 3 * time.Second}, ""},
		{"a rack", "2s partition rack-1\n", Fault{At: 2 * time.Second, Kind: Partition, Host: "rack-1"}, ""},
		{"a kind that is none", "1s explode master-0\n", Fault{}, `there is no fault "explode"`},
		{"no host", "1s cut\n", Fault{}, "is not TIME KIND NAME [for TIME]"},
		{"no time", "soon cut rack-1\n", Fault{}, "line 2"},
		{"too long", "1s cut master-0/leaf-0-0 for 2h\n", Fault{}, "times are from 0 to 1h"},
		{"before the begin", "-1s reboot master-0\n", Fault{}, "times are from 0 to 1h"},
		{"a host that is not there", "1s reboot master-7\n", Fault{}, "reboot is not for master-7, but for bootstrap, master-0"},
		{"not of a host", "1s one-path master-0\n", Fault{}, "one-path is not for master-0, but for leaf-0-0"},
		{"not of that host", "1s kill-router master-0\n", Fault{}, "kill-router is not for master-0, but for ingress-0"},
	} {
		s, err := Parse("length 20s\n" + tt.text)
		if err == nil {
			err = cluster(t, "two racks").Check(s)
		}
		if tt.err != "" {
			if err == nil || !strings.Contains(err.Error(), tt.err) {
				t.Errorf("%s: error %v, want %q", tt.name, err, tt.err)
			}
			continue
		}
		if err != nil || len(s.Faults) != 1 || s.Faults[0] != tt.want {
			t.Errorf("%s: %+v, %v", tt.name, s, err)
		}
	}
	for _, text := range []string{"seed 5\n", "length 0s\n", "length 2h\n"} {
		if _, err := Parse(text); err == nil || !strings.Contains(err.Error(), "as in: length 20s") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// TestRandom holds that what is written can be read, that schedules are of what is there, and that
// faults of all kinds happen to all that they can happen to.
func TestRandom(t *testing.T) {
	seen := map[string]bool{}
	plain := cluster(t, "two racks")
	for seed := range uint64(20000) {
		c, s := Trial(seed, plain)
		got, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Fatalf("seed %d: %v\n%swas read as\n%s", seed, err, s, got)
		}
		if err := c.Check(s); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, f := range s.Faults {
			seen[string(f.Kind)+" "+f.Host] = true
		}
	}
	for _, k := range Kinds() {
		for _, name := range plain.Targets(k) {
			if what := string(k) + " " + name; !seen[what] {
				t.Errorf("never: %q", what)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	c := cluster(f, "two racks")
	for seed := range uint64(20) {
		f.Add(Random(seed, c).String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		_ = c.Check(s)
		again, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%v\n%swas read as\n%s", err, s, again)
		}
	})
}
