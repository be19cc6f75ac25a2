// Package podman starts, finds and ends containers of ours through podman's service. Its files need
// the build tag remote, with which podman's Go bindings are a client alone, and need no C.
package podman
