package nodeip

import (
	"context"
	"fmt"
	"net/netip"
)

// Forward makes the kernel forward packets on the interface that has the node's primary address,
// for each family that the kernel supports. It writes the settings by their path, because sysctl
// would split the name of a VLAN at its dots.
func (r *Room) Forward(ctx context.Context) error {
	return r.settle(ctx, func(ctx context.Context) error {
		seen, err := r.Observe(ctx)
		if err != nil {
			return err
		}
		if !seen.Primary.IsValid() {
			return fmt.Errorf("there is no address in %s: run `onprem-infra node-ip set` first",
				Primary)
		}
		link, ok := seen.holder(seen.Primary)
		if !ok {
			return fmt.Errorf("no interface holds the node's address %s, which is in %s",
				seen.Primary, Primary)
		}
		any := false
		for _, family := range []string{"ipv4", "ipv6"} {
			there, err := r.host.Switch("/proc/sys/net/"+family+"/conf/"+link+"/forwarding", "1")
			if err != nil {
				return fmt.Errorf("forward %s on %s: %w", family, link, err)
			}
			any = any || there
		}
		if !any {
			return fmt.Errorf("the kernel has no setting to forward packets on %s", link)
		}
		r.log.Info("forward", "link", link)
		return nil
	})
}

// holder is the interface that has an address, the one with the lowest index of several.
func (s Snapshot) holder(address netip.Addr) (name string, ok bool) {
	index := 0
	for _, l := range s.Host.Links {
		for _, a := range l.Addresses {
			if a.Prefix.Addr() == address && (!ok || l.Index < index) {
				name, index, ok = l.Name, l.Index, true
			}
		}
	}
	return name, ok
}
