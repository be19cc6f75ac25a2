// Package kube watches Nodes, single ConfigMaps and the endpoints of a service in a Kubernetes API,
// and writes objects of ours there.
package kube

import (
	"context"
	"fmt"
	"log/slog"
	"net/netip"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/rest"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/fault"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/watch"
)

// API is a cluster's API. All watches of one API share its connections.
type API struct {
	watch  watch.API
	access *kubeconfig.Access
}

// NewAPI reads nothing yet. The kubeconfig may appear later, and it and the certificates that it
// names may be replaced. log receives changes of the watched objects, faults of the API, and when
// the files in use become invalid.
func NewAPI(path string, log *slog.Logger) *API { return newAPI(path, log, log) }

func newAPI(path string, files, log *slog.Logger) *API {
	access := kubeconfig.NewWatching(path, files)
	return &API{watch.API{Load: access.Load, Log: log, Faults: fault.NewLog(log)}, access}
}

// OrAt has requests and watches go to one of these addresses, in their order, if the kubeconfig's
// server does not accept them. It is called before the first of them.
func (a *API) OrAt(others func() []netip.AddrPort) *API {
	a.access.OrAt(others)
	return a
}

// Crowd makes all later watches of this API those of one of many hosts, which together could
// overload the API. After an outage they wait a random time.
func (a *API) Crowd() *API {
	a.watch.Crowd = true
	return a
}

// call makes requests to a group of the API, which take at most half a minute together. what is
// for its error.
func (a *API) call(
	ctx context.Context, group schema.GroupVersion, what string,
	requests func(context.Context, *rest.RESTClient) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, watch.AnswerWithin)
	defer cancel()
	client, config, err := a.watch.Load()
	if err != nil {
		return err
	}
	api, err := kubeconfig.RESTClient(client, config, group)
	if err != nil {
		return err
	}
	if err := requests(ctx, api); err != nil {
		return fmt.Errorf("%s: %w", what, fault.Stable(err))
	}
	return nil
}
