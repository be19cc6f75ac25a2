package nodeip

import (
	"context"
	"fmt"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/addr"
)

// bindTimeout limits the wait for each of the node's addresses.
const bindTimeout = 60 * time.Second

// Wait returns when a server can listen on each recorded address, in each family. The error names
// an address that is not back within a minute; kubelet would report only that it cannot find its
// node.
func (r *Room) Wait(ctx context.Context) error {
	for _, path := range []string{Primary, IPv4, IPv6} {
		text, there, err := r.host.Read(path)
		if err != nil {
			return err
		}
		if !there && path == Primary {
			return fmt.Errorf("there is no %s: run `onprem-infra node-ip set` first", Primary)
		}
		if !there {
			continue
		}
		own, ok := address(text)
		if !ok {
			return fmt.Errorf("read %s: %q is no address", path, text)
		}
		err = r.until(ctx, bindTimeout, func() error { return r.host.Bind(own) })
		if err != nil {
			return fmt.Errorf("the node's address %s of %s cannot be used: %w: "+
				"check the interface's configuration, as the address was there at the start",
				own, path, err)
		}
	}
	return nil
}

// WaitForLink returns when an interface of that name is up and has the node's primary address, or
// when the marker BrExUp exists. There is no limit: another program creates the interface, and may
// have to wait itself.
func (r *Room) WaitForLink(ctx context.Context, name string) error {
	start, logged := time.Now(), false
	return r.until(ctx, 0, func() error {
		_, marked, err := r.host.Read(BrExUp)
		if err != nil || marked {
			return err
		}
		seen, err := r.Observe(ctx)
		if err != nil {
			return err
		}
		for _, l := range seen.Host.Links {
			if l.Name == name && l.Up && holds(l, seen) {
				return nil
			}
		}
		if time.Since(start) > bindTimeout && !logged {
			logged = true
			r.log.Warn("wait", "error",
				fmt.Sprintf("%s is not up yet with the node's address, and there is no %s", name,
					BrExUp))
		}
		return fmt.Errorf("%s is not up with the node's address", name)
	})
}

// holds reports whether the interface has the node's primary address. Before one is chosen, any
// address but a link-local one counts.
func holds(l addr.Link, seen Snapshot) bool {
	for _, a := range l.Addresses {
		if a.Prefix.Addr() == seen.Primary ||
			!seen.Primary.IsValid() && !a.Prefix.Addr().IsLinkLocalUnicast() {
			return true
		}
	}
	return false
}

// until calls check each second until it succeeds. After the limit, if it is not 0, it returns the
// last error.
func (r *Room) until(ctx context.Context, limit time.Duration, check func() error) error {
	deadline := time.Now().Add(limit)
	for {
		err := check()
		if err == nil || limit > 0 && !time.Now().Before(deadline) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(time.Second):
		}
	}
}
