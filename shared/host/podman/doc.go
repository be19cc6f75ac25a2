// Package podman starts, inspects and stops our containers through podman's service; its files need
// the build tag remote, with which podman's Go bindings are only a client and need no C.
package podman
