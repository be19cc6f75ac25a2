//go:build remote

package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"path/filepath"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/link"
)

// nodeHost is the machine for the room cluster/nodeip.
type nodeHost struct {
	link.Network
	root string // of its files; empty outside tests
}

func (h nodeHost) Read(path string) (text []byte, there bool, err error) {
	text, err = file.Read(h.root + path)
	return text, err == nil && text != nil, err
}

func (h nodeHost) Write(path string, text []byte) error {
	if err := os.MkdirAll(filepath.Dir(h.root+path), 0o755); err != nil {
		return err
	}
	_, err := file.WriteIfChanged(h.root+path, text, 0o644)
	return err
}

func (h nodeHost) Remove(path string) error { return file.Remove(h.root + path) }

// Bind listens for a moment on a free port.
func (nodeHost) Bind(address netip.Addr) error {
	listener, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(netip.AddrPortFrom(address, 0)))
	if err != nil {
		return err
	}
	return listener.Close()
}

// Switch writes into the kernel's file, which cannot be replaced.
func (h nodeHost) Switch(path, value string) (there bool, err error) {
	f, err := os.OpenFile(h.root+path, os.O_WRONLY, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	_, err = f.WriteString(value)
	if err := errors.Join(err, f.Close()); err != nil {
		return true, fmt.Errorf("write %s: %w", path, err)
	}
	return true, nil
}
