package timingproof

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func ms(n float64) time.Duration { return time.Duration(n * float64(time.Millisecond)) }

// sound is a proof that allows every timing.
func sound() Proof {
	return Proof{Host: "master-0", At: time.Unix(1_800_000_000, 0).UTC(), Lasted: time.Minute, RealTime: true, Thread: Lateness{Times: 6000, P999: ms(0.2), Most: ms(1)},
		Senders: []Sender{{netip.MustParseAddr("192.0.2.11"), 14, ms(100), Lateness{Times: 600, P999: ms(1), Most: ms(2)}}}}
}

// TestOf holds the parts of a distribution.
func TestOf(t *testing.T) {
	var late []time.Duration
	for i := range 2000 {
		late = append(late, time.Duration(2000-i))
	}
	if got := Of(late); got != (Lateness{2000, 1998, 2000}) {
		t.Errorf("%+v", got)
	}
	if got := Of([]time.Duration{3}); got != (Lateness{1, 3, 3}) {
		t.Errorf("of one: %+v", got)
	}
	if got := Of(nil); got != (Lateness{}) {
		t.Errorf("of none: %+v", got)
	}
}

// TestBears holds that a profile bears two intervals and the skew of the best backup.
func TestBears(t *testing.T) {
	for profile, want := range map[string]time.Duration{vrrp.ProfileFast: ms(100), vrrp.ProfileLan: ms(200), vrrp.ProfileVM: ms(500)} {
		timing, _ := vrrp.TimingOf(profile)
		if got := Bears(timing); got < want || got > want+timing.Advert/4 {
			t.Errorf("%s bears %v, want a little more than %v", profile, got, want)
		}
	}
}

// TestFaults holds what a measurement does not prove.
func TestFaults(t *testing.T) {
	fast, _ := vrrp.TimingOf(vrrp.ProfileFast)
	most := Allowed(fast)
	for _, tt := range []struct {
		name   string
		change func(*Proof)
		want   string // empty: no fault
	}{
		{"all in time", func(*Proof) {}, ""},
		{"a short one", func(p *Proof) { p.Lasted -= time.Second }, "measured for 59s"},
		{"no real-time scheduling", func(p *Proof) { p.RealTime = false }, "CAP_SYS_NICE"},
		{"no adverts", func(p *Proof) { p.Senders = nil }, "no adverts"},
		{"a late thread", func(p *Proof) { p.Thread.Most = most + 1 }, "was 25."},
		{"as late as it may be", func(p *Proof) { p.Thread.Most = most }, ""},
		{"a late advert", func(p *Proof) { p.Senders[0].Late.Most = ms(90) }, "was 90ms late, and timing fast bears 104ms"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := sound()
			tt.change(&p)
			found := strings.Join(p.Faults(fast), "; ")
			if found != tt.want && (tt.want == "" || !strings.Contains(found, tt.want)) {
				t.Errorf("%q, want %q", found, tt.want)
			}
		})
	}
	all := Proof{}
	if found := all.Faults(fast); len(found) != 3 {
		t.Errorf("not all faults at once: %q", found)
	}
}

// TestEncode holds that the JSON of a proof has all of it, with what it means for a timing, and that
// lists are lists also where they are empty.
func TestEncode(t *testing.T) {
	fast, _ := vrrp.TimingOf(vrrp.ProfileFast)
	alone := sound()
	alone.Senders = nil
	for _, tt := range []struct {
		proof  Proof
		faults int
	}{{sound(), 0}, {alone, 1}} {
		text, err := tt.proof.Encode(fast)
		if err != nil {
			t.Fatal(err)
		}
		var got struct {
			Proof
			Timing  string        `json:"timing"`
			Allowed time.Duration `json:"allowedNs"`
			Faults  []string      `json:"faults"`
		}
		if err := json.Unmarshal(text, &got); err != nil || got.Senders == nil || got.Faults == nil {
			t.Fatalf("%s\n%v", text, err)
		}
		if len(tt.proof.Senders) == 0 {
			got.Senders = nil
		}
		if !reflect.DeepEqual(got.Proof, tt.proof) || got.Timing != "fast" || got.Allowed != Allowed(fast) || len(got.Faults) != tt.faults {
			t.Errorf("%+v", got)
		}
	}
}

// TestLacking holds that a host has a proof under either form of its name, and under no other.
func TestLacking(t *testing.T) {
	proofs := map[string]int{"m0": 900, "m1.example.com": 900}
	got := Lacking(proofs, []string{"m0", "m0.example.com", "m1", "m1.example.com", "m1.example.org", "m10", "m"})
	if want := []string{"m1.example.org", "m10", "m"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
