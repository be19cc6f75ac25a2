package main

import (
	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/capture"
	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/operator/overview"
)

const planLong = `plan prints what follows from a cluster's description: on one screen its virtual
IPs, virtual router IDs, priorities, sessions with routers, hosts to provision, and the time that
each failure takes. With -o yaml or -o json it prints all of it: the proof that priorities elect the
right host and that routers prefer it, checks, ports, DNS records, and the files of each role.
Images need not be known yet.

With --listen, on a host of the cluster's network, it listens for some seconds for other routers
with one of the IDs, and proposes a free one. It takes root, and sends nothing.`

func planCommand(std streams) *cobra.Command {
	var listenOn string
	cmd := &cobra.Command{
		Use:   "plan -c FILE",
		Short: "Print what a cluster's description compiles to",
		Long:  planLong,
		Example: `  onprem-infra plan -c install-config.yaml
  onprem-infra plan -c install-config.yaml -o json | jq .vrrp.proof
  onprem-infra plan -c cluster.yaml --listen eth0`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	imagesFlag(cmd, in)
	format := formatFlag(cmd, "text for a summary, or yaml or json", "text", "yaml", "json")
	cmd.Flags().StringVar(&listenOn, "listen", "",
		"a link of this host on which to listen for other routers with the cluster's IDs")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		p, _, err := loadPlan(std, in)
		if err != nil {
			return err
		}
		if listenOn != "" {
			found, err := listen.Foreign(cmd.Context(), p, listenOn, capture.Adverts)
			if err != nil {
				return err
			}
			for _, f := range found {
				_ = printMessage(std.err, "warning: %s\n", f)
			}
			if in.strict && len(found) > 0 {
				return negative(nil)
			}
		}
		view, err := overview.Of(p, paths)
		if err != nil {
			return err
		}
		text := []byte(view.Summary(width()))
		switch *format {
		case "json":
			text, err = view.JSON()
		case "yaml":
			text, err = view.YAML(width())
		}
		if err != nil {
			return err
		}
		_, err = std.out.Write(text)
		return err
	}
	return cmd
}
