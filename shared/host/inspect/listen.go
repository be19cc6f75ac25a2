package inspect

import (
	"context"
	"slices"
	"sync"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
)

// Adverts receives the adverts of other hosts on a link until ctx ends.
type Adverts = func(ctx context.Context, link string, receive func(capture.Received)) error

// Listen passes the adverts on the links of instances to an observer until ctx ends.
func Listen(
	ctx context.Context, o *clash.Observer, instances []clash.Instance, adverts Adverts, u *Unseen,
) {
	var links []string
	for _, i := range instances {
		links = append(links, i.Link)
	}
	var mu sync.Mutex
	Each(slices.Compact(slices.Sorted(slices.Values(links))), func(_ int, on string) {
		u.Add("adverts of other hosts", adverts(ctx, on, func(h capture.Received) {
			mu.Lock()
			defer mu.Unlock()
			o.Receive(clash.Received{Link: on, MAC: h.MAC.String(), At: h.At, Advert: h.Advert})
		}))
	})
}
