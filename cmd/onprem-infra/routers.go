package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/operator/routers"
)

const routersLong = `routers prints what the routers of each rack need so that the cluster's hosts
can announce VIPs to them by BGP: sessions with all hosts of the rack by a range of addresses, the
hosts' AS number, timers, BFD, lists with which nothing but the VIPs is taken, and as many paths of
equal length as hosts announce. What no snippet holds stands above them, as comments.

Give it to those who run the routers: it is a start for their own configuration, and no program
applies it. Words in capitals stand for what the description does not have. Passwords are never in
it. That of FRR is tested with FRR. Those of EOS, NX-OS and Junos are untested: no device has read
them, so compare them with the manual of your release.`

func routersCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "routers -c FILE",
		Short: "Print what the routers of each rack need for the hosts' sessions",
		Long:  routersLong,
		Example: `  onprem-infra routers -c cluster.yaml
  onprem-infra routers -c cluster.yaml --vendor eos`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	vendor := cmd.Flags().String("vendor", string(routers.FRR),
		"whose language: frr, eos, nxos or junos")
	completes(cmd, "vendor", routers.Vendors())
	cmd.RunE = func(*cobra.Command, []string) error {
		if !slices.Contains(routers.Vendors(), *vendor) {
			return usage("--vendor %q is not one of: %s", *vendor, words(routers.Vendors()))
		}
		p, _, err := loadPlan(std, in)
		if err != nil {
			return err
		}
		text, err := routers.Text(p, routers.Vendor(*vendor))
		if err != nil {
			return negative(err)
		}
		_, err = io.WriteString(std.out, text)
		return err
	}
	return cmd
}
