//go:build remote

package main

import (
	"log/slog"

	"github.com/onprem-infra/onprem-infra/shared/clash"
	"github.com/onprem-infra/onprem-infra/shared/election"
	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/supervised"
)

func newListener(p plan.Plan, host nodeVIPHost, log *slog.Logger) *listen.Listener {
	return listen.New(listen.Options{
		IDs: election.IDs(p), StateFile: host.at(supervised.RunDir, clash.StateFile),
		Status: host.Status, Log: log, Receive: capture.Adverts, Neighbour: listen.AskAgain,
	})
}
