// Package system inspects a host below our programs: its kernel, clock, programs, ports and limits.
package system

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/inspect"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
	"github.com/onprem-infra/onprem-infra/shared/host/proc"
	"github.com/onprem-infra/onprem-infra/shared/operator/facts"
	"github.com/onprem-infra/onprem-infra/shared/port"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec/image"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

// Inspector inspects the machine of a host.
type Inspector struct {
	inspect.Scope
	Probes
}

// Probes are the sources of facts other than files. A test replaces them.
type Probes struct {
	Lookup func(ctx context.Context, name string) ([]netip.Addr, error)
	// Time asks by NTP, and Date by HTTPS.
	Time      func(ctx context.Context, server netip.Addr) (ahead time.Duration, err error)
	Date      func(ctx context.Context, server netip.AddrPort) (ahead time.Duration, err error)
	Unsynced  func() (why string)
	Version   func(ctx context.Context, program string) (string, error)
	Image     func(ctx context.Context, reference string) error
	Listen    func(number uint16, network string) error
	Room      func(dir string) (bytes, files uint64, err error)
	Watchable func(dir string) error
}

// HostProbes ask this host, and its network.
func HostProbes() Probes {
	return Probes{
		Lookup: func(ctx context.Context, name string) ([]netip.Addr, error) {
			return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
		},
		Time: func(ctx context.Context, server netip.Addr) (time.Duration, error) {
			return probe.Time(ctx, netip.AddrPortFrom(server, 123))
		},
		Date: func(ctx context.Context, server netip.AddrPort) (time.Duration, error) {
			return probe.Date(ctx, "https://"+server.String()+"/version")
		},
		Unsynced: unsynced, Version: proc.Version, Image: probe.Image, Listen: listen,
		Room: file.Room, Watchable: file.Watchable,
	}
}

// The state and the status bit of a kernel clock that is not synchronised (adjtimex(2)).
const (
	timeError    = 5
	timeUnsynced = 0x40
)

// unsynced is why the kernel's clock is not synchronised; empty if it is, or if it is not known.
func unsynced() string {
	var t syscall.Timex
	state, err := syscall.Adjtimex(&t)
	if err != nil || state != timeError && t.Status&timeUnsynced == 0 {
		return ""
	}
	return "the kernel reports that its clock is not synchronised"
}

// listen listens at a port of every address for a moment.
func listen(number uint16, network string) error {
	at := fmt.Sprintf(":%d", number)
	var c io.Closer
	var err error
	if network == "udp" {
		c, err = net.ListenPacket(network, at)
	} else {
		c, err = net.Listen(network, at)
	}
	if err != nil {
		return err
	}
	return c.Close()
}

// Kernel is the kernel's release.
func (i Inspector) Kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	i.Unseen.Add("the kernel", err)
	return strings.TrimSpace(string(release))
}

// needed are the programs without which our programs cannot be installed.
var needed = []struct {
	name, oldest, why string
}{
	{"podman", "4.0", "it unpacks our programs, and runs containers on the bootstrap machine"},
	{"systemctl", "239", "systemd starts our units"},
}

// Programs are those that a plain host needs. Nodes of OpenShift have them.
func (i Inspector) Programs(ctx context.Context) (out []facts.Program) {
	if i.Role != "" {
		return nil
	}
	for _, n := range needed {
		bound, cancel := context.WithTimeout(ctx, inspect.ProbeTimeout)
		version, err := i.Version(bound, n.name)
		cancel()
		if err != nil {
			i.Unseen.Add("the version of "+n.name, err)
			continue
		}
		out = append(out, facts.Program{
			Name: n.name, Version: version, Needs: n.oldest, TooOld: olderThan(version, n.oldest),
			Why: n.why,
		})
	}
	return out
}

// olderThan reports whether a version is older than another. Parts that are no numbers are 0.
func olderThan(version, other string) bool {
	numbers := func(text string) (out []int) {
		for _, part := range strings.Split(text, ".") {
			n, _ := strconv.Atoi(part)
			out = append(out, n)
		}
		return out
	}
	a, b := numbers(version), numbers(other)
	for len(a) < len(b) {
		a = append(a, 0)
	}
	return slices.Compare(a[:len(b)], b) < 0
}

// Limits are those of the file system in which keepalived's supervisor and monitor exchange files,
// and of the files that root's programs may watch.
func (i Inspector) Limits() *facts.Limits {
	if !i.RunsVIP() {
		return nil
	}
	if there, err := i.Files.Exists(supervised.RunDir); err != nil || !there {
		return nil // the supervisor has never run, which another check reports
	}
	dir := i.Files.Path(supervised.RunDir)
	bytes, files, err := i.Room(dir)
	if err != nil {
		i.Unseen.Add("room for files", err)
		return nil
	}
	l := &facts.Limits{Dir: supervised.RunDir, Bytes: bytes, Files: files}
	if err := i.Watchable(dir); err != nil {
		l.Unwatchable = err.Error()
	}
	return l
}

// Ports are those at which our programs will listen.
func (i Inspector) Ports() (out []facts.Port) {
	owners := []string{"kube-apiserver", "HAProxy", "CoreDNS", "onprem-speak", "onprem-supervise"}
	for _, p := range port.All() {
		if !slices.Contains(owners, p.Owner) && !strings.HasPrefix(p.Owner, "onprem-infra ") {
			continue
		}
		one := facts.Port{Name: p.Name, Number: i.Plan.Ports[p.Name], Owner: p.Owner}
		networks := []string{"tcp"}
		if p.Name == port.DNS {
			networks = append(networks, "udp")
		}
		for _, network := range networks {
			if err := i.Listen(one.Number, network); errors.Is(err, os.ErrPermission) {
				i.Unseen.Add("ports below 1024", err)
			} else if err != nil {
				one.Taken = err.Error()
			}
		}
		out = append(out, one)
	}
	return out
}

// Images are the container images of the plan.
func (i Inspector) Images(ctx context.Context) []facts.Image {
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(i.Plan.Images)), image.IsFile)
	if len(keys) == 0 {
		i.Unseen.Add("images", errors.New("the cluster names none: specify --images"))
	}
	out := make([]facts.Image, len(keys))
	inspect.Each(keys, func(n int, key string) {
		out[n] = facts.Image{Key: key, Reference: i.Plan.Images[key]}
		if err := i.Image(ctx, out[n].Reference); err != nil {
			out[n].Fault = inspect.WithoutURL(err)
		}
	})
	return out
}

// Statics are the manifests on a bootstrap machine that run a daemon instead of our unit.
func (i Inspector) Statics() []facts.Static {
	if i.Role != role.Bootstrap {
		return nil
	}
	out, err := i.Files.Statics()
	i.Unseen.Add("static pods", err)
	return out
}
