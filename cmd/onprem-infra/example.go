package main

import (
	"bytes"
	"embed"
	"fmt"
	"slices"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/spec"
)

//go:embed examples
var exampleFiles embed.FS

func exampleCommand(std streams) *cobra.Command {
	return group("example", "Print a commented input that the other verbs accept",
		exampleInstallConfigCommand(std), exampleClusterCommand(std), exampleImagesCommand(std))
}

func exampleInstallConfigCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "install-config",
		Short:   "Print an OpenShift install-config.yaml",
		Example: `  onprem-infra example install-config --platform vsphere --families dual > install-config.yaml`,
		Args:    cobra.NoArgs,
	}
	platforms := []spec.Platform{spec.BareMetal, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere}
	print := exampleFlags(cmd, std, spec.BareMetal, platforms)
	cmd.RunE = func(*cobra.Command, []string) error { return print("install-config.yaml.tmpl") }
	return cmd
}

func exampleClusterCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "cluster",
		Short:   "Print a cluster.yaml, for any Kubernetes",
		Example: `  onprem-infra example cluster --families ipv6 > cluster.yaml`,
		Args:    cobra.NoArgs,
	}
	platforms := []spec.Platform{spec.BareMetal, spec.None, spec.Nutanix, spec.OpenStack, spec.OVirt, spec.VSphere}
	print := exampleFlags(cmd, std, spec.None, platforms)
	cmd.RunE = func(*cobra.Command, []string) error { return print("cluster.yaml.tmpl") }
	return cmd
}

func exampleImagesCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:     "images",
		Short:   "Print a file for --images",
		Example: `  onprem-infra example images > images.json`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text, err := exampleFiles.ReadFile("examples/images.json")
			if err != nil {
				return err
			}
			_, err = std.out.Write(text)
			return err
		},
	}
}

// exampleFlags gives a verb the flags that choose an example, and returns what prints it.
func exampleFlags(cmd *cobra.Command, std streams, first spec.Platform, platforms []spec.Platform) func(name string) error {
	var platform, families string
	cmd.Flags().StringVar(&platform, "platform", string(first), "one of "+words(platforms))
	cmd.Flags().StringVar(&families, "families", "ipv4", "one of "+words(exampleFamilies()))
	completes(cmd, "platform", platforms)
	completes(cmd, "families", exampleFamilies())
	return func(name string) error {
		if !slices.Contains(platforms, spec.Platform(platform)) {
			return usage("--platform %q is not one of: %s", platform, words(platforms))
		}
		if !slices.Contains(exampleFamilies(), families) {
			return usage("--families %q is not one of: %s", families, words(exampleFamilies()))
		}
		text, err := renderExample(name, newExample(spec.Platform(platform), families))
		if err != nil {
			return err
		}
		_, err = std.out.Write(text)
		return err
	}
}

func words[W ~string](list []W) string {
	text := make([]string, len(list))
	for i, w := range list {
		text[i] = string(w)
	}
	return strings.Join(text, ", ")
}

// renderExample fills an example; that of an install-config holds the section of its platform.
func renderExample(name string, e example) ([]byte, error) {
	templates, err := template.ParseFS(exampleFiles, "examples/*.tmpl")
	if err != nil {
		return nil, fmt.Errorf("read the examples: %w", err)
	}
	var section, text bytes.Buffer
	if t := templates.Lookup(string(e.Platform) + ".yaml.tmpl"); t != nil {
		if err := t.Execute(&section, e); err != nil {
			return nil, err
		}
	}
	e.Section = section.String()
	if err := templates.ExecuteTemplate(&text, name, e); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}
