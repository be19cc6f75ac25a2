package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/onprem-infra/onprem-infra/shared/host/listen"
	"github.com/onprem-infra/onprem-infra/shared/host/overhear"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/role"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

// planView is what the verb prints: the plan and what it puts on each role's hosts.
type planView struct {
	plan.Plan
	Files map[role.Role][]string `json:"files"`
}

const planLong = `plan prints what follows from a cluster's description: on one screen its virtual IPs, virtual router IDs, priorities and the time that each
failure takes. With -o yaml or -o json it prints all of it: the proof that the priorities elect the right host, checks, ports, DNS records, and the
files of each role. Images need not be known yet.

With --listen, on a host of the cluster's network, it hears for some seconds whether another router there has one of the IDs, and proposes one that
is free. It takes root, and sends nothing.`

func planCommand(std streams) *cobra.Command {
	var format, listenOn string
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
	cmd.Flags().StringVarP(&format, "output", "o", "text", "text for a summary, yaml or json for the whole plan")
	cmd.Flags().StringVar(&listenOn, "listen", "", "a link of this host on which to hear whether other routers have the cluster's virtual router IDs")
	completes(cmd, "output", []string{"text", "yaml", "json"})
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		if format != "text" && format != "yaml" && format != "json" {
			return usage("-o %q is not one of: text, yaml, json", format)
		}
		cluster, err := loadCluster(std, in)
		if err != nil {
			return err
		}
		p, err := plan.Compile(cluster)
		if err != nil {
			return negative(err)
		}
		if listenOn != "" {
			found, err := listen.Foreign(cmd.Context(), p, listenOn, overhear.Adverts)
			if err != nil {
				return err
			}
			for _, f := range found {
				_ = say(std.err, "warning: %s\n", f)
			}
			if in.strict && len(found) > 0 {
				return negative(nil)
			}
		}
		view := planView{Plan: p, Files: map[role.Role][]string{}}
		view.LoadBalancer = spec.LoadBalancer(p.Balancer())
		for _, r := range p.Roles() {
			if view.Files[r], err = paths(p, r); err != nil {
				return err
			}
		}
		text, err := planText(view, format)
		if err != nil {
			return err
		}
		_, err = std.out.Write(text)
		return err
	}
	return cmd
}

// planText is the summary of a plan, or all of it in JSON or, with the same keys in the same order,
// in YAML.
func planText(p planView, format string) ([]byte, error) {
	if format == "text" {
		return []byte(planSummary(p)), nil
	}
	text, err := json.MarshalIndent(p, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	if format == "json" {
		return append(text, '\n'), nil
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	blockStyle(&document)
	foldLong(&document, 0)
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(&document); err != nil {
		return nil, fmt.Errorf("print plan: %w", err)
	}
	// No text of a plan has lines of its own, so that each block is one that foldLong has made;
	// folded, it is read as one line again.
	return bytes.ReplaceAll(out.Bytes(), []byte(" |-\n"), []byte(" >-\n")), enc.Close()
}

// foldLong breaks texts that would not fit a terminal. They stand below their keys then.
func foldLong(n *yaml.Node, depth int) {
	for i, child := range n.Content {
		if child.Kind == yaml.ScalarNode && utf8.RuneCountInString(child.Value)+2*depth > foldFrom &&
			!strings.Contains(child.Value, "  ") && (n.Kind != yaml.MappingNode || i%2 == 1) {
			indent := strings.Repeat(" ", 2*depth+4) // of the block, at the most
			lines := strings.Split(broken(indent, indent, child.Value), "\n"+indent)
			child.Value, child.Style = strings.TrimSpace(strings.Join(lines, "\n")), yaml.LiteralStyle
			continue
		}
		foldLong(child, depth+1)
	}
}

// foldFrom is how long a text may be beside its key and its indent.
const foldFrom = 70

// blockStyle takes JSON's braces and quotes away; the encoder quotes again what would otherwise be
// read as another type.
func blockStyle(n *yaml.Node) {
	n.Style = 0
	for _, child := range n.Content {
		blockStyle(child)
	}
}
