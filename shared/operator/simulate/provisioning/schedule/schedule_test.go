package schedule

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec/provisioning"
	"github.com/onprem-infra/onprem-infra/test/provisioned"
)

func cluster(t testing.TB) Cluster {
	t.Helper()
	c, err := Of(provisioned.Plan(t, "one"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestOf holds where there is nothing to simulate.
func TestOf(t *testing.T) {
	for want, change := range map[string]func(*plan.Plan){
		"needs a provisioning network in the mode managed": func(p *plan.Plan) { p.Provisioning = nil },
		"in the mode managed":                              func(p *plan.Plan) { p.Provisioning.Network = provisioning.Unmanaged },
		"installs no host":                                 func(p *plan.Plan) { p.Provisioning.Hosts = p.Provisioning.Hosts[3:] },
	} {
		p := provisioned.Plan(t, "two")
		change(&p)
		if _, err := Of(p); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       Fault
		err        string
	}{
		{"from the begin", "seed 7\n\n1.5s cut-boot holder for 3s # the cable\n", Fault{At: 1500 * time.Millisecond, Kind: CutBoot, Host: Holder, For: 3 * time.Second}, ""},
		{"after a phase", "dhcp-off+2s power-off bootstrap for 1m\n", Fault{After: "dhcp-off", At: 2 * time.Second, Kind: PowerOff, Host: Bootstrap, For: time.Minute}, ""},
		{"after a step", "worker-1:writing+0s flap-power worker-1\n", Fault{After: "worker-1:writing", Kind: FlapPower, Host: "worker-1"}, ""},
		{"a kind that is none", "1s explode holder\n", Fault{}, `line 1: there is no fault "explode"`},
		{"no end", "\n1s power-off holder\n", Fault{}, "line 2: 1s power-off holder: it has to end: add a time, as in: for 30s"},
		{"no host", "1s cut-boot\n", Fault{}, "is not [AFTER+]TIME KIND NAME [for TIME]"},
		{"no time", "soon cut-boot holder for 1s\n", Fault{}, "line 1"},
		{"too long", "1s cut-boot holder for 3h\n", Fault{}, "times are from 0 to 2h"},
		{"before the begin", "-1s cut-boot holder for 3s\n", Fault{}, "times are from 0 to 2h"},
		{"a seed that is none", "seed seven\n", Fault{}, "line 1"},
		{"a host that is not there", "1s cut-boot master-7 for 1s\n", Fault{}, "cut-boot is not for master-7, but for bootstrap, holder, master-0"},
		{"not of that host", "1s move-ironic bootstrap\n", Fault{}, "move-ironic is not for bootstrap, but for pod"},
		{"after what is not", "lunch+1s move-ironic pod\n", Fault{}, "nothing is called lunch; there are: services, preflight, deploy"},
	} {
		s, err := Parse(tt.text)
		if err == nil {
			err = cluster(t).Check(s)
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
}

// TestStartIronic holds that OpenShift's operator, which is paused, starts no Ironic.
func TestStartIronic(t *testing.T) {
	const text = "takeover+1s start-ironic pod"
	c, err := Of(provisioned.Plan(t, "two"))
	if err != nil {
		t.Fatal(err)
	}
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := cluster(t).Check(s); err != nil {
		t.Error(err)
	}
	if err := c.Check(s); err == nil || err.Error() != text+": start-ironic happens to nothing in this cluster" {
		t.Error(err)
	}
}

// TestRandomAfter holds that faults of all hosts of the cluster, of its Ironic and of the node that runs
// it begin after the handover, and none without such hosts.
func TestRandomAfter(t *testing.T) {
	c, seen := cluster(t), map[string]bool{}
	for seed := range uint64(2000) {
		s := RandomAfter(seed, c)
		if err := c.Check(s); err != nil || len(s.Faults) == 0 {
			t.Fatalf("seed %d: %v\n%s", seed, err, s)
		}
		for _, f := range s.Faults {
			if seen[f.After], seen[string(f.Kind)+" "+f.Host] = true, true; f.After == "" {
				t.Errorf("seed %d: %v", seed, f)
			}
		}
	}
	want := []string{Taken, "power-off holder", "cut-off holder", "cut-machine holder", "move-ironic pod", "lose-database pod"}
	for _, h := range c.Workers() {
		want = append(want, Mark(h.Name, Writing), Mark(h.Name, System), "power-off "+h.Name)
	}
	for _, what := range want {
		if !seen[what] {
			t.Errorf("never: %q", what)
		}
	}
	p := provisioned.Plan(t, "one")
	p.Provisioning.Hosts = p.Provisioning.Hosts[:3]
	c, err := Of(p)
	if err != nil {
		t.Fatal(err)
	}
	if s := RandomAfter(1, c); len(s.Faults) > 0 {
		t.Errorf("without workers:\n%s", s)
	}
}

// TestRandom holds that what is written can be read, that schedules are of what is there, and that
// faults of all kinds happen at all hosts and after all instants.
func TestRandom(t *testing.T) {
	c, seen := cluster(t), map[string]bool{}
	for seed := range uint64(5000) {
		s := Random(seed, c)
		got, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Fatalf("seed %d: %v\n%swas read as\n%s", seed, err, s, got)
		}
		if err := c.Check(s); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, f := range s.Faults {
			seen[f.After], seen[string(f.Kind)+" "+f.Host] = true, true
		}
		if OnePowerCut(s) {
			seen["one"] = true
		}
	}
	want := append(c.Marks(), "", "one")
	for _, k := range Kinds() {
		for _, host := range c.targets(k) {
			want = append(want, string(k)+" "+host)
		}
	}
	for _, what := range want {
		if !seen[what] {
			t.Errorf("never: %q", what)
		}
	}
}

func FuzzParse(f *testing.F) {
	c := cluster(f)
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
