package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/loop"
)

// clusterVIPs are all VIPs of the cluster that a host's file describes, also those for which this
// host is no candidate: none may be left on an interface. No more of the file is read than its
// VIPs: other programs use the rest, and validate it.
func clusterVIPs(path string) ([]netip.Addr, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the cluster's VIPs: %w", err)
	}
	var cluster struct {
		Spec struct {
			APIVIPs, IngressVIPs []netip.Addr
			DNSVIP               netip.Addr
			Provisioning         struct {
				Address string
				IP      netip.Addr
			}
		}
	}
	if err := json.Unmarshal(text, &cluster); err != nil {
		return nil, fmt.Errorf("read the cluster's VIPs in %s: %w", path, err)
	}
	vips := append(cluster.Spec.APIVIPs, cluster.Spec.IngressVIPs...)
	if cluster.Spec.DNSVIP.IsValid() {
		vips = append(vips, cluster.Spec.DNSVIP)
	}
	// The address on the provisioning network is a VIP where nodes share it, and elect its holder
	// by an API VIP of its family (package plan).
	own, family := cluster.Spec.Provisioning, func(vip netip.Addr) bool {
		return vip.Is4() == cluster.Spec.Provisioning.IP.Is4()
	}
	if own.Address == "one" && own.IP.IsValid() &&
		slices.ContainsFunc(cluster.Spec.APIVIPs, family) {
		vips = append(vips, own.IP)
	}
	if len(vips) == 0 {
		return nil, fmt.Errorf("read the cluster's VIPs in %s: it names none", path)
	}
	return vips, nil
}

// whileSame is a context that ends when the cluster has other VIPs: the program is then started
// again, and knows them. A file that cannot be read changes nothing. The function that it returns
// ends the watch and waits for its end.
func whileSame(
	ctx context.Context, path string, vips []netip.Addr, log *slog.Logger,
) (same context.Context, stop func()) {
	same, end := context.WithCancel(ctx)
	wake := loop.NewWake()
	var watching sync.WaitGroup
	watching.Go(func() { keepWatching(same, path, wake, log) })
	watching.Go(func() {
		for {
			select {
			case <-same.Done():
				return
			case <-wake:
			}
			if now, err := clusterVIPs(path); err == nil && !slices.Equal(now, vips) {
				log.Info("end", "why", "the cluster has other VIPs", "were", vips, "are", now)
				end()
			}
		}
	})
	return same, func() {
		end()
		watching.Wait()
	}
}

// pollInterval is the time between two reads of a file that cannot be watched.
const pollInterval = 5 * time.Second

// keepWatching wakes when a file may have changed, until ctx ends. On a host without inotify it
// wakes at intervals.
func keepWatching(ctx context.Context, path string, wake chan struct{}, log *slog.Logger) {
	for logged := ""; ctx.Err() == nil; {
		err := file.Watch(ctx, []string{path}, wake)
		if err != nil && ctx.Err() == nil && err.Error() != logged {
			logged = err.Error()
			log.Warn("watch the cluster's VIPs: the file is read at intervals",
				"every", pollInterval, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pollInterval):
		}
		loop.Wake(wake)
	}
}
