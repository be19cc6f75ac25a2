package main

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/spf13/cobra"

	"github.com/onprem-infra/onprem-infra/shared/host/accounts"
	"github.com/onprem-infra/onprem-infra/shared/plan"
	"github.com/onprem-infra/onprem-infra/shared/spec"
)

func validateCommand(std streams) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "validate -c FILE",
		Short: "Print everything that is wrong with a cluster's description",
		Long: `validate reads an install-config.yaml or a cluster.yaml and prints every finding, one
line each; a terminal gets long ones in several: FILE:LINE:COL: error|warning: PATH: what is wrong,
and what to do. After a thousand, one more line counts the rest. A clean file prints nothing. Files
that a cluster.yaml names for the accounts and the certificates of BMCs are read, and nothing of
them is printed. A cluster.json as hosts have it names none of these files.`,
		Example: `  onprem-infra validate -c install-config.yaml
  onprem-infra example cluster | onprem-infra validate --strict -o json -c -`,
		Args: cobra.NoArgs,
	}
	in := inputFlags(cmd)
	format := formatFlag(cmd, "text or json", "text", "json")
	cmd.RunE = func(*cobra.Command, []string) error {
		name, text, err := read(std, in.file)
		if err != nil {
			return err
		}
		cluster, findings := spec.Parse(name, text, in.knobs)
		if !ofAHost(name, text) {
			_, accountsWrong := accounts.Of(name, cluster.Hosts)
			_, _, caWrong := accounts.CA(name, cluster.Provisioning)
			findings = slices.Concat(findings, accountsWrong, caWrong)
		}
		findings = append(findings, openPasswords(name, cluster)...)
		if in.strict {
			findings = findings.Strict()
		}
		if err := printFindings(std, *format, findings); err != nil {
			return err
		}
		if findings.HasErrors() {
			return in.refused(findings)
		}
		return nil
	}
	return cmd
}

// ofAHost reports whether a text is a description as this program writes it for hosts, which keep
// accounts and certificates of BMCs in other files, if at all.
func ofAHost(name string, text []byte) bool {
	p, err := plan.Parse(name, text)
	return err == nil && bytes.Equal(plan.Encode(p), text)
}

// printFindings writes the findings as the result of a verb: an array in JSON, empty when there is
// none.
func printFindings(std streams, format string, findings spec.Findings) error {
	if format == "json" {
		enc := json.NewEncoder(std.out)
		enc.SetIndent("", "  ")
		enc.SetEscapeHTML(false)
		if findings == nil {
			findings = spec.Findings{}
		}
		return enc.Encode(findings)
	}
	for _, f := range findings {
		if err := printMessage(std.out, "%v\n", f); err != nil {
			return err
		}
	}
	return nil
}
