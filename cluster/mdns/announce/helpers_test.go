package announce

import (
	"testing"
	"time"

	"github.com/onprem-infra/onprem-infra/cluster/mdns/wire"
	"github.com/onprem-infra/onprem-infra/test/mdnslink"
)

// node is what a node of the cluster announces.
var node = mdnslink.Node

// announcer is a responder with one host, set at once.
func announcer(h wire.Host, now time.Time) *Responder {
	link := mdnslink.See(h)
	r := New(link, mdnslink.Even)
	r.Set(now, link, []wire.Host{h})
	return r
}

// established is a link with one announcer that has announced everything, some time ago.
func established(t *testing.T, h wire.Host) (*mdnslink.Link, *Responder) {
	t.Helper()
	e := mdnslink.New(t)
	r := announcer(h, e.Now)
	e.Add(r, h.Addresses[0].String())
	e.Run(time.Minute)
	e.Clear()
	return e, r
}
