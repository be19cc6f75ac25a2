package kube

import (
	"log/slog"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// API is a cluster's API as this machine reaches it. All that follow something through one API
// share its connections.
type API struct {
	access   *Access
	log      *slog.Logger
	troubles *troubles
	crowd    bool
}

// NewAPI reads nothing yet; the kubeconfig may appear later, and it and the certificates that it
// names may be replaced. log hears when the files in use turn bad, and what is learnt.
func NewAPI(kubeconfig string, log *slog.Logger) *API {
	silence()
	return &API{access: &Access{path: kubeconfig, log: log}, log: log, troubles: newTroubles(log)}
}

// core speaks with the API of now about Nodes, ConfigMaps and Events.
func (a *API) core() (*rest.RESTClient, error) {
	client, config, err := a.access.load()
	if err != nil {
		return nil, err
	}
	return restClient(client, config, corev1.SchemeGroupVersion)
}
