//go:build remote

package main

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/netip"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/cluster/nodeip"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// nodeIPFlags are the flags of the verbs show and set.
type nodeIPFlags struct {
	cluster     string
	hints       []string
	prefer      string
	retry       bool
	preferIPv6  bool
	networkType string
	userManaged bool
	platform    string
	explain     bool
}

func nodeIPCommand(std streams) *cobra.Command {
	return group("node-ip", "Choose the addresses that this node is known by",
		nodeIPShowCommand(std), nodeIPSetCommand(std), nodeIPForwardCommand(std),
		nodeIPWaitCommand(std))
}

func nodeIPShowCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "show [VIP...]",
		Short: "Print the address that this node would be known by",
		Long: `show prints the node's primary address. It is on the first interface that has an
address in the network of a hint, else in the network of a VIP, else on the best of those with a
default route. Hints are read from NODEIP_HINT or KUBELET_NODEIP_HINT, or given by --hint. Of
several IPv4 addresses in one network it is the interface's primary one, or with --prefer lowest, or
NODEIP_PREFER=lowest in the environment, the lowest.`,
		Example: `  onprem-infra node-ip show 192.0.2.5
  onprem-infra node-ip show --explain -c /etc/onprem-infra/cluster.json
  NODEIP_HINT=198.51.100.0 onprem-infra node-ip show 192.0.2.5`,
	}
	flags := nodeIPFlagsOf(cmd)
	cmd.RunE = func(cmd *cobra.Command, vips []string) error {
		room, err := flags.room(cmd, std, vips)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		want, err := room.Show(ctx)
		if err == nil {
			_, err = fmt.Fprintln(std.out, want.Choice.Addresses[0])
		}
		return flags.end(std, want, err)
	}
	return cmd
}

func nodeIPSetCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use: "set [VIP...]",
		Short: "Choose the node's addresses and write them down for kubelet and CRI-O, once in " +
			"a boot",
		Long: `set chooses the node's addresses as show does, writes them below
/run/nodeip-configuration and into drop-ins of kubelet's and CRI-O's units, and does nothing when
that was done in this boot. systemd reads drop-ins after systemctl daemon-reload.`,
		Example: `  onprem-infra node-ip set --retry-on-failure -c /etc/onprem-infra/cluster.json
  onprem-infra node-ip set --platform baremetal 192.0.2.5 192.0.2.6`,
	}
	flags := nodeIPFlagsOf(cmd)
	cmd.RunE = func(cmd *cobra.Command, vips []string) error {
		room, err := flags.room(cmd, std, vips)
		if err != nil {
			return err
		}
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		want, err := room.Set(ctx)
		return flags.end(std, want, err)
	}
	return cmd
}

func nodeIPForwardCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "forward",
		Short: "Let the kernel forward packets on the interface with the node's address",
		Long: `forward switches forwarding on, for both families as far as the kernel has them, on
the interface that holds the address which "node-ip set" wrote down.`,
		Example: `  onprem-infra node-ip forward`,
		Args:    cobra.NoArgs,
	}
	var flags nodeIPFlags
	cmd.Flags().BoolVarP(&flags.retry, "retry-on-failure", "r", false, "retry until it succeeds")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		return nodeip.New(nodeip.Node{}, nodeHost{}, flags.retry, nodeIPLog(std)).Forward(ctx)
	}
	return cmd
}

func nodeIPWaitCommand(std streams) *cobra.Command {
	var link string
	cmd := &cobra.Command{
		Use:   "wait",
		Short: "Wait until the node's addresses can be used, or until an interface is up with them",
		Long: `wait returns when a server can listen on each address which "node-ip set" wrote down,
and fails when one of them cannot be used for a minute. With --link it returns when that interface
is up and holds the node's address, however long that takes.`,
		Example: `  onprem-infra node-ip wait
  onprem-infra node-ip wait --link br-ex`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().StringVar(&link, "link", "", "an interface to wait for")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		ctx, cancel := untilStopped(cmd.Context())
		defer cancel()
		room := nodeip.New(nodeip.Node{}, nodeHost{}, false, nodeIPLog(std))
		if link != "" {
			return room.WaitForLink(ctx, link)
		}
		return room.Wait(ctx)
	}
	return cmd
}

func nodeIPLog(std streams) *slog.Logger {
	return roomLog("cluster/nodeip", std)
}

func nodeIPFlagsOf(cmd *cobra.Command) *nodeIPFlags {
	f, flags := &nodeIPFlags{}, cmd.Flags()
	flags.StringVarP(&f.cluster, "cluster", "c", "",
		"cluster description with VIPs, platform, load balancer, families and kubelet's unit; "+
			"other flags and arguments override it")
	flags.StringSliceVar(&f.hints, "hint", nil,
		"an address in the network that the node shall be known in; wins over VIPs")
	flags.StringVar(&f.prefer, "prefer", "",
		"which of several IPv4 addresses in one network: primary, which is the default, or "+
			"lowest, as OpenShift's own program takes")
	completes(cmd, "prefer", []string{preferPrimary, preferLowest})
	flags.BoolVarP(&f.retry, "retry-on-failure", "r", false, "retry until it succeeds")
	flags.BoolVarP(&f.preferIPv6, "prefer-ipv6", "6", false,
		"put IPv6 first where the node has both families")
	flags.StringVarP(&f.networkType, "network-type", "n", ovnKubernetes,
		"the cluster's network plugin")
	flags.BoolVarP(&f.userManaged, "user-managed-lb", "l", false,
		"the cluster's load balancer is the user's own")
	flags.StringVarP(&f.platform, "platform", "p", "", "where the cluster runs")
	flags.BoolVar(&f.explain, "explain", false,
		"print what became of each address, and by which rule")
	completes(cmd, "platform", nodeIPPlatforms())
	return f
}

// nodeIPPlatforms are the values of --platform, in whatever case.
func nodeIPPlatforms() []spec.Platform {
	return []spec.Platform{spec.BareMetal, spec.OpenStack, spec.OVirt, spec.VSphere, spec.Nutanix,
		spec.None}
}

// ovnKubernetes is the network plugin that adds its own address on each node.
const ovnKubernetes = "OVNKubernetes"

// room makes the room from the flags, the arguments and the environment.
func (f *nodeIPFlags) room(cmd *cobra.Command, std streams, vips []string) (*nodeip.Room, error) {
	node, err := f.node(cmd, std, vips)
	if err != nil {
		return nil, err
	}
	return nodeip.New(node, nodeHost{}, f.retry, nodeIPLog(std)), nil
}

// node takes its values from the cluster description; the command line overrides them.
func (f *nodeIPFlags) node(cmd *cobra.Command, std streams, vips []string) (nodeip.Node, error) {
	today := plan.Plan{}.Flavour()
	node := nodeip.Node{KubeletUnit: today.KubeletUnit, RemoteLabel: today.RemoteLabel}
	if f.cluster != "" {
		p, _, err := loadPlan(std, &input{file: f.cluster})
		if err != nil {
			return node, err
		}
		node = nodeip.Of(p)
	}
	given := cmd.Flags().Changed
	if given("platform") {
		if !slices.ContainsFunc(nodeIPPlatforms(), func(p spec.Platform) bool {
			return strings.EqualFold(string(p), f.platform)
		}) {
			return node, usage("--platform %q is not one of: %s", f.platform,
				words(nodeIPPlatforms()))
		}
		node.Platform = f.platform
	}
	if given("user-managed-lb") {
		node.UserManaged = f.userManaged
	}
	if given("prefer-ipv6") {
		node.PreferIPv6 = f.preferIPv6
	}
	node.OVN = strings.EqualFold(f.networkType, ovnKubernetes)
	if len(vips) > 0 {
		addresses, err := addressesOf("VIP", vips)
		if err != nil {
			return node, err
		}
		node.VIPs = addresses
	}
	hints, err := f.hinted(os.Getenv)
	if err != nil {
		return node, err
	}
	node.Hints = hints
	node.Lowest, err = f.lowest(os.Getenv)
	return node, err
}

// The values of --prefer.
const (
	preferPrimary = "primary"
	preferLowest  = "lowest"
)

// lowest reports whether the flag or the environment asks for the lowest address.
func (f *nodeIPFlags) lowest(env func(string) string) (bool, error) {
	what, word := "--prefer", f.prefer
	if word == "" {
		what, word = "NODEIP_PREFER", env("NODEIP_PREFER")
	}
	switch word {
	case "", preferPrimary:
		return false, nil
	case preferLowest:
		return true, nil
	}
	return false, usage("%s %q is not known: write %s or %s", what, word, preferPrimary,
		preferLowest)
}

// hinted are the hints of the flag, or of the first variable that is set.
func (f *nodeIPFlags) hinted(env func(string) string) ([]netip.Addr, error) {
	if len(f.hints) > 0 {
		return addressesOf("--hint", f.hints)
	}
	for _, name := range []string{"NODEIP_HINT", "KUBELET_NODEIP_HINT"} {
		between := func(c rune) bool { return c == ' ' || c == '\t' || c == ',' }
		if words := strings.FieldsFunc(env(name), between); len(words) > 0 {
			return addressesOf(name, words)
		}
	}
	return nil, nil
}

// addressesOf parses addresses. An IPv4-mapped one counts as its IPv4 address.
func addressesOf(what string, words []string) ([]netip.Addr, error) {
	var list []netip.Addr
	for _, word := range words {
		a, err := netip.ParseAddr(word)
		if err != nil || a.Zone() != "" {
			return nil, usage("%s %q is no address: write one such as 192.0.2.5 or 2001:db8::5",
				what, word)
		}
		list = append(list, a.Unmap())
	}
	return list, nil
}

// end prints the explanation if requested, and returns the verb's error.
func (f *nodeIPFlags) end(std streams, want nodeip.Desired, err error) error {
	if f.explain {
		explain(std.out, want)
	}
	if errors.As(err, new(nodeip.Unusable)) {
		return negative(err)
	}
	return err
}

// explain prints a line for each address of the host.
func explain(out io.Writer, want nodeip.Desired) {
	var rows [][]string
	for _, r := range want.Choice.Rulings {
		rows = append(rows, []string{fmt.Sprint(r.Verdict), r.Link, r.Prefix.String(), r.Why})
	}
	fmt.Fprint(out, tabled([]string{"VERDICT", "LINK", "ADDRESS", "WHY"}, rows))
	if want.Kept.IsValid() {
		fmt.Fprintf(out, "%s was chosen earlier in this boot and stays: it is in %s\n", want.Kept,
			nodeip.Primary)
	}
	if want.Remote {
		fmt.Fprintln(out, "no VIP is in a network of this node: it is a remote worker")
	}
}
