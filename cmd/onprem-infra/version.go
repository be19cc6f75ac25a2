package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

func versionCommand(std streams) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print which onprem-infra this is",
		Example: `  onprem-infra version`,
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(std.out, version())
			return err
		},
	}
}

// version is what the Go toolchain stamped into the binary: the module's version, which holds the
// commit, and what built it.
func version() string {
	module := "unknown"
	if info, ok := debug.ReadBuildInfo(); ok {
		module = info.Main.Version
	}
	return fmt.Sprintf("onprem-infra %s %s %s/%s", module, runtime.Version(), runtime.GOOS,
		runtime.GOARCH)
}
