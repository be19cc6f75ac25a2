//go:build remote

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"maps"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
)

// machine is what does not change while a host runs.
func (l *doctorLook) machine(ctx context.Context, f *facts.Facts, kind role.Role) {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		l.unseen("the kernel", err)
	}
	f.Machine.Kernel = strings.TrimSpace(string(release))
	f.Machine.Unsynced = l.asks.stepped()
	f.Machine.Ranges = l.ranges()
	if kind == "" { // nodes of OpenShift have what they need
		f.Machine.Programs = l.programs(ctx)
	}
}

// needed are the programs of a host without which ours do not get there.
var needed = []struct {
	name, oldest, why string
}{
	{"podman", "4.0", "it unpacks our programs, and runs containers on the bootstrap machine"},
	{"systemctl", "239", "systemd starts our units"},
}

func (l *doctorLook) programs(ctx context.Context) (out []facts.Program) {
	for _, n := range needed {
		bound, cancel := context.WithTimeout(ctx, doctorWithin)
		version, err := l.asks.version(bound, n.name)
		cancel()
		if err != nil {
			l.unseen("the version of "+n.name, err)
			continue
		}
		out = append(out, facts.Program{Name: n.name, Version: version, Needs: n.oldest, TooOld: below(version, n.oldest), Why: n.why})
	}
	return out
}

// below says whether a version is older than another; parts that are no numbers are none.
func below(version, than string) bool {
	a, b := strings.Split(version, "."), strings.Split(than, ".")
	for i := range b {
		x, y := 0, 0
		if i < len(a) {
			x, _ = strconv.Atoi(a[i])
		}
		if y, _ = strconv.Atoi(b[i]); x != y {
			return x < y
		}
	}
	return false
}

// rangeFiles are where DHCP servers of this host stand: dnsmasq's own, libvirt's, and ISC's.
var rangeFiles = []string{"/etc/dnsmasq.conf", "/etc/dnsmasq.d/*", "/var/lib/libvirt/dnsmasq/*.conf", "/etc/dhcp/dhcpd.conf"}

// ranges are what DHCP servers of this host give away. Those of other hosts do not say.
func (l *doctorLook) ranges() (out []facts.Range) {
	for _, pattern := range rangeFiles {
		files, _ := filepath.Glob(l.host.at(pattern)) // the patterns are well formed
		for _, file := range files {
			if text, err := os.ReadFile(file); err == nil {
				out = append(out, rangesIn(text, strings.TrimPrefix(file, l.host.root))...)
			}
		}
	}
	if len(out) == 0 && !l.live {
		l.unseen("DHCP ranges", errors.New("no DHCP server of this host has any, and those of others do not say"))
	}
	return out
}

// rangesIn reads lines such as `dhcp-range=192.0.2.100,192.0.2.200,12h` and `range 192.0.2.100
// 192.0.2.200;`.
func rangesIn(text []byte, source string) (out []facts.Range) {
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		key, rest, ok := strings.Cut(line, "=")
		if !ok {
			key, rest, _ = strings.Cut(line, " ")
		}
		if key = strings.TrimSpace(key); key != "dhcp-range" && key != "range" && key != "range6" {
			continue
		}
		var ends []netip.Addr
		for _, word := range strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune(" ,;\t", r) }) {
			if a, err := netip.ParseAddr(word); err == nil {
				ends = append(ends, a)
			}
		}
		if len(ends) >= 2 {
			out = append(out, facts.Range{First: ends[0], Last: ends[1], Source: source})
		}
	}
	return out
}

// before is what must be so before anything is installed.
func (l *doctorLook) before(ctx context.Context, f *facts.Facts) {
	for _, p := range port.All() {
		if !slices.Contains([]string{"kube-apiserver", "HAProxy", "CoreDNS", "onprem-supervise"}, p.Owner) && !strings.HasPrefix(p.Owner, "onprem-infra ") {
			continue
		}
		one := facts.Port{Name: p.Name, Number: l.plan.Ports[p.Name], Owner: p.Owner}
		for _, network := range []string{"tcp", "udp"} {
			if network == "udp" && p.Name != port.DNS {
				continue
			}
			if err := l.asks.listen(one.Number, network); errors.Is(err, os.ErrPermission) {
				l.unseen("ports below 1024", err)
			} else if err != nil {
				one.Taken = err.Error()
			}
		}
		f.Machine.Ports = append(f.Machine.Ports, one)
	}
	keys := slices.Sorted(maps.Keys(l.plan.Images))
	f.Machine.Images = make([]facts.Image, len(keys))
	var asked sync.WaitGroup
	for i, key := range keys {
		f.Machine.Images[i] = facts.Image{Key: key, Reference: l.plan.Images[key]}
		asked.Go(func() {
			if err := l.asks.image(ctx, f.Machine.Images[i].Reference); err != nil {
				f.Machine.Images[i].Fault = withoutURL(err)
			}
		})
	}
	asked.Wait()
	if len(keys) == 0 {
		l.unseen("images", errors.New("the cluster names none: say --images"))
	}
	if len(l.peers) == 0 {
		l.unseen("the ways to other hosts, and whether VRRP passes", errors.New("say their addresses: --peer ADDRESS"))
	}
}
