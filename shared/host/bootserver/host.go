// Package bootserver implements the machine that the room shared/bootserver reads and changes,
// and its packet filter. Such a machine answers hosts that boot.
package bootserver

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/asset"
	"github.com/onprem-infra/onprem-infra/shared/bootserver"
	servers "github.com/onprem-infra/onprem-infra/shared/host/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
	filter "github.com/onprem-infra/onprem-infra/shared/host/nft/dhcp"
	"github.com/onprem-infra/onprem-infra/shared/host/probe"
)

const (
	// answer bounds the wait for an answer: a running dnsmasq needs less.
	answer = time.Second
	// everyAnswer is the time between two answers: dnsmasq logs each of them.
	everyAnswer = 10 * time.Second
	// tftpPort is fixed: hosts have no other.
	tftpPort = 69
)

// start is more than dnsmasq needs until its first answer on a busy machine.
var start = probe.Start{
	Within: 3 * time.Second, Each: 300 * time.Millisecond, Pause: 10 * time.Millisecond,
}

// Host is the machine, without the methods Orders and Report of the room's interface.
type Host struct {
	link.Network
	Servers *servers.Follower // that are none of the cluster's
}

// Exists reports whether there is a regular file.
func (Host) Exists(path string) bool { return file.Regular(path) }

// Write replaces a file atomically, with its directory, and reports whether it changed.
func (Host) Write(f asset.File) (changed bool, err error) {
	if err := os.MkdirAll(filepath.Dir(f.Path), 0o755); err != nil {
		return false, err
	}
	return file.WriteIfChanged(f.Path, f.Contents, f.Mode)
}

// Watch reports the servers of a link that are not the cluster's; an empty link ends that.
func (h Host) Watch(link string) { h.Servers.Watch(link) }

// Answers waits until a new dnsmasq has opened its port and serves a file.
func (Host) Answers(ctx context.Context, server netip.Addr, file string) error {
	return start.Wait(ctx, func(ctx context.Context) error { return ask(ctx, server, file) })
}

func ask(ctx context.Context, server netip.Addr, file string) error {
	return probe.TFTP(ctx, netip.AddrPortFrom(server, tftpPort), file)
}

// Alive makes the probe of a running dnsmasq at an address. It is an answer over TFTP: that takes
// no lease, and dnsmasq has one loop for everything.
func Alive(server netip.Addr) func(context.Context) error {
	var next time.Time
	return func(ctx context.Context) error {
		if time.Now().Before(next) {
			return nil
		}
		ctx, cancel := context.WithTimeout(ctx, answer)
		defer cancel()
		err := ask(ctx, server, bootserver.Asked)
		switch {
		case errors.As(err, new(probe.TFTPRefused)), err == nil: // it works
			next = time.Now().Add(everyAnswer)
			return nil
		case ctx.Err() != nil:
			return fmt.Errorf("it does not answer over TFTP within %v", answer)
		}
		return err
	}
}

// Fence is the machine's packet filter around the server.
type Fence struct{}

// Keep has the server receive requests of these clients only, and send none while it is closed.
func (Fence) Keep(link string, from bootserver.Clients) error {
	_, err := filter.Keep(filter.Filter{Link: link, Hosts: from.Hosts, Except: from.Except,
		Fenced: true})
	return err
}

// Allow opens it for a time from now.
func (Fence) Allow(d time.Duration) error { return filter.Allow(d) }

// Close closes it at once.
func (Fence) Close() error { return filter.Close() }

// Remove removes all of it.
func (Fence) Remove() error { return filter.Remove() }
