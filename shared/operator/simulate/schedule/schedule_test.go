package schedule

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// withDNS is a cluster in which some elections are about the DNS VIP.
func withDNS() Cluster {
	c := Of(vrrp.CompatTiming())
	c.Policy = c.Policy.WithDNS()
	return c
}

func TestParse(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       Schedule
		err        string
	}{
		{name: "all", text: "# chaos\nseed 7\nlength 20s\n2s power-off holder for 1.5s # the power\n\n1.5s loss master-0 20 for 3s\n", want: Schedule{
			Seed: 7, Length: 20 * time.Second, Faults: []Fault{
				{At: 1500 * time.Millisecond, Kind: Loss, Host: "master-0", For: 3 * time.Second, Amount: 20},
				{At: 2 * time.Second, Kind: PowerOff, Host: Holder, For: 1500 * time.Millisecond},
			}}},
		{name: "no length", text: "seed 7\n", err: "length 20s"},
		{name: "too long", text: "length 2h\n", err: "at most 1h"},
		{name: "a kind that is none", text: "length 1s\n1s explode holder\n", err: `line 2: there is no fault "explode"`},
		{name: "no host", text: "length 1s\n1s cut\n", err: "line 2"},
		{name: "no time", text: "length 1s\nsoon cut holder\n", err: "line 2"},
		{name: "no amount", text: "length 1s\n1s loss holder much\n", err: "line 2"},
		{name: "loss without its amount", text: "length 1s\n1s loss holder for 1s\n", err: "line 2: 1s loss holder for 1s: specify 1 to 100 percent"},
		{name: "more than all is lost", text: "length 1s\n1s duplicate holder 101\n", err: "1 to 100 percent"},
		{name: "a delay of nothing", text: "length 1s\n1s delay holder 0\n", err: "1 to 1000 milliseconds"},
		{name: "an amount of a kind without", text: "length 1s\n1s cut holder 20\n", err: "cut has no amount: leave 20 out"},
		{name: "no duration", text: "length 1s\n1s loss holder 5 for long\n", err: "line 2"},
		{name: "half a duration", text: "length 1s\n1s loss holder 5 for\n", err: "nothing is known of that"},
		{name: "more", text: "length 1s\n1s loss holder 5 for 1s and more\n", err: "nothing is known of that"},
		{name: "before the beginning", text: "length 1s\n-1s cut holder\n", err: "times are from 0 to 1h"},
		{name: "a seed that is none", text: "seed seven\nlength 1s\n", err: "line 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := Parse(tt.text)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) {
					t.Fatalf("error %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%+v, %v, want %+v", got, err, tt.want)
			}
		})
	}
}

// TestScheduleText holds that what is written can be read, for schedules with faults of all kinds,
// and that schedules name hosts that are there.
func TestScheduleText(t *testing.T) {
	seen := map[Kind]bool{}
	for seed := range uint64(2000) {
		c, s := Trial(seed, withDNS())
		got, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(got, s) {
			t.Fatalf("seed %d: %v\n%swas read as\n%s", seed, err, s, got)
		}
		if err := c.Check(s); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		for _, f := range s.Faults {
			seen[f.Kind] = true
		}
	}
	for _, kind := range Kinds() {
		if !seen[kind] && kind != Part {
			t.Errorf("no schedule has %s", kind)
		}
	}
	s := Schedule{Faults: []Fault{{Kind: Cut, Host: "master-7"}}}
	if err := Of(vrrp.CompatTiming()).Check(s); err == nil ||
		!strings.Contains(err.Error(),
			"no host master-7, but master-0, master-1, master-2 and holder") {
		t.Errorf("a host that is not there: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for seed := range uint64(20) {
		_, s := Trial(seed, withDNS())
		f.Add(s.String())
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(s.String())
		if err != nil || !reflect.DeepEqual(again, s) {
			t.Fatalf("%v\n%swas read as\n%s", err, s, again)
		}
	})
}
