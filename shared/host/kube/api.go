package kube

import (
	"log/slog"
)

// API is a cluster's API as this machine reaches it. All that follow something through one API share its connections.
type API struct {
	access *Access
	log    *slog.Logger
}

// NewAPI reads nothing yet; the kubeconfig may appear later, and it and the certificates that it names may be replaced. log hears when the
// files in use turn bad, and what is learnt.
func NewAPI(kubeconfig string, log *slog.Logger) *API {
	silence()
	return &API{access: &Access{path: kubeconfig, log: log}, log: log}
}
