// Package handedover is the cluster to which a bootstrap machine hands provisioning over: its API,
// and the network that hosts boot from.
package handedover

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/onprem-infra/onprem-infra/shared/host/kube"
	"github.com/onprem-infra/onprem-infra/shared/host/machines"
	"github.com/onprem-infra/onprem-infra/shared/host/reach"
	"github.com/onprem-infra/onprem-infra/shared/notice"
	"github.com/onprem-infra/onprem-infra/shared/operator/scale"
)

// Options are what a Cluster needs.
type Options struct {
	API *kube.API // with an administrator's credentials
	// Client is for hosts. Its requests go to API.
	Client machines.Client
	// Link names this machine's link on the network that hosts boot from, and Address is that of
	// the cluster's own Ironic there.
	Link    func() (string, error)
	Address netip.Addr
}

// Cluster is the API of such a cluster. It is for one goroutine.
type Cluster struct {
	*machines.Client
	options Options
}

// New makes a Cluster that has read nothing yet.
func New(o Options) *Cluster {
	o.Client.API = o.API
	return &Cluster{&o.Client, o}
}

// Fleet is what the API has of all hosts, with the pods of Ironic that may run on.
func (c *Cluster) Fleet(ctx context.Context) (scale.Fleet, error) {
	f, err := c.Client.Fleet(ctx)
	if err != nil {
		return scale.Fleet{}, err
	}
	if f.MayRun, err = c.IronicPods(ctx); err != nil {
		return scale.Fleet{}, err
	}
	return f, nil
}

// Published is what the cluster has of the handover; the zero value for nothing that is ours.
func (c *Cluster) Published(ctx context.Context) (notice.Progress, error) {
	data, err := c.Handover(ctx)
	return notice.ReadHandover(data), err
}

// Publish replaces it, whatever is there.
func (c *Cluster) Publish(ctx context.Context, p notice.Progress) error {
	return c.options.API.Put(ctx, c.Namespace, notice.Handover,
		func(map[string]string) map[string]string { return notice.EncodeHandover(p) })
}

// Holders are the MACs of the other machines that answer for the address. It takes a second.
func (c *Cluster) Holders() ([]string, error) {
	on, err := c.options.Link()
	if err != nil {
		return nil, fmt.Errorf("find the link of the provisioning network: %w", err)
	}
	return reach.WhoHas(on, c.options.Address)
}
