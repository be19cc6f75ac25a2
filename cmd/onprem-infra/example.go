package main

import "github.com/spf13/cobra"

func exampleCommand(std streams) *cobra.Command {
	return group("example", "Print a commented input that the other verbs accept")
}
