// Package kube watches Nodes, single ConfigMaps and the endpoints of a service in a Kubernetes API,
// and writes objects of ours there.
package kube

import (
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"

	"github.com/onprem-infra/onprem-infra/shared/host/kube/fault"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/kubeconfig"
	"github.com/onprem-infra/onprem-infra/shared/host/kube/watch"
)

// API is a cluster's API. All watches of one API share its connections.
type API struct{ watch watch.API }

// NewAPI reads nothing yet. The kubeconfig may appear later, and it and the certificates that it
// names may be replaced. log receives what is learnt, and when the files in use become invalid.
func NewAPI(path string, log *slog.Logger) *API { return newAPI(path, log, log) }

func newAPI(path string, files, log *slog.Logger) *API {
	access := kubeconfig.NewWatching(path, files)
	return &API{watch.API{Load: access.Load, Log: log, Faults: fault.NewLog(log)}}
}

// Crowd makes all later watches of this API those of one of many hosts, which together could
// overload the API. After an outage they wait a random time.
func (a *API) Crowd() *API {
	a.watch.Crowd = true
	return a
}

// core requests Nodes, ConfigMaps and Events.
func (a *API) core() (*rest.RESTClient, error) {
	client, config, err := a.watch.Load()
	if err != nil {
		return nil, err
	}
	return kubeconfig.RESTClient(client, config, corev1.SchemeGroupVersion)
}
