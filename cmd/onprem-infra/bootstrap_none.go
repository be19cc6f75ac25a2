//go:build !remote

package main

import "github.com/spf13/cobra"

// hostVerbs is empty in a build without the tag "remote": podman's bindings then need cgo and C
// libraries, and a binary for compiling assets should not.
func hostVerbs(streams) []*cobra.Command { return nil }
