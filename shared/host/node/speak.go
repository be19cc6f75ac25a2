package node

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/onprem-infra/onprem-infra/shared/host/file"
	"github.com/onprem-infra/onprem-infra/shared/host/speakdir"
	"github.com/onprem-infra/onprem-infra/shared/spoken"
)

// Speaker is the node's side of the files between its monitor and FRR's parent.
type Speaker struct {
	Root string // where the node's files are; empty for the node itself

	monitor speakdir.Monitor
}

// at is a path of the node.
func (s *Speaker) at(path ...string) string { return s.Root + filepath.Join(path...) }

// Watched are the files whose changes ask for a round.
func (s *Speaker) Watched() []string { return []string{s.at(spoken.RackFile)} }

// Rack is what the file of the host's rack has; empty without a file.
func (s *Speaker) Rack() (string, error) {
	text, err := file.Read(s.at(spoken.RackFile))
	return strings.TrimSpace(string(text)), err
}

// dir is where the files are; it makes that directory.
func (s *Speaker) dir() (speakdir.Dir, error) {
	path := s.at(spoken.RunDir)
	return speakdir.Dir(path), os.MkdirAll(path, 0o755)
}

// Former is the host's router ID in the present configuration; invalid if that is unreadable.
func (s *Speaker) Former() netip.Addr {
	c, err := speakdir.Dir(s.at(spoken.RunDir)).Config()
	if err != nil {
		return netip.Addr{}
	}
	return c.Router
}

// Configure writes how the node reaches its routers.
func (s *Speaker) Configure(c spoken.Config) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	return dir.Configure(c)
}

// Wish writes what the node announces.
func (s *Speaker) Wish(w spoken.Wish) error {
	dir, err := s.dir()
	if err != nil {
		return err
	}
	s.monitor.Dir = dir
	return s.monitor.Wish(w)
}

// End ends in order a monitor that has written a wish: another monitor takes over.
func (s *Speaker) End() error { return s.monitor.End() }
