package keepalived

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

// Parse is the inverse of Render: Parse(Render(c)) renders as c does. It is for a configuration
// that is running when this program starts, and for what a monitor of the former release
// proposes. What Render does not write it leaves out, as a configuration may be of a release that
// wrote more.
func Parse(text []byte) (Config, error) {
	file, err := readBlocks(text)
	if err != nil {
		return Config{}, fmt.Errorf("parse keepalived.conf: %w", err)
	}
	c := Config{}
	if first, _, _ := bytes.Cut(text, []byte("\n")); bytes.HasPrefix(first, []byte("# ")) {
		c.Header = string(first[2:])
	}
	var v values
	for _, b := range file.blocks {
		v.top(b, &c)
	}
	for n := range c.Instances {
		i := &c.Instances[n]
		i.Grouped = i.Grouped && slices.ContainsFunc(c.Groups, func(g SyncGroup) bool {
			return slices.Contains(g.Members, i.Name)
		})
	}
	if err := errors.Join(v.wrong, Validate(c)); err != nil {
		return Config{}, fmt.Errorf("parse keepalived.conf: %w", err)
	}
	return c, nil
}

// values reads words as the types of a Config, and collects what they cannot be.
type values struct{ wrong error }

func (v *values) refuse(err error) { v.wrong = errors.Join(v.wrong, err) }

// top reads one block of the file.
func (v *values) top(b block, c *Config) {
	switch b.title[0] {
	case "global_defs":
		c.NotifyFIFO = Path(b.value("vrrp_notify_fifo"))
	case "vrrp_script":
		if k, ok := v.check(b); ok {
			c.Checks = append(c.Checks, k)
		}
	case "track_file":
		t := Track{
			Name: vrrp.CheckName(b.name()), File: Path(b.value("file")),
			Weight: v.number(b, "weight", 0, most),
		}
		if t.Name == leaveTrack {
			c.Leave = t.File
			return
		}
		c.Tracks = append(c.Tracks, t)
	case "vrrp_sync_group":
		g := SyncGroup{Name: vrrp.InstanceName(b.name()), Tracks: b.tracks()}
		for _, words := range b.block("group").lines {
			g.Members = append(g.Members, vrrp.InstanceName(words[0]))
		}
		c.Groups = append(c.Groups, g)
	case "vrrp_instance":
		c.Instances = append(c.Instances, v.instance(b))
	}
}

// check reads a script whose time is limited as Render limits it; another one is left out.
func (v *values) check(b block) (Check, bool) {
	script := b.line("script")
	if len(script) != 4 || script[1] != `"/usr/bin/timeout` {
		return Check{}, false
	}
	return Check{
		Name: vrrp.CheckName(b.name()), Command: Path(strings.TrimSuffix(script[3], `"`)),
		Interval: v.seconds(b.value("interval"), time.Second), Timeout: v.seconds(script[2], 0),
		Rise: v.number(b, "rise", 1, most), Fall: v.number(b, "fall", 1, most),
		Weight: v.number(b, "weight", 0, most),
	}, true
}

// instance reads an instance. keepalived has a value of its own where the text has none.
func (v *values) instance(b block) Instance {
	i := Instance{
		Name: vrrp.InstanceName(b.name()), Interface: Interface(b.value("interface")),
		ID:       vrrp.ID(v.number(b, "virtual_router_id", 0, math.MaxUint8)),
		Version:  vrrp.Version(v.number(b, "version", int(vrrp.V2), int(vrrp.V3))),
		Priority: vrrp.Priority(v.number(b, "priority", 100, int(vrrp.MaxPriority))),
		Advert:   v.seconds(b.value("advert_int"), time.Second),
		Refresh:  v.seconds(b.value("garp_master_refresh"), 0),
		AuthPass: vrrp.AuthPass(b.block("authentication").value("auth_pass")),
		Tracks:   b.tracks(), Grouped: !b.has("track_file"),
		Filter: Filter{Known: b.line("check_unicast_src") != nil},
	}
	if source := b.value("unicast_src_ip"); source != "" {
		i.Source = v.address(source)
	}
	for _, words := range b.block("unicast_peer").lines {
		i.Peers = append(i.Peers, v.address(words[0]))
		i.Near = i.Near || slices.Contains(words, "min_ttl")
	}
	vips := b.block("virtual_ipaddress").lines
	if len(vips) != 1 {
		v.refuse(fmt.Errorf("instance %q has %d VIPs", i.Name, len(vips)))
	}
	for _, words := range vips {
		text, bits, _ := strings.Cut(words[0], "/")
		i.VIP = v.address(text)
		if len(words) > 2 && words[1] == "dev" {
			i.Device, i.Bits = Interface(words[2]), v.bits(bits)
		}
	}
	for _, words := range b.block("track_script").lines {
		i.Checks = append(i.Checks, vrrp.CheckName(words[0]))
	}
	return i
}

// bits reads a prefix length; whether it is one of the family is for Validate.
func (v *values) bits(text string) int {
	n, err := strconv.Atoi(text)
	v.refuse(err)
	return n
}

// number reads a keyword's whole number, of an absolute value of most at most.
func (v *values) number(b block, keyword string, otherwise, most int) int {
	text := b.value(keyword)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil || n > most || n < -most || n < 0 && keyword != "weight" {
		v.refuse(fmt.Errorf("%s %q is not a number of its range", keyword, text))
		return otherwise
	}
	return n
}

// seconds reads a time, which may have a fraction.
func (v *values) seconds(text string, otherwise time.Duration) time.Duration {
	if text == "" {
		return otherwise
	}
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s >= 0 && s <= longest.Seconds()) { // NaN is neither
		v.refuse(fmt.Errorf("%q is no time of at most %s", text, longest))
		return otherwise
	}
	return time.Duration(math.Round(s * float64(time.Second)))
}

func (v *values) address(text string) netip.Addr {
	a, err := netip.ParseAddr(text)
	v.refuse(err)
	return a
}
