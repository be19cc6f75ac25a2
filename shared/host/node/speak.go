package node

import (
	"errors"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Speaker is the node's side of the files between its monitor and FRR's parent.
type Speaker struct {
	Root string // where the node's files are; empty for the node itself
}

// at is a path of the node.
func (s Speaker) at(path ...string) string { return s.Root + filepath.Join(path...) }

// Watched are the files whose changes ask for a round.
func (s Speaker) Watched() []string { return []string{s.at(spoken.RackFile)} }

// Rack is what the file of the host's rack has; empty without a file.
func (s Speaker) Rack() (string, error) {
	text, err := os.ReadFile(s.at(spoken.RackFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}

// Former is the identifier of the configuration that is there. One that cannot be read is replaced.
func (s Speaker) Former() netip.Addr {
	text, err := os.ReadFile(s.at(spoken.RunDir, spoken.ConfigFile))
	if err != nil {
		return netip.Addr{}
	}
	c, err := spoken.Decode[spoken.Config](text)
	if err != nil {
		return netip.Addr{}
	}
	return c.Router
}

// Configure writes how the node reaches its routers.
func (s Speaker) Configure(c spoken.Config) error {
	path := s.at(spoken.RunDir, spoken.ConfigFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	_, err := file.WriteIfChanged(path, spoken.Encode(c), 0o644)
	return err
}

// Wish writes what the node announces.
func (s Speaker) Wish(w spoken.Wish) error {
	path := s.at(spoken.RunDir, spoken.WishFile)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return file.Write(path, spoken.Encode(w), 0o644)
}
