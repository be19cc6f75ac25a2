package link

import (
	"context"
	"errors"
	"fmt"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// Watch sends to wake, without ever blocking, once when it has begun to listen and then at every change of a link, an address or a route.
// When the kernel had to drop news it wakes too: the listener must look anew, and misses nothing. It returns nil when ctx ends.
func Watch(ctx context.Context, wake chan<- struct{}) error {
	socket, err := subscribe()
	if err != nil {
		return err
	}
	return listen(ctx, socket, wake)
}

func subscribe() (*nl.NetlinkSocket, error) {
	socket, err := nl.Subscribe(unix.NETLINK_ROUTE, unix.RTNLGRP_LINK, unix.RTNLGRP_IPV4_IFADDR, unix.RTNLGRP_IPV6_IFADDR,
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
		select {
		case wake <- struct{}{}:
		default:
		}
		_, _, err := socket.Receive()
		switch {
		case ctx.Err() != nil:
			return nil
		case errors.Is(err, unix.ENOBUFS): // news were dropped; the subscription lives on
		case err != nil:
			return fmt.Errorf("listen to netlink: %w", err)
		}
	}
}
