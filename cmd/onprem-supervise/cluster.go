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
)

// clusterVIPs are all VIPs of the cluster that a host's file describes. That one of them is never
// this host's to hold is no reason to leave it on an interface. Of the file no more is read than
// its VIPs: whether it is right is said by the programs that live by the rest.
func clusterVIPs(path string) ([]netip.Addr, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the cluster's VIPs: %w", err)
	}
	var cluster struct {
		Spec struct {
			APIVIPs, IngressVIPs []netip.Addr
			DNSVIP               netip.Addr
		}
	}
	if err := json.Unmarshal(text, &cluster); err != nil {
		return nil, fmt.Errorf("read the cluster's VIPs in %s: %w", path, err)
	}
	vips := append(cluster.Spec.APIVIPs, cluster.Spec.IngressVIPs...)
	if cluster.Spec.DNSVIP.IsValid() {
		vips = append(vips, cluster.Spec.DNSVIP)
	}
	if len(vips) == 0 {
		return nil, fmt.Errorf("read the cluster's VIPs in %s: it names none", path)
	}
	return vips, nil
}

// whileSame is a context that ends when the cluster has other VIPs: whoever started this program
// starts it again, and it then knows them. A file that cannot be read changes nothing. The function
// that it returns ends the watch and waits for its end.
func whileSame(ctx context.Context, path string, vips []netip.Addr, log *slog.Logger) (context.Context, func()) {
	same, end := context.WithCancel(ctx)
	wake := make(chan struct{}, 1)
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

// lookAgain is the time between two looks at a file that cannot be watched.
const lookAgain = 5 * time.Second

// keepWatching wakes until ctx ends when a file may have changed. A host without inotify has it
// wake now and then.
func keepWatching(ctx context.Context, path string, wake chan struct{}, log *slog.Logger) {
	for said := ""; ctx.Err() == nil; {
		err := file.Watch(ctx, []string{path}, wake)
		if err != nil && ctx.Err() == nil && err.Error() != said {
			said = err.Error()
			log.Warn("watch the cluster's VIPs: the file is looked at now and then", "every", lookAgain, "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(lookAgain):
		}
		select {
		case wake <- struct{}{}:
		default:
		}
	}
}
