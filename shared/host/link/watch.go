package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"

	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// calm is the least time between two wake-ups by Watch.
const calm = 100 * time.Millisecond

// Watch sends to wake, without ever blocking, once when it has begun to listen and then when a
// link, an address or a route has changed: at once after a time of rest, and every 100 ms while
// changes follow each other, as on a host on which containers come and go. A caller that reads the
// host after a wake-up sees all changes before it, and is woken again after a later change. Watch
// returns nil when ctx ends.
func Watch(ctx context.Context, wake chan<- struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	changes, paced := loop.NewWake(), make(chan struct{})
	go func() {
		defer close(paced)
		pace(ctx, changes, wake)
	}()
	defer func() {
		cancel()
		<-paced
	}()
	return Every(ctx, changes)
}

// pace passes changes on, at most once in the time of calm, until ctx ends.
func pace(ctx context.Context, changes <-chan struct{}, wake chan<- struct{}) {
	rest := time.NewTimer(0)
	defer rest.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-rest.C:
		}
		select {
		case <-ctx.Done():
			return
		case <-changes:
		}
		loop.Wake(wake)
		rest.Reset(calm)
	}
}

// Every is Watch with a wake-up for every change, and for messages that the kernel had to drop, so
// that a caller which reads the host then misses nothing.
func Every(ctx context.Context, wake chan<- struct{}) error {
	socket, err := subscribe()
	if err != nil {
		return err
	}
	return listen(ctx, socket, wake)
}

func subscribe() (*nl.NetlinkSocket, error) {
	socket, err := nl.Subscribe(unix.NETLINK_ROUTE, unix.RTNLGRP_LINK, unix.RTNLGRP_IPV4_IFADDR,
		unix.RTNLGRP_IPV6_IFADDR,
		unix.RTNLGRP_IPV4_ROUTE, unix.RTNLGRP_IPV6_ROUTE)
	if err != nil {
		return nil, fmt.Errorf("listen to netlink: %w", err)
	}
	return socket, nil
}

// listen closes the socket when it returns.
func listen(ctx context.Context, socket *nl.NetlinkSocket, wake chan<- struct{}) error {
	stop := context.AfterFunc(ctx, socket.Close)
	defer func() {
		if stop() {
			socket.Close()
		}
	}()
	for {
		loop.Wake(wake)
		_, _, err := socket.Receive()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, unix.ENOBUFS): // messages were dropped; the subscription goes on
		case err != nil:
			return fmt.Errorf("listen to netlink: %w", err)
		}
	}
}
