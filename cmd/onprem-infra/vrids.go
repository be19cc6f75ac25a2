package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/record"
	"github.com/onprem-infra/onprem-infra/shared/vrrp"
)

func vrIDsCommand(std streams) *cobra.Command {
	dns, provisioning := false, false
	cmd := &cobra.Command{
		Use:   "vr-ids NAME",
		Short: "Print the virtual router IDs of a cluster of that name",
		Long: `vr-ids prints the virtual router IDs that a cluster of that name uses. Two clusters
on one network must not share any: compare before installing, and choose others with vrids in
cluster.yaml or --vrid if they do.`,
		Example: `  onprem-infra vr-ids mycluster
  onprem-infra vr-ids --dns --provisioning mycluster`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			name := args[0]
			api, ingress, err := vrrp.IDs(name)
			if err != nil {
				return negative(err)
			}
			if label, err := record.ParseName(name); err != nil || string(label) != name ||
				strings.Contains(name, ".") {
				_ = printMessage(std.err, "onprem-infra: warning: no cluster can be called %q, as "+
					"it is no DNS label in lower case\n", name)
			}
			text := fmt.Sprintf(
				"APIVirtualRouterID: %d\nIngressVirtualRouterID: %d\n", api, ingress)
			if dns {
				text += fmt.Sprintf("DNSVirtualRouterID: %d\n", vrrp.DNSID(name, api, ingress))
			}
			if provisioning {
				others := []vrrp.ID{api, ingress}
				if dns {
					others = append(others, vrrp.DNSID(name, api, ingress))
				}
				text += fmt.Sprintf("ProvisioningVirtualRouterID: %d\n",
					vrrp.ProvisioningID(name, others...))
			}
			_, err = io.WriteString(std.out, text)
			return err
		},
	}
	cmd.Flags().BoolVar(
		&dns, "dns", false, "print that of a DNS VIP too, which a cluster.yaml may ask for")
	cmd.Flags().BoolVar(&provisioning, "provisioning", false,
		"print that of the provisioning address too, which nodes share with address: one")
	return cmd
}
