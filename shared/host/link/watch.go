package link

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/vishvananda/netlink/nl"
	"golang.org/x/sys/unix"
)

// calm is the least time between two words of Watch.
const calm = 100 * time.Millisecond

// Watch sends to wake, without ever blocking, once when it has begun to listen and then when a
// link, an address or a route has changed: at once after a time of rest, and every 100 ms while
// changes follow each other, as on a host on which containers come and go. Who looks at the host
// after a word has seen all that was before it, and another word follows when something came later.
// It returns nil when ctx ends.
func Watch(ctx context.Context, wake chan<- struct{}) error {
	ctx, cancel := context.WithCancel(ctx)
	news, paced := make(chan struct{}, 1), make(chan struct{})
	go func() {
		defer close(paced)
		pace(ctx, news, wake)
	}()
	defer func() {
		cancel()
		<-paced
	}()
	return Every(ctx, news)
}

// pace passes on what is news, at most once in the time of calm, until ctx ends.
func pace(ctx context.Context, news <-chan struct{}, wake chan<- struct{}) {
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
		case <-news:
		}
		tell(wake)
		rest.Reset(calm)
	}
}

// tell never blocks: a word carries nothing, so that a second one adds nothing.
func tell(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

// Every is Watch with a word for every change. When the kernel had to drop news there is one too:
// the listener must look anew, and misses nothing.
func Every(ctx context.Context, wake chan<- struct{}) error {
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
		tell(wake)
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
