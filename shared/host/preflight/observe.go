// Package preflight finds what would keep Ironic from deploying hosts, by what their BMCs report.
// It changes nothing: BMCs get GET requests and pings alone.
package preflight

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/ipmi"
	"github.com/onprem-infra/onprem-infra/shared/host/redfish"
	"github.com/onprem-infra/onprem-infra/shared/rootdisk"
)

// Target is one host of a description, and how to reach its BMC.
type Target struct {
	Host    string
	Place   string          // of the host in the user's file, empty for none
	Scheme  string          // of the BMC's address, as written; empty for IPMI
	IPMI    string          // HOST:PORT, for IPMI alone
	Service redfish.Service // for Redfish alone
	Want    Want
}

// Want is what the description has of the host.
type Want struct {
	BootMAC   string
	BootMode  string // UEFI, UEFISecureBoot or legacy
	Disk      rootdisk.Hints
	MemoryGiB float64 // that the ramdisk and the image need; 0 for the ramdisk's
	Running   bool    // the host is part of a cluster, and not to be deployed
	Ours      bool    // the bootstrap machine installs the host
}

// Refuses reports whether the host is not installed, as more than one disk may be meant: where
// metal3 takes the first one, the bootstrap machine takes none.
func (w Want) Refuses(c rootdisk.Choice) bool { return w.Ours && !w.Running && c.Ambiguous() }

// The kinds of BMC addresses.
const (
	schemeIPMI    = "ipmi"
	schemeLibvirt = "libvirt"
)

// scheme is the scheme without the transport.
func (t Target) scheme() string {
	base, _, _ := strings.Cut(strings.ToLower(t.Scheme), "+")
	if base == "" {
		return schemeIPMI
	}
	return base
}

func (t Target) byIPMI() bool { return t.scheme() == schemeIPMI || t.scheme() == schemeLibvirt }

// virtualMedia is whether the host boots an image that its BMC inserts.
func (t Target) virtualMedia() bool { return strings.HasSuffix(t.scheme(), "-virtualmedia") }

// BootPath is what the host starts its deployment from, and by which firmware.
func (t Target) BootPath() string {
	path := "PXE"
	switch {
	case t.virtualMedia():
		path = "virtual media"
	case strings.HasSuffix(t.scheme(), "-uefihttp"):
		path = "HTTP"
	}
	return path + ", " + cmp.Or(t.Want.BootMode, "UEFI")
}

// Address is the BMC's address without credentials, which a user may have put there.
func (t Target) Address() string {
	address := t.Service.URL
	if t.byIPMI() {
		address = t.IPMI
	}
	scheme, rest, found := strings.Cut(address, "://")
	if !found {
		scheme, rest = "", address
	}
	rest = rest[strings.LastIndex(rest, "@")+1:]
	if scheme == "" {
		return rest
	}
	return scheme + "://" + rest
}

// Facts are what a host's BMC reports: either Redfish or Ping is set.
type Facts struct {
	Target  Target
	Redfish *redfish.Facts
	Ping    *ipmi.Pong
}

// Options are how to observe. The zero value has the defaults.
type Options struct {
	AtOnce int           // BMCs at a time; 0 for 10
	Wait   time.Duration // for an answer to a ping; 0 for a second
	// Done is called when one more of all hosts has been asked, by any goroutine; it may be nil.
	Done Done
}

// Done takes how many of all hosts have been asked.
type Done func(done, all int)

const atOnce = 10

// Observe reads all BMCs, some at a time. Hosts of one BMC are read one after the other, as BMCs
// have few sessions. The facts have the order of the targets.
func Observe(ctx context.Context, targets []Target, o Options) []Facts {
	if o.AtOnce <= 0 {
		o.AtOnce = atOnce
	}
	facts, places := make([]Facts, len(targets)), make(chan struct{}, o.AtOnce)
	var wg sync.WaitGroup
	var done atomic.Int64
	for _, group := range groups(targets) {
		wg.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			for _, i := range group {
				facts[i] = observe(ctx, targets[i], o)
				if n := done.Add(1); o.Done != nil {
					o.Done(int(n), len(targets))
				}
			}
		})
	}
	wg.Wait()
	return facts
}

// groups are the indices of the targets of each BMC, in the order of the first of each.
func groups(targets []Target) (all [][]int) {
	at := map[string]int{}
	for i, t := range targets {
		key := strings.ToLower(t.Address())
		if _, ok := at[key]; !ok {
			at[key] = len(all)
			all = append(all, nil)
		}
		all[at[key]] = append(all[at[key]], i)
	}
	return all
}

func observe(ctx context.Context, t Target, o Options) Facts {
	if t.byIPMI() {
		pong := ipmi.Ping(ctx, t.IPMI, o.Wait)
		return Facts{Target: t, Ping: &pong}
	}
	facts := redfish.Read(ctx, t.Service)
	return Facts{Target: t, Redfish: &facts}
}
