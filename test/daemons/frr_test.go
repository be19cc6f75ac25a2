package daemons

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/onprem-infra/onprem-infra/shared/frr"
	host "github.com/onprem-infra/onprem-infra/shared/host/frr"
	"github.com/onprem-infra/onprem-infra/shared/secret"
	"github.com/onprem-infra/onprem-infra/test/announcers"
	daemons "github.com/onprem-infra/onprem-infra/test/frr"
)

// TestFRR has real daemons take every configuration after every other one, by the difference alone:
// each command is done, and what they then have is the configuration, no line less and none more.
func TestFRR(t *testing.T) {
	t.Parallel()
	d := daemons.Start(t, node(t), false)
	all := announcers.Configs()
	names := slices.Sorted(maps.Keys(all))
	from := frr.Config{}
	change := func(what string, to frr.Config) {
		for _, name := range frr.Daemons() {
			commands := frr.Difference(name, from, to)
			if err := d.Try(name, func(c *host.Daemon) error { return c.Apply(t.Context(), commands) }); err != nil {
				t.Fatalf("%s: %v\n%q", what, err, commands)
			}
			missing, extra := frr.Compare(name, to, d.Show(name, "show running-config"))
			if len(missing)+len(extra) > 0 {
				t.Fatalf("%s: %s lacks %q, and has %q beyond; commands %q", what, name, missing, extra, commands)
			}
			if again := frr.Difference(name, to, to); len(again) > 0 {
				t.Fatalf("%s: there is nothing to change: %q", what, again)
			}
		}
		from = to
	}
	for _, a := range names {
		for _, b := range names {
			change(a, all[a])
			change(a+", then "+b, all[b])
		}
	}
}

// TestFRR_Refused holds that the daemons refuse what they cannot do, with a message that names it and
// has no secret; and that what they take without doing it is not read back.
func TestFRR_Refused(t *testing.T) {
	t.Parallel()
	good := announcers.Configs()["one-leaf"]
	with := func(change func(*frr.Config, *frr.Peer)) frr.Config {
		c := good
		c.Peers = slices.Clone(good.Peers)
		change(&c, &c.Peers[0])
		return c
	}
	long := strings.Repeat("x", 81)
	for name, tt := range map[string]struct {
		config frr.Config
		want   string
	}{
		"a password of 81 characters": {with(func(_ *frr.Config, p *frr.Peer) { p.Password = secret.New(long) }), "password [hidden]"},
		"a number that is none":       {with(func(c *frr.Config, _ *frr.Peer) { c.ASN = 0 }), "router bgp 0"},
		"a hold time of a second":     {with(func(c *frr.Config, _ *frr.Peer) { c.Timing.Hold, c.Timing.Keepalive = 1e9, 1e9 }), "timers 1 1"},
		"BFD every 5 ms":              {with(func(c *frr.Config, _ *frr.Peer) { c.Timing.BFD.Interval = 5e6 }), "transmit-interval 5"},
		"300 routers between":         {with(func(_ *frr.Config, p *frr.Peer) { p.TTLSecurity, p.Hops = true, 300 }), "hops 300"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := daemons.Start(t, node(t), false)
			var wrong []string
			for _, name := range frr.Daemons() {
				if err := d.Try(name, func(c *host.Daemon) error { return c.Apply(t.Context(), frr.Configure(name, tt.config)) }); err != nil {
					wrong = append(wrong, err.Error())
				}
				missing, _ := frr.Compare(name, tt.config, d.Show(name, "show running-config"))
				for _, m := range missing {
					wrong = append(wrong, "missing: "+m)
				}
			}
			text := strings.Join(wrong, "\n")
			t.Log(text)
			if !strings.Contains(text, tt.want) || strings.Contains(text, long) {
				t.Errorf("%q does not name %q, or has the secret", text, tt.want)
			}
		})
	}
}
